# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# hearth_compile_options(target): warnings (errors where this project is the whole build: a compiler that
# we have not tried must not break a game's), sanitizers, reproducible arithmetic.
# -ffp-contract=off: the CPU reference must give the same bits with and without fused multiply-add
# hardware, because it is what every kernel is compared with.
# -Wno-restrict: GCC 12 reports overlaps in std::string's operator+ that are not there (its bug 105651).
function(hearth_compile_options target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
        -Wno-missing-field-initializers $<$<BOOL:${HEARTH_WERROR}>:-Werror> -ffp-contract=off
        $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
    # Where there are several sources to share them; one costs as much as one of these.
    get_target_property(sources ${target} SOURCES)
    list(LENGTH sources count)
    if(HEARTH_PRECOMPILE_HEADERS AND count GREATER 5)
        foreach(header algorithm array functional map memory optional ranges span string variant vector)
            target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
        endforeach()
    endif()
    foreach(sanitizer IN LISTS HEARTH_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
        target_link_options(${target} PUBLIC -fsanitize=${sanitizer})
    endforeach()
    if("undefined" IN_LIST HEARTH_SANITIZE)
        # The vptr check needs RTTI, which the library's objects do not carry.
        # Conversions of floats that the integer cannot hold are not among what "undefined" checks.
        target_compile_options(${target} PRIVATE -fsanitize=float-cast-overflow
            -fno-sanitize-recover=undefined,float-cast-overflow -fno-sanitize=vptr)
    endif()
endfunction()

# The library neither throws nor uses RTTI: nothing may cross the host's edge as an exception.  The
# compiler column lets std::bad_alloc unwind inside (HearthCompiler.cmake).
function(hearth_sdk_options target)
    hearth_compile_options(${target})
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
    set_target_properties(${target} PROPERTIES
        CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
        POSITION_INDEPENDENT_CODE ON)
endfunction()
