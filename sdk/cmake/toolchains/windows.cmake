# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

# Windows, by Debian's MinGW-w64; tests run under Wine.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)
# Made by sdk/support/windows_libraries.sh.
if(EXISTS ${CMAKE_BINARY_DIR}/libraries)
    list(APPEND CMAKE_FIND_ROOT_PATH ${CMAKE_BINARY_DIR}/libraries)
endif()
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
# Programs find no DLL of the compiler's.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
include(${CMAKE_CURRENT_LIST_DIR}/cross.cmake)
