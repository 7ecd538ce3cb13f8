#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# tiny: Build demos/tiny for a Cortex-M4F and a Cortex-M7 into out/tiny, and run it under QEMU.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need "${build_packages[@]}" gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
build release cook_tiny hearth
"$root/tests/demos/tiny.sh" "$root/build/release/bin" "$root/out/tiny"
