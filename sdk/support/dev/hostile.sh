#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# hostile [PRESET]: Give every hostile file to its reader, within limits of time and memory (nightly; asan too).
#
# The tests give every seventh of these files to its reader.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=release
if is_preset "${1-}"; then preset=$1 && shift; fi
need "${build_packages[@]}" "${run_packages[@]}"
build "$preset" hearth_hostile
"$root/build/$preset/bin/hearth_hostile" "$@"
