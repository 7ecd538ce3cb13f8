#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hatch: Train Hatchlings from twenty seeds, and show what takes minutes to learn (nightly).
#
# The test suite does the same with three seeds.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}"
build release hatchlings_test hatchlings
"$root/build/release/bin/hatchlings_test" --gtest_filter='HatchlingsNightly.*:HatchlingsWarmStart.*' \
    --gtest_also_run_disabled_tests
