#!/usr/bin/env bash
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# rust [engines] [ARGS]: Check and test the Rust crates; "engines": those for wgpu and Bevy, which download much. ARGS go to `cargo test`.
#
# Vulkan runs on lavapipe where there is no GPU; the tests of engines with the validation layers.  cargo is rustup's or Debian's (cargo-web, rustc-web).
# shellcheck source-path=SCRIPTDIR source=common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

command -v cargo >/dev/null || fail "there is no cargo: install Rust from https://rustup.rs, or Debian's cargo-web"
need "${build_packages[@]}"
build release hearth_workbench_shared
export CARGO_TARGET_DIR=$root/out/rust HEARTH_LIB_DIR=$root/build/release/lib
export HEARTH_TEST_PACKAGE=$root/tests/data/packages/package1_program4.hearth
cd "$root/engine_bridge/rust"

# Format, lints and documentation of the crates in this folder, and the oldest Rust that they state, where rustup has
# it: check VERSION ARGS; ARGS go to cargo.
check() {
    local oldest=$1
    shift
    if cargo fmt --version >/dev/null 2>&1; then
        cargo fmt --check || fail "run cargo fmt in $PWD"
    fi
    if cargo clippy --version >/dev/null 2>&1; then
        cargo clippy -q --all-targets "$@" -- -D warnings
    fi
    RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps "$@"
    if rustup toolchain list 2>/dev/null | grep -q "^$oldest"; then
        say "Rust $oldest"
        CARGO_TARGET_DIR=$CARGO_TARGET_DIR/$oldest cargo "+$oldest" check -q "$@"
    fi
}

if [ "${1:-}" = engines ]; then
    shift
    need vulkan-validationlayers
    # Without debug information: Bevy's takes gigabytes.
    export CARGO_PROFILE_DEV_DEBUG=0
    cd engines
    check 1.87 -p hearth-wgpu --all-features
    check 1.95 -p hearth-bevy
    cargo test -q --all-features "$@" -- --test-threads 1
    exit
fi

check 1.77
for device in cpu ''; do
    say "device ${device:-of Vulkan}"
    HEARTH_TEST_DEVICE=$device cargo test -q "$@"
done
