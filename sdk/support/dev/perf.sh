#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# perf [ARGS]: Build and run the benchmarks; ARGS go to hearth_perf.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need "${build_packages[@]}" "${run_packages[@]}"
build release hearth_perf >&2
exec "$root/build/release/bin/hearth_perf" "$@"
