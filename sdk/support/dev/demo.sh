#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# demo [ARGS]: Build and run Ghost Lap; ARGS go to it (--help lists them); headless without a display.
#
# Without a display the demo runs as fast as it can and leaves its pictures and its log in out/ghost_lap; the caller's
# options take precedence.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}"
# Without optimizing and testing all there is: the first picture comes within minutes.
build demo ghost_lap >&2
arguments=("$@") asked=" $* " out=$root/out/ghost_lap
if [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ] && [[ $asked != *" --help "* && $asked != *" -h "* ]]; then
    [[ $asked == *" --headless "* ]] || arguments+=(--headless)
    [[ $asked == *" --turbo "* ]] || arguments+=(--turbo)
    [[ $asked == *" --screenshots"[\ =]* ]] || arguments+=(--screenshots "$out")
    [[ $asked == *" --out"[\ =]* ]] || arguments+=(--out "$out/run.jsonl")
    mkdir -p "$out"
    say "no display: running ghost_lap ${arguments[*]}"
fi
"$root/build/demo/bin/ghost_lap" "${arguments[@]}"
