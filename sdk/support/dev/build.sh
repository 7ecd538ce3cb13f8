#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# build [PRESET]: Build everything into build/PRESET; programs land in build/PRESET/bin.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=${1:-release}
if ! is_preset "$preset" || [ $# -gt 1 ]; then
    fail "usage: ./dev build [release|debug|asan|tsan]"
fi
need "${build_packages[@]}"
build "$preset"
