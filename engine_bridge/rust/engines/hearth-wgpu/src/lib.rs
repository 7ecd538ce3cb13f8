// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Hearth on wgpu's Vulkan device: networks read and write the game's buffers and textures, and
//! agents learn, without a second device.
//!
//! One module for each supported version of wgpu, with the same contents: [`v30`] with the feature
//! `wgpu30`, the default, and `v29` (of Bevy 0.19) with `wgpu29`.
//!
//! ```no_run
//! use hearth_wgpu::v30::{wgpu, Setup};
//!
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
//! let adapter = instance.request_adapter(&Default::default()).await?;
//! let setup = Setup::new();
//! let (device, queue) = setup.open(&adapter, &Default::default())?;
//! let hearth = setup.adopt(&adapter, &device, &queue)?;
//! let mut model = hearth.device().load(&std::fs::read("line.hearth")?)?;
//! let y = hearth.create_buffer("y", 16, wgpu::BufferUsages::COPY_SRC)?;
//! // Each frame:
//! let mut frame = hearth.begin()?;
//! let x = [0.5, 0.25, 0.0, 1.0];
//! model.record(&mut frame, "act", &[("x", hearth::Value::F32(&x)), ("y", y.value())], 1)?;
//! frame.submit()?; // y.buffer() is a wgpu::Buffer
//! # Ok(())
//! # }
//! ```

#[cfg(feature = "wgpu29")]
pub mod v29;
#[cfg(feature = "wgpu30")]
pub mod v30;
