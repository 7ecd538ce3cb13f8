#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# libtorch: Build hearth_libtorch, the tool with LibTorch as a device, and test all operators on it.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}" libtorch-dev
[ -f "$root/build/release/build.ninja" ] || build release hearth
cmake -D HEARTH_WITH_LIBTORCH=ON "$root/build/release" >&2
build release hearth hearth_libtorch hearth_test_libtorch
"$root/build/release/bin/hearth_test_libtorch" --gtest_brief=1
