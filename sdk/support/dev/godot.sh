#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# godot: Make the add-on for Godot 4 in out/godot; test it, and an exported demo, in the Godot that GODOT names.
#
# Without GODOT nothing runs, and the exit code is 77.  GODOT_TEMPLATE is the export template of the same version (by
# default GODOT itself).  Vulkan's validation layers are on.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ $# = 0 ] || fail_usage
need "${build_packages[@]}" "${test_packages[@]}"
build release hearth_workbench_shared hearth_godot write_line
out=$root/out/godot
rm -rf "$out"
mkdir -p "$out/user"

addon=$out/addons/hearth
mkdir -p "$out/addons"
cp -r "$root/engine_bridge/godot/addons/hearth" "$out/addons/"
mkdir "$addon/lib"
cp "$root/build/release/lib/libhearth_godot.so" "$root/build/release/lib/libhearth.so" "$addon/lib/"
strip --strip-unneeded "$addon"/lib/*.so
cp "$root"/LICENSE* "$addon/"
say "the add-on is in $out/addons"

if [ -z "${GODOT-}" ]; then
    say "not run in Godot: GODOT names no binary of Godot 4"
    exit 77
fi
GODOT=$(realpath "$(command -v "$GODOT")") || fail "GODOT: no such program: $GODOT"
template=$(realpath "${GODOT_TEMPLATE:-$GODOT}")
version=$("$GODOT" --headless --version | tail -n 1)
[[ $version = 4.* ]] || fail "GODOT is $version, expected 4.2 or newer"
say "Godot $version"
export XDG_DATA_HOME=$out/user VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation

# godot LOG ARGUMENTS...: runs Godot in the current folder; fails with its output, or if a layer says anything.
godot() {
    local log=$out/$1.log program=$2
    shift 2
    timeout 600 "$program" --headless "$@" >"$log" 2>&1 || { cat "$log" >&2; fail "failed: $log"; }
    ! grep -E 'VUID-|Validation (Error|Warning)|^ERROR|SCRIPT ERROR|leaked' "$log" >&2 || fail "messages: $log"
}

# Our header declares what Godot's own does.
mkdir "$out/interface"
(cd "$out/interface" && godot interface "$GODOT" --dump-gdextension-interface)
for header in "$out/interface" "$root/engine_bridge/godot"; do
    g++ -std=c++17 -I "$header" "$root/tests/bridges/godot/interface_layout.cpp" -o "$out/layout"
    "$out/layout" >"$out/layout.$(basename "$header").txt"
done
diff "$out/layout.interface.txt" "$out/layout.godot.txt" || fail "gdextension_interface.h differs from Godot's"

# project NAME SOURCE: a copy of a project with the add-on.  Godot knows the extension from the start: 4.6.3 crashes when
# it ends an import in which it found an extension with classes.
project() {
    cp -r "$2" "$out/$1"
    cp -r "$out/addons" "$out/$1/"
    mkdir "$out/$1/.godot"
    echo res://addons/hearth/hearth.gdextension >"$out/$1/.godot/extension_list.cfg"
    cd "$out/$1"
}

project tests "$root/tests/bridges/godot/project"
"$root/build/release/bin/write_line" line.hearth
godot import_tests "$GODOT" --import
godot tests "$GODOT"
grep -E '[0-9]+ passed, 0 failed' "$out/tests.log" || fail "no tests: $out/tests.log"

project demo "$root/engine_bridge/godot/demo"
godot import_demo "$GODOT" --import
godot cook "$GODOT" --script cook.gd
sed -i "/preset.0.options/a custom_template/release=\"$template\"" export_presets.cfg
mkdir "$out/game"
godot export "$GODOT" --export-release Linux "$out/game/game"
cd "$out/game"
godot learn ./game -- --frames=100
godot go_on ./game -- --frames=100
rm -rf "$out/user"
godot uninterrupted ./game -- --frames=200
for run in learn go_on uninterrupted; do
    say "$run:"
    tail -n 3 "$out/$run.log"
done
[ "$(tail -n 2 "$out/go_on.log")" = "$(tail -n 2 "$out/uninterrupted.log")" ] ||
    fail "the game that was saved and went on differs from the one that was not"
say "the exported game went on to the bit"
