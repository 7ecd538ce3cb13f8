// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use ash::vk::Handle;
use hearth::sys;

use super::{error, no_vulkan, wgpu, Api, Context, Frame, Tensor};

/// A 2D texture of the game that Hearth reads or writes: its first level.
pub struct Texture {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
    is_written: bool,
    converter: hearth::ImageConverter,
}

/// A tensor's shape and order of elements beside a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextureConversion {
    pub width: u32,
    pub height: u32,
    /// 1 to 4.
    pub channels: u32,
    /// [height, width, channels]; else [channels, height, width].
    pub channels_last: bool,
    /// Interpolates between texels; else the nearest.
    pub linear: bool,
}

impl Context {
    /// A texture with TEXTURE_BINDING usage, for [`Frame::read_texture`].
    pub fn texture_to_read(&self, texture: &wgpu::Texture) -> hearth::Result<Texture> {
        self.texture(texture, false)
    }

    /// A texture with STORAGE_BINDING usage, for [`Frame::write_texture`].
    ///
    /// wgpu zeroes a texture when it first uses it, and does not see that Hearth has written it:
    /// the first frame would be lost.  So this uses it, in a pass of wgpu that reads nothing.
    /// Contents that wgpu has seen are kept.
    pub fn texture_to_write(&self, texture: &wgpu::Texture) -> hearth::Result<Texture> {
        let written = self.texture_to_write_unseen(texture)?;
        self.touch_texture(texture)?;
        Ok(written)
    }

    /// As [`Context::texture_to_write`], and wgpu erases the first frame.
    #[doc(hidden)]
    pub fn texture_to_write_unseen(&self, texture: &wgpu::Texture) -> hearth::Result<Texture> {
        self.texture(texture, true)
    }

    fn texture(&self, texture: &wgpu::Texture, is_written: bool) -> hearth::Result<Texture> {
        let (needed, direction) = if is_written {
            (
                wgpu::TextureUsages::STORAGE_BINDING,
                sys::HEARTH_TENSOR_TO_IMAGE,
            )
        } else {
            (
                wgpu::TextureUsages::TEXTURE_BINDING,
                sys::HEARTH_IMAGE_TO_TENSOR,
            )
        };
        if !texture.usage().contains(needed) || texture.dimension() != wgpu::TextureDimension::D2 {
            return error(
                sys::HEARTH_ERROR_INVALID_ARGUMENT,
                format!(
                    "expected a 2D texture with {needed:?}, found {:?} with {:?}",
                    texture.dimension(),
                    texture.usage()
                ),
            );
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            dimension: Some(wgpu::TextureViewDimension::D2),
            mip_level_count: Some(1),
            array_layer_count: Some(1),
            ..Default::default()
        });
        // SAFETY: the adapter lives.
        let format = unsafe {
            let Some(adapter) = self.adapter.as_hal::<Api>() else {
                return no_vulkan();
            };
            adapter.texture_format_as_raw(texture.format()).as_raw() as u32
        };
        Ok(Texture {
            texture: texture.clone(),
            view,
            is_written,
            converter: hearth::ImageConverter::new(self.device(), direction, format)?,
        })
    }

    /// Uses a texture in a pass, so that wgpu zeroes it now or never.
    fn touch_texture(&self, texture: &wgpu::Texture) -> hearth::Result<()> {
        let format = match texture.format() {
            wgpu::TextureFormat::Rgba8Unorm => "rgba8unorm",
            wgpu::TextureFormat::Rgba8Snorm => "rgba8snorm",
            wgpu::TextureFormat::Rgba16Float => "rgba16float",
            wgpu::TextureFormat::R32Float => "r32float",
            wgpu::TextureFormat::Rgba32Float => "rgba32float",
            wgpu::TextureFormat::Bgra8Unorm => "bgra8unorm",
            wgpu::TextureFormat::Rgba8Uint => "rgba8uint",
            wgpu::TextureFormat::Rgba8Sint => "rgba8sint",
            wgpu::TextureFormat::Rgba16Uint => "rgba16uint",
            wgpu::TextureFormat::Rgba16Sint => "rgba16sint",
            wgpu::TextureFormat::R32Uint => "r32uint",
            wgpu::TextureFormat::R32Sint => "r32sint",
            wgpu::TextureFormat::Rgba32Uint => "rgba32uint",
            wgpu::TextureFormat::Rgba32Sint => "rgba32sint",
            other => {
                return error(
                    sys::HEARTH_ERROR_UNSUPPORTED,
                    format!(
                        "expected Bgra8Unorm, Rgba8, Rgba16 or Rgba32 with Uint, Sint or Float, \
                         Rgba8Unorm, Rgba8Snorm or R32, found {other:?}"
                    ),
                )
            }
        };
        let view = texture.create_view(&wgpu::TextureViewDescriptor {
            mip_level_count: Some(1),
            array_layer_count: Some(1),
            dimension: Some(wgpu::TextureViewDimension::D2),
            ..Default::default()
        });
        self.touch(
            &format!("texture_storage_2d<{format}, write>"),
            "textureDimensions(x)",
            wgpu::BindingResource::TextureView(&view),
        );
        Ok(())
    }

    /// Runs a pass with the binding `x` that only evaluates an expression.
    pub(crate) fn touch(&self, var: &str, expression: &str, resource: wgpu::BindingResource) {
        let code = format!(
            "@group(0) @binding(0) var{var_} x: {type_};
             @compute @workgroup_size(1) fn main() {{ _ = {expression}; }}",
            var_ = if var.starts_with("texture") {
                ""
            } else {
                "<storage, read>"
            },
            type_ = var,
        );
        let module = self.gpu.create_shader_module(wgpu::ShaderModuleDescriptor {
            label: Some("hearth touch"),
            source: wgpu::ShaderSource::Wgsl(code.into()),
        });
        let pipeline = self
            .gpu
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("hearth touch"),
                layout: None,
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                cache: None,
            });
        let group = self.gpu.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("hearth touch"),
            layout: &pipeline.get_bind_group_layout(0),
            entries: &[wgpu::BindGroupEntry {
                binding: 0,
                resource,
            }],
        });
        let mut encoder = self.gpu.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, &[]);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }
}

impl Frame {
    /// Records the conversion of a texture's texels to f32 elements.
    pub fn read_texture(
        &mut self,
        texture: &mut Texture,
        to: &Tensor,
        conversion: &TextureConversion,
    ) -> hearth::Result<()> {
        self.convert(texture, to, conversion, false)
    }

    /// Records the conversion of f32 elements to a texture's texels, of which it writes all.
    pub fn write_texture(
        &mut self,
        texture: &mut Texture,
        from: &Tensor,
        conversion: &TextureConversion,
    ) -> hearth::Result<()> {
        self.convert(texture, from, conversion, true)
    }

    fn convert(
        &mut self,
        texture: &mut Texture,
        tensor: &Tensor,
        conversion: &TextureConversion,
        writes: bool,
    ) -> hearth::Result<()> {
        const GENERAL: u32 = 1; // VK_IMAGE_LAYOUT_GENERAL
        const SHADER_READ_ONLY_OPTIMAL: u32 = 5;
        if texture.is_written != writes {
            return error(
                sys::HEARTH_ERROR_INVALID_ARGUMENT,
                "expected a texture of texture_to_write for writing, and of texture_to_read for \
                 reading",
            );
        }
        // wgpu brings the texture into the layout that it then believes it to have.
        let (state, layout) = if writes {
            (wgpu::TextureUses::STORAGE_WRITE_ONLY, GENERAL)
        } else {
            (wgpu::TextureUses::RESOURCE, SHADER_READ_ONLY_OPTIMAL)
        };
        self.before().transition_resources(
            std::iter::empty(),
            [wgpu::TextureTransition {
                texture: &texture.texture,
                selector: None,
                state,
            }]
            .into_iter(),
        );
        let mut flags = 0;
        if conversion.channels_last {
            flags |= sys::HEARTH_CONVERSION_CHANNELS_LAST;
        }
        if conversion.linear {
            flags |= sys::HEARTH_CONVERSION_FILTER_LINEAR;
        }
        let everything = sys::hearth_sync_scope {
            stages: 0x10000, // ALL_COMMANDS
            access: 0x18000, // MEMORY_READ and MEMORY_WRITE
            queue_family: sys::HEARTH_QUEUE_FAMILY_SAME,
            reserved: 0,
        };
        // SAFETY: the view is of the texture's first level and layer, and the frame's encoder
        // keeps both until the work is done.
        unsafe {
            // One after the other: each holds a lock of wgpu.
            let image = texture
                .texture
                .as_hal::<Api>()
                .map(|image| image.raw_handle());
            let view = texture.view.as_hal::<Api>().map(|view| view.raw_handle());
            let (Some(image), Some(view)) = (image, view) else {
                return no_vulkan();
            };
            let mut info = sys::hearth_image_conversion_info {
                image: image.as_raw(),
                view: view.as_raw(),
                image_width: texture.texture.width(),
                image_height: texture.texture.height(),
                image_layout_before: layout,
                image_acquire_scope: everything,
                image_release_scope: everything,
                tensor_width: conversion.width,
                tensor_height: conversion.height,
                channels: conversion.channels,
                flags,
                ..Default::default()
            };
            // Components that the tensor lacks are 0, and alpha 1.
            for (component, from) in info.swizzle.iter_mut().enumerate() {
                if writes && component as u32 >= conversion.channels {
                    *from = if component == 3 {
                        sys::HEARTH_SWIZZLE_ONE
                    } else {
                        sys::HEARTH_SWIZZLE_ZERO
                    };
                }
            }
            self.keep_texture(&texture.texture, &texture.view);
            texture.converter.record(self, info, tensor.range())
        }
    }
}
