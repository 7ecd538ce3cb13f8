// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use hearth::sys;

use super::bridge::{error, no_vulkan, vulkan_usage, Api, Context, Tensor};
use super::wgpu;

impl Context {
    /// A buffer of the game with STORAGE usage.  wgpu 29 shows no handles of its buffers.
    ///
    /// wgpu's buffers have no address.  Where kernels take those, Hearth copies the buffer in and
    /// out, for which it needs COPY_SRC and COPY_DST usage: [`Context::create_buffer`] is faster.
    ///
    /// wgpu zeroes a buffer when it first uses it, and does not see that Hearth has written it: the
    /// first frame would be lost.  So this uses it, in a pass of wgpu that changes nothing.
    /// Contents that wgpu has seen are kept.
    pub fn adopt_buffer(&self, buffer: &wgpu::Buffer) -> hearth::Result<Tensor> {
        let tensor = self.adopt_buffer_unseen(buffer)?;
        self.touch("array<u32>", "x[0]", buffer.as_entire_binding());
        Ok(tensor)
    }

    /// As [`Context::adopt_buffer`], and wgpu erases the first frame.
    #[doc(hidden)]
    pub fn adopt_buffer_unseen(&self, buffer: &wgpu::Buffer) -> hearth::Result<Tensor> {
        let mappable = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE;
        let usage = buffer.usage();
        let needed = if self.device().uses_descriptors() {
            wgpu::BufferUsages::STORAGE
        } else {
            wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_SRC
                | wgpu::BufferUsages::COPY_DST
        };
        if !usage.contains(needed) || usage.intersects(mappable) {
            return error(
                sys::HEARTH_ERROR_INVALID_ARGUMENT,
                format!(
                    "expected a buffer with the usages {needed:?} and without MAP usage, found \
                     {usage:?}"
                ),
            );
        }
        // SAFETY: the tensor keeps the buffer, which wgpu created with these flags.
        unsafe {
            let Some(raw) = buffer.as_hal::<Api>().map(|raw| raw.raw_handle()) else {
                return no_vulkan();
            };
            Ok(Tensor::of(buffer, raw, vulkan_usage(usage)))
        }
    }
}
