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

# Format, lints and documentation of the crates in this folder; arguments go to cargo.
check() {
    if cargo fmt --version >/dev/null 2>&1; then
        cargo fmt --check || fail "run cargo fmt in $PWD"
    fi
    if cargo clippy --version >/dev/null 2>&1; then
        cargo clippy -q --all-targets "$@" -- -D warnings
    fi
    RUSTDOCFLAGS='-D warnings' cargo doc -q --no-deps "$@"
}

if [ "${1:-}" = engines ]; then
    shift
    need vulkan-validationlayers
    # Without debug information: Bevy's takes gigabytes.
    export CARGO_PROFILE_DEV_DEBUG=0
    cd engines
    check --all-features
    cargo test -q --all-features "$@" -- --test-threads 1
    exit
fi

check
for device in cpu ''; do
    say "device ${device:-of Vulkan}"
    HEARTH_TEST_DEVICE=$device cargo test -q "$@"
done
