#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# test [PRESET] [ARGS]: Build and run the tests; ARGS go to ctest (for example -R Softmax, -L cpu).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

preset=release
if is_preset "${1-}"; then preset=$1 && shift; fi
need "${build_packages[@]}" "${test_packages[@]}"
build "$preset"
results=$root/build/$preset/test_results.xml status=0
rm -f "$results"
# The output of passed tests is kept at a length that never cuts off the reason for a skip.
ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error --parallel "$(nproc)" \
    --output-junit "$results" --test-output-size-passed 100000 "$@" </dev/null || status=$?
[ ! -f "$results" ] || python3 "$root/sdk/support/tell_skips.py" "$results"
exit "$status"
