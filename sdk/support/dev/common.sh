# shellcheck shell=bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Shared by the dispatcher `dev` and the scripts of this folder, which source this file first.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)

# Debian packages. Every build configures the whole project, so each command that builds needs build_packages.
# Packages that only one command needs are listed in its script.
# shellcheck disable=SC2034  # the scripts read these lists
build_packages=(
    build-essential cmake ninja-build pkg-config python3
    libvulkan-dev glslang-dev glslang-tools spirv-tools                 # shaders and the Vulkan headers
    libprotobuf-dev protobuf-compiler libonnx-dev                       # the ONNX importer
    libpng-dev                                                          # images and .npz as training data
    libsdl2-dev libglm-dev libstb-dev libimgui-dev fonts-dejavu-core    # the demos
    libwebp-dev                                                         # their clips
    nlohmann-json3-dev libcli11-dev libfmt-dev libncurses-dev libgtest-dev)   # tools and tests
run_packages=(libvulkan1 mesa-vulkan-drivers)                           # a driver where there is no GPU
# shellcheck disable=SC2034
test_packages=("${run_packages[@]}" vulkan-validationlayers xvfb xauth
    universal-ctags                                                     # sdk/support/checks
    libvulkan-volk-dev luajit libplacebo-dev)                           # engine_bridge
# shellcheck disable=SC2034
cross_packages=(cmake ninja-build python3 libvulkan-dev googletest)

say() { echo "dev: $*" >&2; }
fail() { say "$*"; exit 1; }

# help_of SCRIPT: its first comment, "NAME [ARGUMENTS]: What it does."; `./dev help` is made of these.
help_of() { sed -n '/^# SPDX/d; /^# /{s///p; q}' "$1"; }

# Ends the calling script with its usage.
fail_usage() {
    local line
    line=$(help_of "$0")
    fail "usage: ./dev ${line%%: *}"
}

# need PACKAGE...: installs the Debian packages that are missing; asks for root only if there are any.
need() {
    if ! command -v dpkg-query >/dev/null; then
        say "not a Debian system, so nothing is installed; this needs what Debian calls: $*"
        return
    fi
    local missing
    missing=$(comm -23 <(printf '%s\n' "$@" | sort -u) \
        <(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null |
            sed -n 's/ installed$//p' | sort -u) | tr '\n' ' ')
    [ -n "$missing" ] || return 0

    local by_hand="please install by hand: $missing"
    command -v apt-get >/dev/null || fail "apt-get not found; $by_hand"
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null || fail "packages are missing and there is no sudo; $by_hand"
        as_root=(sudo)
    fi
    say "installing missing packages: $missing"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y)
    "${apt[@]}" update >&2 || fail "apt-get update failed; $by_hand"
    # shellcheck disable=SC2086  # a list of package names
    "${apt[@]}" install --no-install-recommends $missing >&2 || fail "apt-get install failed; $by_hand"
}

is_preset() {
    case ${1-} in release | debug | asan | tsan) true ;; *) false ;; esac
}

# build PRESET [TARGET...]: configures on the first call, then builds the targets (everything by default).
build() {
    local preset=$1 folder=$root/build/$1
    shift
    if [ ! -f "$folder/build.ninja" ]; then
        local options=()
        command -v ccache >/dev/null && options+=(-D CMAKE_CXX_COMPILER_LAUNCHER=ccache)
        (cd "$root" && cmake --preset "$preset" "${options[@]}") || fail "could not configure $folder"
    fi
    cmake --build "$folder" --parallel "$(nproc)" ${1:+--target "$@"} || fail "could not build $folder"
}
