#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hatchlings.sh [PROGRAM] [FRAMES] [PICTURES]: what Hatchlings costs. Without pictures, 16 and 1,024 creatures, with
# learning on and off, in FRAMES frames (10,800: three minutes); with pictures, 16 to 1,024 that learn, in a third of
# them. Prints GPU time of deciding and learning and of whole frames, time from frame to frame, allocations.
# PROGRAM: build/release/bin/hatchlings. Look at the pictures, PICTURES/CREATURES/*.png, before you publish their cost.
set -euo pipefail

program=${1:-build/release/bin/hatchlings} frames=${2:-10800} pictures=${3:-}
if [ -z "$pictures" ]; then
    pictures=$(mktemp -d)
    trap 'rm -rf "$pictures"' EXIT
fi

# measure CREATURES LEARN FRAMES DRAW_EVERY
measure() {
    # Its exit code 1 tells that they did not learn enough, which is not asked here.
    "$program" --headless --turbo --seed 1 --hatchlings "$1" --learn "$2" --budget 1000 --frames "$3" \
        --draw-every "$4" --screenshots "$pictures/$1" || [ $? = 1 ]
}

for creatures in 16 1024; do
    for learn in on off; do
        echo "== $creatures creatures, learning $learn, budget 1000 us, without pictures"
        measure "$creatures" "$learn" "$frames" 1000000
    done
done
for creatures in 16 64 256 1024; do
    echo "== $creatures creatures, learning on, budget 1000 us, drawn"
    measure "$creatures" on $((frames / 3)) 1
done
