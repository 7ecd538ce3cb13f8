#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# picture: Make the README's moving pictures, assets/pictures/hearth.webp and ember.webp, from frames of three games.
#
# The frames before the clips are played, but not drawn.  They stay in out/picture, to be looked at.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}" webp
build release ember ghost_lap hatchlings

# clip GAME FRAMES FIRST EVERY [ARGS]: draws each EVERYth of FRAMES frames of GAME and keeps those from FIRST on.
out=$root/out/picture
clip() {
    local game=$1 frames=$2 first=$3 every=$4
    shift 4
    rm -rf "${out:?}/$game" && mkdir -p "$out/$game"
    "$root/build/release/bin/$game" --headless --turbo --width 640 --height 360 --frames "$frames" --draw-every "$every" \
        --clip-every "$every" --screenshots "$out/$game" "$@" || say "$game ended with $?"
    find "$out/$game" -name 'frame_*.png' | sort | awk -F '[_.]' -v first="$first" '$(NF - 1) + 0 >= first'
}

mapfile -t ghost_lap < <(clip ghost_lap 4200 3900 4 --seed 1)
mapfile -t hatchlings < <(clip hatchlings 2700 2400 4 --seed 3 --weights shipped --show thoughts)
mkdir -p "$root/assets/pictures"
img2webp -loop 0 -lossy -q 55 -m 6 -d 67 "${ghost_lap[@]}" "${hatchlings[@]}" -o "$root/assets/pictures/hearth.webp"
size=$(stat -c %s "$root/assets/pictures/hearth.webp")
say "assets/pictures/hearth.webp: $size bytes, $((${#ghost_lap[@]} + ${#hatchlings[@]})) frames"
[ "$size" -lt 4000000 ] || fail "expected less than 4,000,000 bytes: lower the quality or take fewer frames"
# Ember writes its own: five minutes with a patient player, of which the last ten seconds are kept.
"$root/build/release/bin/ember" --headless --turbo --device cpu --width 640 --height 360 --seed 5 --frames 18900 \
    --draw-every 100000 --screenshots "$out/ember" --clip "$root/assets/pictures/ember.webp"
