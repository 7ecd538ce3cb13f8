#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# wheel [test SUITE...]: Make the Python wheel in out/wheel; `test` installs it in bare roots of those suites of Debian.
#
# It needs the C library of Debian 12 or a newer one, and nothing else of the machine. Default networks come compiled
# (wheel_kernels.py); for others the CPU device calls a C compiler, which the roots lack. Roots are made by debootstrap,
# which needs root, and kept in out/wheel/roots. The learning curves of all are in out/wheel/curves.csv.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

mode=''
if [ "${1-}" = test ] && [ $# -gt 1 ]; then mode='test' && shift; fi
[ -n "$mode" ] || [ $# = 0 ] || fail_usage
need "${build_packages[@]}" patchelf python3-numpy python3-wheel ${mode:+debootstrap python3-pip}
build release hearth hearth_workbench_shared hearth_environment_classic hearth_environment_hatchlings
# python3-numpy and python3-wheel are modules of the system's Python.
/usr/bin/python3 -B "$root/sdk/support/wheel.py" "$root/build/release" "$root/out/wheel"
[ -n "$mode" ] || exit 0

wheel=$(echo "$root"/out/wheel/*.whl)
as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)
echo 'suite,python,seconds,steps,return' >"$root/out/wheel/curves.csv"
for suite in "$@"; do
    folder=$root/out/wheel/roots/$suite
    in_root=("${as_root[@]}" chroot "$folder" env -i PATH=/usr/bin:/bin HOME=/root)
    if [ ! -x "$folder/usr/bin/python3" ]; then
        "${as_root[@]}" debootstrap --variant=minbase --include=python3,python3-pip,python3-venv "$suite" "$folder" >&2 || fail "debootstrap made no root of $suite in $folder"
    fi
    # Roots have no network: what the wheel needs is fetched here, for their Python.
    version=$("${in_root[@]}" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    wheels=$root/out/wheel/needed/$version
    rm -f "$wheels"/hearth-*.whl  # pip keeps a file of that name
    python3 -m pip download -q --disable-pip-version-check --dest "$wheels" --only-binary=:all: --python-version "$version" \
        "${wheel}[env]" || fail "could not fetch what the wheel needs for Python $version"
    "${as_root[@]}" rm -rf "$folder/tmp/wheels"
    "${as_root[@]}" cp -r "$wheels" "$folder/tmp/wheels"
    "${as_root[@]}" cp "$root/tests/wheel/learn.py" "$folder/tmp/"
    say "$suite: Python $version"
    "${in_root[@]}" bash -ec "
        python3 -m venv --clear /tmp/venv
        /tmp/venv/bin/pip install -q --disable-pip-version-check --no-index --find-links /tmp/wheels 'hearth[env]'
        time /tmp/venv/bin/python /tmp/learn.py" || fail "the wheel does not learn in $suite"
    sed "s/^/$suite,$version,/" "$folder/tmp/curve.csv" >>"$root/out/wheel/curves.csv"
done
