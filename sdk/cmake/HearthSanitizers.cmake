# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# What tests need in their environment in a build with sanitizers (HEARTH_SANITIZE); without, the lists are empty.
# HEARTH_SANITIZER_ENVIRONMENT  of tests that load a driver: it and its layers keep memory until the process ends, which
#                               a leak checker takes for leaks, and agree between threads where a race checker cannot look
# HEARTH_SANITIZER_PRELOAD      beside that, of programs that were built without sanitizers and load a library of ours
set(HEARTH_SANITIZER_ENVIRONMENT "")
set(HEARTH_SANITIZER_PRELOAD "")
if("address" IN_LIST HEARTH_SANITIZE)
    list(APPEND HEARTH_SANITIZER_ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
    set(sanitizer_runtime asan)
endif()
if("thread" IN_LIST HEARTH_SANITIZE)
    list(APPEND HEARTH_SANITIZER_ENVIRONMENT
        TSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/tsan_suppressions.txt)
    set(sanitizer_runtime tsan)
endif()
if(DEFINED sanitizer_runtime AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${sanitizer_runtime}.so
        OUTPUT_VARIABLE sanitizer_library OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(HEARTH_SANITIZER_PRELOAD LD_PRELOAD=${sanitizer_library})
endif()
