#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# swiftshader: Run hellos, reference cases, gradients and Ghost Lap on Chromium's software driver (nightly).
#
# HEARTH_SWIFTSHADER names its manifest (vk_swiftshader_icd.json), by default that which `./dev cards root` unpacks.
# Exit code 77: there is none, so nothing was run.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

on_card() { bash "$root/perf/cards/with_card.sh" swiftshader "$@"; }
on_card true || exit

need "${build_packages[@]}" "${run_packages[@]}"
build release hearth hello_inference hello_training hello_agents ghost_lap_test
bin=$root/build/release/bin failed=()
# check NAME PROGRAM [ARGUMENT...]
check() {
    local name=$1
    shift
    say "swiftshader: $name"
    on_card "$@" || failed+=("$name")
}
for hello in hello_inference hello_training hello_agents; do check "$hello" "$bin/$hello"; done
check "Ghost Lap" "$bin/ghost_lap_test"
data=$root/tests/data/torch
check nets "$bin/hearth" verify --device gpu "$data/nets"
check gradients "$bin/hearth" verify --device gpu --gradients "$data/autograd"
if [ -n "${HEARTH_CASES-}" ]; then
    check "nets of HEARTH_CASES" "$bin/hearth" verify --device gpu "$HEARTH_CASES/nets"
    check "policies of HEARTH_CASES" "$bin/hearth" verify --rtol 1e-4 --atol 1e-4 --device gpu "$HEARTH_CASES/policies"
    check "gradients of HEARTH_CASES" "$bin/hearth" verify --device gpu --gradients "$HEARTH_CASES/autograd"
    check "ONNX's cases" "$bin/hearth" verify --device gpu "$HEARTH_CASES/onnx_node"
fi
[ ${#failed[@]} = 0 ] || fail "swiftshader: failed: $(printf '%s; ' "${failed[@]}")"
