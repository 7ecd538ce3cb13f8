#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# web [test] [--squeezenet FILE.onnx] [--digits FILE.csv]: Build demos/web into out/web; `test` runs it in Chromium.
#
# Any web server can serve out/web. SqueezeNet defaults to the one in the folder that HEARTH_CASES names.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

web_packages=(clang-14 lld-14 wasi-libc libc++-14-dev-wasm32 libc++abi-14-dev-wasm32 libclang-rt-14-dev-wasm32)
web_test_packages=(chromium chromium-driver)

mode='' cases=${HEARTH_CASES:-/nowhere}
squeezenet=$cases/nets/squeezenet1_1/model.onnx digits=$root/tests/data/torch/digits/digits.csv
if [ "${1-}" = test ]; then mode='test' && shift; fi
while [ $# -gt 0 ]; do
    case $1 in
        --squeezenet) squeezenet=${2:?--squeezenet needs a file} && shift 2 ;;
        --digits) digits=${2:?--digits needs a file} && shift 2 ;;
        *) fail_usage ;;
    esac
done
need "${build_packages[@]}" "${web_packages[@]}" ${mode:+"${web_test_packages[@]}" "${run_packages[@]}"}
build release cook_web web_digits web_doodles hearth ${mode:+ember}
"$root/demos/web/build.sh" "$root/build/release/bin" "$root/out/web" "$squeezenet" "$digits"
say "the page is in $root/out/web; for example: python3 -m http.server --directory out/web"
[ -z "$mode" ] || HEARTH_TEST_EVERY=1 \
    python3 "$root/tests/demos/web_page_test.py" "$root/out/web" "$root/build/release/bin"
