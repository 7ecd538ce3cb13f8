// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#![cfg(feature = "wgpu29")]
#![forbid(unsafe_code)]

use hearth_wgpu::v29 as bridge;

#[path = "bridge/mod.rs"]
mod tests;

fn bytes(slice: &bridge::wgpu::BufferSlice) -> Vec<u8> {
    slice.get_mapped_range().to_vec()
}
