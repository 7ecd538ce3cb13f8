#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# mpi [learn]: Build hearth_train_mpi and test it with 2 and 4 processes; `learn` compares 2 with 1 (minutes).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}" libopenmpi-dev openmpi-bin
[ -f "$root/build/release/build.ninja" ] || build release hearth_train
cmake -D HEARTH_WITH_MPI=ON "$root/build/release" >&2
build release hearth_train hearth_train_mpi hearth_mpi_test
bin=$root/build/release/bin which=Mpi
if [ "${1-}" = learn ]; then which=MpiNightly && export HEARTH_NIGHTLY=1; fi
python3 -B "$root/tests/train/mpi_test.py" "$bin/hearth_train" "$bin/hearth_train_mpi" "$bin/hearth_mpi_test" \
    "$which" --verbose
