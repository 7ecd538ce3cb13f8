#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# demo [GAME] [ARGS]: Build and run Ember, or ghost_lap, hatchlings or loom; ARGS go to it; headless without a display.
#
# Without a display a demo runs as fast as it can and leaves its pictures in out/GAME, and Ghost Lap and Hatchlings
# their logs, too; the caller's options take precedence.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

game=ember
if [[ ${1-} =~ ^[a-z] ]]; then game=$1 && shift; fi
# Without optimizing and testing all there is: the first picture comes within minutes.
preset=demo
case $game in
    ember | ghost_lap | hatchlings) ;;
    loom) preset=release ;;  # its shader is made by the tool
    *) fail "no demo '$game': expected ember, ghost_lap, hatchlings or loom" ;;
esac
need "${build_packages[@]}" "${run_packages[@]}"
build "$preset" "$game" >&2
arguments=("$@") asked=" $* " out=$root/out/$game
if [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] && [[ $asked != *" --help "* && $asked != *" -h "* ]]; then
    [[ $asked == *" --headless "* ]] || arguments+=(--headless)
    [[ $asked == *" --turbo "* ]] || arguments+=(--turbo)
    [[ $asked == *" --screenshots"[\ =]* ]] || arguments+=(--screenshots "$out")
    case $game in
        ghost_lap | hatchlings) [[ $asked == *" --out"[\ =]* ]] || arguments+=(--out "$out/run.jsonl") ;;
    esac
    mkdir -p "$out"
    say "no display: running $game ${arguments[*]}"
fi
"$root/build/$preset/bin/$game" "${arguments[@]}"
