#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# nightly: Run everything that takes hours: mutants, long fuzzing, random graphs; lists at the end what failed or was not run.
#
# A step that fails does not keep the others from running.  HEARTH_MODELS names a table for `models`, GODOT a binary of
# Godot 4 for `godot`.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

steps=(
    "test release -C nightly"
    "replay"
    "laps"
    "hatch"
    "mpi"
    "libtorch"
    "godot"
    "rust engines"
    "mpi learn"
    "weave"
    "swiftshader"
    "graphs 100000"
    ${HEARTH_MODELS:+"models $HEARTH_MODELS"}
    "frames 100000"
    "valgrind"
    "hostile release"
    "hostile asan"
    "fuzz 1200"
    "mutate"
)

[ $# = 0 ] || fail_usage
failed=() not_run=()
export HEARTH_TEST_EVERY=1  # includes the cases that the everyday run of a test leaves out
for step in "${steps[@]}"; do
    say "nightly: $step"
    # shellcheck disable=SC2086  # a command and its arguments
    "$root/dev" $step || case $? in 77) not_run+=("$step") ;; *) failed+=("$step") ;; esac
done
[ ${#not_run[@]} = 0 ] || say "nightly: not run: $(printf '%s; ' "${not_run[@]}")"
[ ${#failed[@]} = 0 ] || fail "nightly: failed: $(printf '%s; ' "${failed[@]}")"
