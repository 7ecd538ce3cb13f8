#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# mutate [ARGS]: Switch off single checks of sdk/src and list those that no test misses (--help lists the options).
#
# ARGS are folders or files of sdk/src and options.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${test_packages[@]}"
nice -n 19 python3 "$root/sdk/support/mutate.py" "$@"
