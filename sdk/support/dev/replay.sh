#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# replay [write]: Compare all generated kernels with the recorded ones (tests/data/replay), or record them.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${test_packages[@]}"
build release hearth_test_replay
HEARTH_REPLAY=${1:-all} "$root/build/release/bin/hearth_test_replay" --gtest_brief=1
