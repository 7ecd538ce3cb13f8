#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the programs of demos/tiny and runs them under QEMU.  tiny.sh BIN OUT; 77: packages are missing.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
for needed in arm-none-eabi-gcc qemu-system-arm; do
    command -v "$needed" >/dev/null || { echo "skipped: there is no $needed; ./dev tiny installs it" && exit 77; }
done
arm-none-eabi-gcc -print-file-name=libm.a | grep -q / || { echo "skipped: there is no newlib for Arm" && exit 77; }
"$here/../../demos/tiny/build.sh" "$1/cook_tiny" "$2" "$here/../data/torch/digits/digits_cnn_script.onnx"
exec python3 "$here/tiny_test.py" "$2" "$1/hearth"
