#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# frames [N] [SEED]: Play N frames (10,000) of public calls drawn from SEED (1) on each of the tests' four hosts.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${test_packages[@]}"
build release random_frames_test runtime_test
HEARTH_FRAMES=${1:-10000} HEARTH_FRAMES_SEED=${2:-1} ctest --test-dir "$root/build/release" \
    --output-on-failure --no-tests=error --parallel "$(nproc)" \
    -R '(RandomFrames|random_frames_test|Dropped.AThousandFrames)' </dev/null
