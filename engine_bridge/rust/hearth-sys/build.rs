// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Links libhearth, from the folder `HEARTH_LIB_DIR` if it is set, else from where the linker looks.

fn main() {
    println!("cargo:rerun-if-env-changed=HEARTH_LIB_DIR");
    if let Ok(folder) = std::env::var("HEARTH_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
    }
    println!("cargo:rustc-link-lib=dylib=hearth");
}
