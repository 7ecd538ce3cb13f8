#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# models TABLE [ARGS]: Compare ONNX models that PyPI packages ship with ONNX Runtime, in values and time on one thread.
#
# perf/peers/onnx_models.py describes the table and takes ARGS; its Python packages are in a venv in out/models.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# -gt 0 ] || fail_usage
need "${build_packages[@]}" python3-venv
build release hearth
venv=$root/out/models/venv
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6 ||
    fail "could not install ONNX Runtime into $venv"
"$venv/bin/python" "$root/perf/peers/onnx_models.py" --hearth "$root/build/release/bin/hearth" \
    --cache "$root/out/models/packages" "$@"
