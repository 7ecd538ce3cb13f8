// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lets the tests find libhearth where `HEARTH_LIB_DIR` says it is.

fn main() {
    println!("cargo:rerun-if-env-changed=HEARTH_LIB_DIR");
    if let (Ok(folder), true) = (std::env::var("HEARTH_LIB_DIR"), cfg!(unix)) {
        println!("cargo:rustc-link-arg-tests=-Wl,-rpath,{folder}");
    }
}
