// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::sync::Arc;

use ash::vk::{self, Handle};
use hearth::sys;

use super::{error, no_vulkan, wgpu, Api, Context};

/// A buffer that both wgpu and Hearth use.  Clones are the same buffer.
#[derive(Clone)]
pub struct Tensor {
    buffer: wgpu::Buffer,
    range: hearth::Buffer,
}

impl Tensor {
    /// For wgpu's own passes and copies.
    pub fn buffer(&self) -> &wgpu::Buffer {
        &self.buffer
    }

    /// As an input or output of [`hearth::Model::record`].
    pub fn value(&self) -> hearth::Value<'_> {
        hearth::Value::Buffer(&self.range)
    }

    pub(super) fn range(&self) -> &hearth::Buffer {
        &self.range
    }

    /// # Safety
    /// `raw` is the buffer's handle, created with `usage`.
    pub(crate) unsafe fn of(
        buffer: &wgpu::Buffer,
        raw: vk::Buffer,
        usage: vk::BufferUsageFlags,
    ) -> Tensor {
        let owner = Arc::new(buffer.clone());
        Tensor {
            buffer: buffer.clone(),
            range: hearth::Buffer::from_raw(raw.as_raw(), usage.as_raw(), 0, buffer.size(), owner),
        }
    }
}

/// The usage with which wgpu creates a buffer.
pub(crate) fn vulkan_usage(usage: wgpu::BufferUsages) -> vk::BufferUsageFlags {
    use vk::BufferUsageFlags as To;
    use wgpu::BufferUsages as Of;
    let pairs = [
        (Of::COPY_SRC, To::TRANSFER_SRC),
        (Of::COPY_DST, To::TRANSFER_DST),
        (Of::INDEX, To::INDEX_BUFFER),
        (Of::VERTEX, To::VERTEX_BUFFER),
        (Of::UNIFORM, To::UNIFORM_BUFFER),
        (Of::STORAGE, To::STORAGE_BUFFER),
        (Of::INDIRECT, To::INDIRECT_BUFFER),
    ];
    pairs
        .into_iter()
        .filter(|(of, _)| usage.contains(*of))
        .fold(To::empty(), |all, (_, to)| all | to)
}

impl Context {
    /// Creates a buffer of `byte_count` bytes for wgpu and Hearth, with STORAGE, COPY_SRC and
    /// COPY_DST usage and `usage` in addition.  It has an address where kernels take those, which
    /// wgpu's own buffers lack: Hearth copies those in and out.  Each has memory of its own.
    pub fn create_buffer(
        &self,
        label: &str,
        byte_count: u64,
        usage: wgpu::BufferUsages,
    ) -> hearth::Result<Tensor> {
        let usage = usage
            | wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        if usage.intersects(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::MAP_WRITE) {
            return error(
                sys::HEARTH_ERROR_INVALID_ARGUMENT,
                format!("{label}: expected no MAP usage; copy into a buffer that is mapped"),
            );
        }
        // SAFETY: the device lives; wgpu owns buffer and memory once it has wrapped them.
        unsafe {
            let Some(raw) = self.gpu.as_hal::<Api>() else {
                return no_vulkan();
            };
            let mut flags = vulkan_usage(usage);
            if self.has_addresses {
                flags |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
            }
            let (buffer, memory) =
                allocate(&raw, byte_count, flags, self.has_addresses).or_else(|problem| {
                    error(
                        sys::HEARTH_ERROR_OUT_OF_DEVICE_MEMORY,
                        format!("{label}: {byte_count} bytes: {problem}"),
                    )
                })?;
            let wrapped =
                wgpu::hal::vulkan::Buffer::from_raw_managed(buffer, memory, 0, byte_count);
            let descriptor = wgpu::BufferDescriptor {
                label: Some(label),
                size: byte_count,
                usage,
                mapped_at_creation: false,
            };
            drop(raw);
            let wrapped = self.gpu.create_buffer_from_hal::<Api>(wrapped, &descriptor);
            Ok(Tensor::of(&wrapped, buffer, flags))
        }
    }
}

/// A buffer with memory of the device.
unsafe fn allocate(
    raw: &wgpu::hal::vulkan::Device,
    byte_count: u64,
    usage: vk::BufferUsageFlags,
    has_address: bool,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let device = raw.raw_device();
    let info = vk::BufferCreateInfo::default()
        .size(byte_count)
        .usage(usage);
    let buffer = device.create_buffer(&info, None)?;
    let needs = device.get_buffer_memory_requirements(buffer);
    let types = raw
        .shared_instance()
        .raw_instance()
        .get_physical_device_memory_properties(raw.raw_physical_device());
    let local = types.memory_types[..types.memory_type_count as usize]
        .iter()
        .enumerate()
        .position(|(i, memory_type)| {
            needs.memory_type_bits & (1 << i) != 0
                && memory_type
                    .property_flags
                    .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
        })
        .unwrap_or(needs.memory_type_bits.trailing_zeros() as usize);
    let flags = if has_address {
        vk::MemoryAllocateFlags::DEVICE_ADDRESS
    } else {
        vk::MemoryAllocateFlags::empty()
    };
    let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(flags);
    let info = vk::MemoryAllocateInfo::default()
        .allocation_size(needs.size)
        .memory_type_index(local as u32)
        .push_next(&mut flags);
    let memory = device
        .allocate_memory(&info, None)
        .inspect_err(|_| device.destroy_buffer(buffer, None))?;
    if let Err(problem) = device.bind_buffer_memory(buffer, memory, 0) {
        device.destroy_buffer(buffer, None);
        device.free_memory(memory, None);
        return Err(problem);
    }
    Ok((buffer, memory))
}
