#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# cards [ARGS]: Compile the kernels with the drivers of players' cards, without the cards; `cards root` unpacks them.
#
# `cards root [FOLDER]` unpacks a newer Mesa with its shims, and the newest SPIRV-Tools, beside the system, from this
# machine's own package sources; default: ~/.cache/hearth/cards, or HEARTH_CARDS_ROOT. Other arguments go to
# perf/cards/cards.py.
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

export HEARTH_CARDS_ROOT=${HEARTH_CARDS_ROOT:-${XDG_CACHE_HOME:-$HOME/.cache}/hearth/cards}

# The mirror that this machine's packages come from.
mirror() {
    local uri
    # shellcheck disable=SC2016  # apt's own words
    uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -1)
    [ -n "$uri" ] || fail "no Debian mirror in /etc/apt"
    echo "$uri"
}

unpack() {
    local folder=$1 work options
    work=$(mktemp -d)
    # shellcheck disable=SC2064  # the folder of now
    trap "rm -rf '$work'" EXIT
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/state" "$folder"
    : > "$work/state/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(mirror) sid main" > "$work/sources.list"
    options=(-q -o "Dir::State::Lists=$work/lists" -o "Dir::State::status=$work/state/status"
             -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null -o "Dir::Cache=$work/cache"
             -o APT::Sandbox::User=root -o APT::Install-Recommends=false)
    apt-get "${options[@]}" update >&2 || fail "could not read the list of packages"
    apt-get "${options[@]}" -y --download-only install mesa-vulkan-drivers mesa-drm-shim libvulkan1 spirv-tools >&2 ||
        fail "could not download the drivers"
    local package
    for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$folder"; done
    say "unpacked into $folder"
}

if [ "${1-}" = root ]; then
    unpack "${2:-$HEARTH_CARDS_ROOT}"
    exit
fi
if [ ! -d "$HEARTH_CARDS_ROOT/usr/share/vulkan/icd.d" ]; then
    say "not compiled: there are no drivers in $HEARTH_CARDS_ROOT; ./dev cards root unpacks them"
    exit 77
fi
need "${build_packages[@]}"
build release hearth_cards >&2
exec python3 -B "$root/perf/cards/cards.py" --programs "$root/build/release/bin" "$@"
