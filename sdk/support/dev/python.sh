#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# python [test [ARGS]]: Make a venv in out/python for the Python tests; `test` runs them, ARGS go to pytest.
#
# Third-party Python packages are in the venv alone. torch is large; pip caches what it has fetched.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# From PyPI. Ray requires exactly this gymnasium; Stable-Baselines3 before 2.7 requires an older one.
python_packages=('numpy>=1.24' 'pytest>=8.2' 'gymnasium==1.2.2' 'stable-baselines3==2.7.1' 'sb3-contrib==2.7.1'
    'pettingzoo==1.25.0' 'pygame-ce>=2.3' 'tensorboard>=2.14' 'matplotlib>=3.6')

venv=$root/out/python mode=${1-}
[ -z "$mode" ] || [ "$mode" = test ] || fail_usage
[ $# = 0 ] || shift
need "${build_packages[@]}" "${test_packages[@]}" python3-venv
build release hearth_workbench_shared hearth_environment_classic hearth_environment_hatchlings
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check \
    "${python_packages[@]}" ||
    fail "could not install the packages of the Python tests into $venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'ray[rllib]==2.60.0' ||
    say "there is no Ray for this Python: its test will be skipped"
say "$venv/bin/python, with HEARTH_LIBRARY=$root/build/release/lib/libhearth.so"
[ "$mode" = test ] || exit 0
HEARTH_LIBRARY=$root/build/release/lib/libhearth.so HEARTH_ENVIRONMENTS=$root/build/release/lib \
    PYTHONPATH=$root/engine_bridge/python "$venv/bin/python" -m pytest -rs -p no:cacheprovider \
    "$root/engine_bridge/python/tests" "$@"
