// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! For wgpu 29.

pub use wgpu29 as wgpu;
#[allow(clippy::duplicate_mod)]
#[path = "bridge/mod.rs"]
mod bridge;
pub use bridge::*;
