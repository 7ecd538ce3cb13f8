#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# aarch64: Cross-build the runtime for 64-bit ARM Linux and run its CPU-side tests under qemu-user.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need "${cross_packages[@]}" g++-aarch64-linux-gnu qemu-user
# Such a build has the runtime's CPU side, the headers and a host in C.
build aarch64 hearth_runtime_static hearth_runtime_shared core_test program_test c_host_test arm_tensors_test \
    hearth_header_units
ctest --test-dir "$root/build/aarch64" --output-on-failure --no-tests=error </dev/null
