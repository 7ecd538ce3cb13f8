#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# weave: Run Loom for 600 frames from three seeds and check the likeness of its picture (nightly).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}"
build release loom
for seed in 1 2 3; do
    "$root/build/release/bin/loom" --headless --turbo --draw-every 200 --seed "$seed" \
        --screenshots "$root/build/release/loom_pictures_$seed"
done
