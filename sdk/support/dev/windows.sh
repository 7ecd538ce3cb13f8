#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# windows [ARGS]: Cross-build SDK and tool for Windows (MinGW-w64) and run their tests under Wine; ARGS go to ctest.
#
# The first call also builds glslang and protobuf for Windows from Debian's source packages.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${cross_packages[@]}" "${run_packages[@]}" g++-mingw-w64-x86-64-posix wine wine64 glslang-tools \
    dpkg-dev protobuf-compiler libcli11-dev libfmt-dev nlohmann-json3-dev libstb-dev fonts-dejavu-core xvfb xauth
"$root/sdk/support/windows_libraries.sh" "$root/build/windows/libraries" ||
    fail "could not build libraries for Windows in build/windows/libraries"
build windows hearth hearth_runtime_static hearth_runtime_shared core_test program_test c_host_test arm_tensors_test \
    hearth_header_units external_memory_win32_test runtime_test random_frames_test standalone_test plan_test \
    out_of_memory_test tool_test
# Wine hands Vulkan to this machine's driver, requires a display for that, and has no layers. Its debugger would wait
# forever beside a process that a test crashes on purpose.
LC_ALL=C.UTF-8 WINEDEBUG=-all WINEDLLOVERRIDES=winedbg.exe=d WINEPREFIX=$root/build/windows/wine \
    HEARTH_TEST_VALIDATION=off xvfb-run --auto-servernum ctest --test-dir "$root/build/windows" \
    --output-on-failure --no-tests=error "$@" </dev/null
