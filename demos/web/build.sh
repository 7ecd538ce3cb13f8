#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the page: `./dev web` calls it.
#
#     build.sh BIN OUT SQUEEZENET.onnx DIGITS.csv
#
#   BIN  where cook_web, web_digits, web_doodles and hearth are
#   OUT  the folder of static files
#
# Without SqueezeNet's file the page has no part that classifies pictures.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
bin=$1 out=$2 squeezenet=$3 digits=$4
work=$out/../web_work
mkdir -p "$out" "$work"
launcher=()
! command -v ccache >/dev/null || launcher=(ccache)

flags=(--target=wasm32-wasi -msimd128 -O3 -I"$work" -I"$here/wasm")
c_flags=("${flags[@]}" -std=c11 -fwrapv -fno-strict-aliasing -fno-math-errno -ffp-contract=off)
scenes=$here/../scenes
cxx_flags=("${flags[@]}" -I"$here" -std=c++20 -fno-exceptions -fno-rtti -ffp-contract=off
    -isystem "$work/glm_only" -I"$scenes" -I"$here/.." -I"$here/../ghost_lap" -I"$here/../ember"
    -I"$here/../../sdk/include")
link=(--target=wasm32-wasi -mexec-model=reactor -Wl,--strip-all -Wl,-z,stack-size=1048576)

# module NAME SOURCE...: one .wasm file of C and C++.
module() {
    local name=$1 source objects=()
    shift
    for source in "$@"; do
        local object=$work/${name}_$(basename "$source").o
        case $source in
            *.cpp) "${launcher[@]}" clang++-14 "${cxx_flags[@]}" -c "$source" -o "$object" ;;
            *) "${launcher[@]}" clang-14 "${c_flags[@]}" -c "$source" -o "$object" ;;
        esac
        objects+=("$object")
    done
    clang++-14 "${link[@]}" "${objects[@]}" -o "$out/$name.wasm"
}

mkdir -p "$work/glm_only"
ln -sfn /usr/include/glm "$work/glm_only/glm"
"$bin/cook_web" "$work" wasm128
cp "$work"/{digits,ghost}.wgsl.json "$out"
module doodles "$here/wasm/doodles_page.cpp" "$here/doodles.cpp" "$work/doodles.c"
"$bin/web_doodles" "$out/doodles.brain"
module digits "$here/wasm/digits_page.c" "$work/digits.c"
module ghost "$here/wasm/ghost_page.cpp" "$work/ghost.c" "$scenes"/ghost_lap/{car,driver,lap,observation,race,racer,track}.cpp
module ember "$here/wasm/ember_page.cpp" "$here/../ember"/{deeds,kept}.cpp "$scenes/ember/world.cpp"
"$bin/web_digits" train "$digits" "$out/digits.brain" "$out/digits.bin"
rm -f "$out"/pictures.*
if [ -f "$squeezenet" ]; then
    "$bin/hearth" cook "$squeezenet" --target c --cpu wasm128 --function pictures --name act --weights file -o "$work"
    module pictures "$here/wasm/pictures_page.c" "$work/pictures.c"
    cp "$work/pictures.weights" "$out"
fi
cp "$here"/page/* "$out"
