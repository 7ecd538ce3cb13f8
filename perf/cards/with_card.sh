#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# with_card.sh CARD PROGRAM [ARGUMENT...]: runs a program on the Vulkan driver of a card that is not there. Mesa's
# drivers run over shims of the kernel interface that do nothing: pipelines are compiled, commands have no effect.
#
# HEARTH_CARDS_ROOT is the folder with drivers and shims that `./dev cards root` makes; its default is the same. The card
# swiftshader is Chromium's software driver, which does run: HEARTH_SWIFTSHADER names its manifest, by default that of
# this folder. Exit code 77: this card's driver or shim is not there.
set -euo pipefail

[ $# -ge 2 ] || { echo "usage: with_card.sh CARD PROGRAM [ARGUMENT...]" >&2; exit 2; }
root=${HEARTH_CARDS_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/hearth/cards}
if [ "$1" = swiftshader ]; then
    manifest=${HEARTH_SWIFTSHADER:-$root/usr/lib/chromium/vk_swiftshader_icd.json}
    if [ ! -f "$manifest" ]; then
        echo "with_card.sh: not run on SwiftShader: there is no $manifest; ./dev cards root unpacks it, and" \
            "HEARTH_SWIFTSHADER names another" >&2
        exit 77
    fi
    export VK_DRIVER_FILES=$manifest VK_ICD_FILENAMES=$manifest
    shift
    exec "$@"
fi
lib=$root/usr/lib/x86_64-linux-gnu
card=$1 program=$(command -v "$2")
shift 2

family=${card%%:*} model=${card#*:} shim=''
case $family in
    lavapipe) driver=lvp ;;
    radv) driver=radeon shim=amdgpu; export AMDGPU_GPU_ID=$model ;;
    nvk) driver=nouveau shim=nouveau; export NOUVEAU_CHIPSET=$model NVK_I_WANT_A_BROKEN_VULKAN_DRIVER=1 ;;
    turnip) driver=freedreno shim=freedreno; export FD_GPU_ID=$model ;;
    honeykrisp) driver=asahi shim=asahi ;;
    anv) driver=intel shim=intel; export INTEL_STUB_GPU_PLATFORM=$model ;;
    *) echo "with_card.sh: no card '$card'; expected swiftshader, lavapipe, radv:navi31, nvk:172, turnip:740, honeykrisp, anv:dg2" >&2
       exit 2 ;;
esac
manifest=$(find "$root/usr/share/vulkan/icd.d" -name "${driver}_icd*.json" | head -1)
shim_library=${shim:+$lib/lib${shim}_noop_drm_shim.so}
if [ -z "$manifest" ] || { [ -n "$shim" ] && [ ! -e "$shim_library" ]; }; then
    echo "with_card.sh: not compiled for $card: $root has no driver '$driver' with a shim" >&2
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed -E "s#\"library_path\": *\"[^\"]*/?(libvulkan[^\"/]*)\"#\"library_path\": \"$lib/\1\"#" "$manifest" > "$work/driver.json"
export VK_DRIVER_FILES=$work/driver.json VK_ICD_FILENAMES=$work/driver.json MESA_SHADER_CACHE_DISABLE=true
"$lib/ld-linux-x86-64.so.2" --library-path "$lib:/usr/lib/x86_64-linux-gnu" ${shim:+--preload "$shim_library"} \
    "$program" "$@"
