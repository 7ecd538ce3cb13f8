#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# cards [ARGS]: Compile the kernels with the drivers of players' cards, without the cards; `cards root` unpacks them.
#
# `cards root [FOLDER]` puts into a folder beside the system, from this machine's own package sources: sid's Mesa with
# its shims, SPIRV-Tools and validation layer; Intel's shim, built from Mesa's source; SwiftShader of chromium-common.
# Default: ~/.cache/hearth/cards, or HEARTH_CARDS_ROOT. What is there already is kept. Other arguments go to
# perf/cards/cards.py.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export HEARTH_CARDS_ROOT=${HEARTH_CARDS_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/hearth/cards}
libraries=usr/lib/x86_64-linux-gnu

# The mirror that this machine's packages come from.
mirror() {
    local uri
    # shellcheck disable=SC2016  # apt's own words
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -1)
    [ -n "$uri" ] || fail "no Debian mirror in /etc/apt"
    echo "$uri"
}

# apt_of SUITE ARGUMENT...: apt-get on a suite's packages and sources alone, as if nothing were installed.
apt_of() {
    local suite=$1 state=$work/$1 signed='[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
    shift
    local options=(-q -o "Dir::State::Lists=$state/lists" -o "Dir::State::status=$state/status"
                   -o "Dir::Etc::sourcelist=$state/sources.list" -o Dir::Etc::sourceparts=/dev/null
                   -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root -o APT::Install-Recommends=false)
    if [ ! -d "$state" ]; then
        mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
        : > "$state/status"
        printf '%s\n' "deb $signed $(mirror) $suite main" "deb-src $signed $(mirror) $suite main" > "$state/sources.list"
        apt-get "${options[@]}" update >&2 || fail "could not read the packages of $suite"
    fi
    apt-get "${options[@]}" "$@" >&2
}

# drivers FOLDER: the newest Mesa with its shims, and Khronos's newest tools.
drivers() {
    apt_of sid -y --download-only install mesa-vulkan-drivers mesa-drm-shim libvulkan1 spirv-tools \
        vulkan-validationlayers || fail "could not download the drivers"
    local package
    for package in "$work"/sid/cache/archives/*.deb; do dpkg -x "$package" "$1"; done
}

# intel_shim FOLDER: no package has it. A shim of an older Mesa serves a newer driver, too.
intel_shim() {
    need bison flex libdrm-dev ninja-build python3-mako python3-packaging python3-yaml pkg-config build-essential
    local suite found=''
    mkdir "$work/source"
    cd "$work/source"
    for suite in sid trixie; do
        if apt_of "$suite" --download-only source mesa; then found=$suite && break; fi
    done
    [ -n "$found" ] || fail "no suite has Mesa's source, so there is no shim for Intel"
    (cd "$work" && apt_of sid download meson) || fail "could not download meson"
    dpkg -x "$work"/meson_*.deb "$work/meson"
    tar xf mesa_*.orig.tar.xz --strip-components=1
    export PYTHONPATH=$work/meson/usr/lib/python3/dist-packages PATH=/usr/bin:$PATH  # Debian's Python and its modules
    python3 "$work/meson/usr/bin/meson" setup "$work/build" -Dtools=drm-shim,intel -Dbuildtype=release \
        -D{vulkan-drivers,gallium-drivers,platforms,video-codecs}= -Dopengl=false \
        -D{glx,egl,gbm,llvm,zstd,gles1,gles2,shared-glapi}=disabled >&2 || fail "could not configure Mesa"
    ninja -C "$work/build" src/intel/tools/libintel_noop_drm_shim.so >&2 || fail "could not build Intel's shim"
    cp "$work/build/src/intel/tools/libintel_noop_drm_shim.so" "$1/$libraries/"
}

# swiftshader FOLDER: from the system's own release, whose C library it needs.
swiftshader() {
    (cd "$work" && apt-get -q -o APT::Sandbox::User=root download chromium-common >&2) ||
        fail "could not download chromium-common"
    dpkg-deb --fsys-tarfile "$work"/chromium-common_*.deb |
        tar x -C "$1" ./usr/lib/chromium/{libvk_swiftshader.so,vk_swiftshader_icd.json}
}

if [ "${1-}" = root ]; then
    folder=$(realpath -m "${2:-$HEARTH_CARDS_ROOT}")
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    mkdir -p "$folder"
    [ -e "$folder/usr/share/vulkan/explicit_layer.d" ] || drivers "$folder"
    [ -e "$folder/usr/lib/chromium/libvk_swiftshader.so" ] || swiftshader "$folder"
    [ -e "$folder/$libraries/libintel_noop_drm_shim.so" ] || (intel_shim "$folder")
    say "unpacked into $folder"
    exit
fi
if [ ! -d "$HEARTH_CARDS_ROOT/usr/share/vulkan/icd.d" ]; then
    say "not compiled: there are no drivers in $HEARTH_CARDS_ROOT; ./dev cards root unpacks them"
    exit 77
fi
need "${build_packages[@]}"
build release hearth_cards >&2
exec python3 -B "$root/perf/cards/cards.py" --programs "$root/build/release/bin" "$@"
