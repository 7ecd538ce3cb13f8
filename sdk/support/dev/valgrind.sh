#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# valgrind: Run the runtime's CPU-side tests under valgrind: no invalid access, no leak (nightly).
#
# Memcheck finds reads of uninitialized memory, which AddressSanitizer does not.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need "${build_packages[@]}" valgrind
tests=(core_test program_test c_host_test)
build release "${tests[@]}"
for name in "${tests[@]}"; do
    say "valgrind: $name"
    (cd "$root/build/release" && valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite \
        --error-exitcode=1 "bin/$name") || fail "valgrind: findings in $name"
done
