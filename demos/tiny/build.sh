#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the microcontroller's programs, and the same for this machine: `./dev tiny` calls it.
#
#     build.sh COOK_TINY OUT DIGITS.onnx
#
# Leaves read_digits and learn_policy in OUT/m4, OUT/m7 and OUT/host.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cook=$1 out=$2 onnx=$3
rm -rf "$out"/{m4,m7,host}
mkdir -p "$out"/{m4,m7,host}
programs=(learn_policy:policy read_digits:digits)
"$cook" "$out" "$onnx"

flags=(-std=c11 -O2 -Wall -Wextra -fwrapv -fno-strict-aliasing -fno-math-errno -ffp-contract=off
    -ffunction-sections -fdata-sections -I"$out" -I"$here")
arm=(-mthumb -mfloat-abi=hard -nostartfiles -T "$here/cortex_m.ld" -Wl,--gc-sections)
for program in "${programs[@]}"; do
    name=${program%:*} sources=("$here/${program%:*}.c" "$out/${program#*:}.c")
    cc "${flags[@]}" "${sources[@]}" "$here/board_host.c" -lm -o "$out/host/$name"
    for cpu in m4:fpv4-sp-d16 m7:fpv5-sp-d16; do
        arm-none-eabi-gcc "${flags[@]}" "${arm[@]}" -mcpu=cortex-"${cpu%:*}" -mfpu="${cpu#*:}" \
            "${sources[@]}" "$here/board_cortex_m.c" -lm -o "$out/${cpu%:*}/$name"
    done
done
