#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# laps: Train twenty ghosts on each of Ghost Lap's drivers (nightly).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}"
build release ghost_lap_test
"$root/build/release/bin/ghost_lap_test" --gtest_filter='GhostLapNightly.*' \
    --gtest_also_run_disabled_tests
