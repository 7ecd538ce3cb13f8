// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiled once for each version of wgpu, which the parent module names `wgpu`.

use super::wgpu;

mod buffer;
mod context;
mod setup;
mod texture;

#[allow(unused_imports)] // of wgpu 30 only
pub(crate) use buffer::vulkan_usage;
pub use buffer::Tensor;
pub use context::{Context, Frame};
pub use setup::Setup;
pub use texture::{Texture, TextureConversion};

pub(crate) type Api = wgpu::hal::api::Vulkan;

pub(crate) fn error<T>(
    code: hearth::sys::hearth_result,
    message: impl Into<String>,
) -> hearth::Result<T> {
    Err(hearth::Error {
        code,
        message: message.into(),
    })
}

pub(crate) fn no_vulkan<T>() -> hearth::Result<T> {
    error(
        hearth::sys::HEARTH_ERROR_UNSUPPORTED,
        "wgpu does not run on Vulkan; create the instance with Backends::VULKAN, or use \
         hearth::Device::new, a device of its own",
    )
}
