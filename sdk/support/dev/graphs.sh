#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# graphs [N] [FIRST]: Check N random graphs (100,000) from seed FIRST on (500: those before are tests).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${test_packages[@]}"
build release hearth_test_random_graphs
HEARTH_GRAPHS=${1:-100000} HEARTH_GRAPHS_AT=${2:-500} ctest --test-dir "$root/build/release" \
    --output-on-failure --no-tests=error --parallel "$(nproc)" -R RandomGraphs </dev/null
