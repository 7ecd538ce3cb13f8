#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# fuzz [SECONDS]: Run each fuzz target for SECONDS (60) under libFuzzer and sanitizers (needs clang-14).
#
# New inputs and the inputs that break a target go to out/fuzz.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-60}
[[ $seconds =~ ^[0-9]+$ && $# -le 1 ]] || fail_usage
need "${build_packages[@]}" "${run_packages[@]}" clang-14 libclang-rt-14-dev vulkan-validationlayers
for name in "$root"/tests/fuzz/corpus/*/; do
    name=$(basename "$name")
    build fuzz "fuzz_$name"
    found=$root/out/fuzz/$name
    mkdir -p "$found"
    say "fuzzing $name for $seconds s"
    # A driver keeps memory until the process ends; the target counts what Hearth holds.
    leaks=1
    [ "$name" = session ] && leaks=0
    ASAN_OPTIONS=detect_leaks=$leaks "$root/build/fuzz/bin/fuzz_$name" \
        -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 -detect_leaks=$leaks \
        -print_final_stats=1 -artifact_prefix="$found-" "$found" "$root/tests/fuzz/corpus/$name" ||
        fail "finding in $name: see $found-*"
done
