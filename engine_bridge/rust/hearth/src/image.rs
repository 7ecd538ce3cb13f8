// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ptr::null_mut;

use crate::error::check;
use crate::{sys, Buffer, Device, Frame, Result};

/// Converts images of one format to tensors, or tensors to images: for bridges to engines, which
/// hide the handles.
pub struct ImageConverter {
    device: Device,
    raw: *mut sys::hearth_image_converter,
}

// SAFETY: a converter belongs to the thread that holds the device's mutex.
unsafe impl Send for ImageConverter {}

impl ImageConverter {
    /// `direction`: `HEARTH_IMAGE_TO_TENSOR` or `HEARTH_TENSOR_TO_IMAGE`; `format`: a `VkFormat`.
    pub fn new(
        device: &Device,
        direction: sys::hearth_image_conversion_direction,
        format: u32,
    ) -> Result<ImageConverter> {
        let info = sys::hearth_image_converter_create_info {
            direction,
            format,
            ..Default::default()
        };
        let mut raw = null_mut();
        let host = device.lock();
        // SAFETY: the context lives.
        host.check(unsafe { sys::hearth_image_converter_create(host.context, &info, &mut raw) })?;
        Ok(ImageConverter {
            device: device.clone(),
            raw,
        })
    }

    /// Records a conversion between the image of `info` and f32 elements of `tensor`.
    ///
    /// # Safety
    /// Image and view are of this device and of the converter's format, in the layout of `info`,
    /// and live until the frame has completed.
    pub unsafe fn record(
        &mut self,
        frame: &mut Frame,
        mut info: sys::hearth_image_conversion_info,
        tensor: &Buffer,
    ) -> Result<()> {
        frame.check_device(&self.device)?;
        frame.keep(tensor);
        info.command_buffer = frame.commands;
        info.tensor = tensor.binding();
        let _host = self.device.lock();
        check(sys::hearth_record_convert_image(self.raw, &info), || {
            sys::hearth_image_converter_error(self.raw)
        })
    }
}

impl Drop for ImageConverter {
    fn drop(&mut self) {
        let _host = self.device.lock();
        // SAFETY: the converter frees its resources when the device is done.
        unsafe { sys::hearth_image_converter_destroy(self.raw) };
    }
}
