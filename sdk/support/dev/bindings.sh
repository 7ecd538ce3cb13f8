#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bindings: Describe the C headers anew (engine_bridge/interface), and make the bindings of other languages from that.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need clang-14 python3
interface=$root/engine_bridge/interface
python3 -B "$interface/describe.py"
for generator in "$interface"/bind_*.py; do
    python3 -B "$generator"
done
