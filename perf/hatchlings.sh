#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hatchlings.sh [PROGRAM] [FRAMES]: what Hatchlings costs with 16 and with 1,024 creatures, with learning on and
# off, in so many frames (10,800: three minutes): GPU time of deciding and learning, time from frame to frame,
# allocations.  PROGRAM: build/release/bin/hatchlings.
set -euo pipefail

program=${1:-build/release/bin/hatchlings} frames=${2:-10800}
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
for creatures in 16 1024; do
    for learn in on off; do
        echo "== $creatures creatures, learning $learn, budget 1000 us"
        # Its exit code tells whether they learned, which is not asked here.
        "$program" --headless --turbo --seed 1 --hatchlings "$creatures" --learn "$learn" --budget 1000 \
            --frames "$frames" --screenshots "$pictures" 2>/dev/null || [ $? = 1 ]
    done
done
