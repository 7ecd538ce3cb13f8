#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the page of demos/web and tests it in a browser.  web_page.sh BIN OUT; 77: packages are missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for needed in clang++-14 wasm-ld-14 chromium chromedriver; do
    command -v "$needed" >/dev/null || { echo "skipped: there is no $needed; ./dev web test installs it" && exit 77; }
done
for needed in /usr/lib/wasm32-wasi/libc.a /usr/lib/wasm32-wasi/libc++.a; do
    [ -e "$needed" ] || { echo "skipped: there is no $needed; ./dev web test installs it" && exit 77; }
done
"$here/../../demos/web/build.sh" "$1" "$2/page" "${HEARTH_CASES:-/nowhere}/nets/squeezenet1_1/model.onnx" \
    "$here/../data/torch/digits/digits.csv"
exec python3 "$here/web_page_test.py" "$2/page" "$1"
