// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::ffi::c_void;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use ash::vk::Handle;
use hearth::sys;

use super::{error, no_vulkan, wgpu, Api};

/// Keeps wgpu's device alive.
struct Owner {
    device: wgpu::Device,
    _queue: wgpu::Queue,
}

impl hearth::Owner for Owner {
    fn wait(&self) {
        // A lost device has no work.
        let _ = self.device.poll(wgpu::PollType::wait_indefinitely());
    }
}

/// Hearth on a wgpu device, which it keeps alive.  Clones are the same device.
#[derive(Clone)]
pub struct Context {
    device: hearth::Device,
    pub(super) adapter: wgpu::Adapter,
    pub(super) gpu: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) has_addresses: bool,
    completed: Arc<AtomicU64>,
}

impl Context {
    /// # Safety
    /// `info` describes `device`.
    pub(super) unsafe fn new(
        info: &sys::hearth_context_create_info,
        adapter: &wgpu::Adapter,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        has_addresses: bool,
    ) -> hearth::Result<Context> {
        let owner = Owner {
            device: device.clone(),
            _queue: queue.clone(),
        };
        Ok(Context {
            device: hearth::Device::adopt(info, Box::new(owner))?,
            adapter: adapter.clone(),
            gpu: device.clone(),
            queue: queue.clone(),
            has_addresses,
            completed: Arc::new(AtomicU64::new(0)),
        })
    }

    /// For loading models and creating agents.
    pub fn device(&self) -> &hearth::Device {
        &self.device
    }

    /// The last frame whose work has finished.
    pub fn completed_frame(&self) -> u64 {
        self.completed.load(Ordering::Acquire)
    }

    /// Takes note of the frames that have finished, between two frames.
    pub fn poll(&self) -> hearth::Result<()> {
        self.poll_wgpu()?;
        // SAFETY: wgpu has said so.
        unsafe { self.device.complete(self.completed_frame()) }
    }

    /// Runs the callbacks that count completed frames.
    fn poll_wgpu(&self) -> hearth::Result<()> {
        self.gpu
            .poll(wgpu::PollType::Poll)
            .map(|_| ())
            .or_else(|problem| {
                error(
                    sys::HEARTH_ERROR_DEVICE_LOST,
                    format!("wgpu cannot be polled: {problem}"),
                )
            })
    }

    /// Begins a frame in a command encoder of its own: wgpu records its commands when an encoder
    /// is finished, and so not in order with raw ones.
    pub fn begin(&self) -> hearth::Result<Frame> {
        self.poll_wgpu()?;
        let label = wgpu::CommandEncoderDescriptor {
            label: Some("hearth"),
        };
        let mut encoder = self.gpu.create_command_encoder(&label);
        // SAFETY: the encoder belongs to the frame, which records nothing but the raw commands and
        // submits it in order; frames count as completed when wgpu says so.
        unsafe {
            let commands = encoder.as_hal_mut::<Api, _, _>(|raw| {
                raw.map(|raw| raw.raw_handle().as_raw() as *mut c_void)
            });
            let Some(commands) = commands else {
                return no_vulkan();
            };
            let recording = self.device.begin_in(commands, self.completed_frame())?;
            Ok(Frame {
                recording,
                number: self.device.frame_number(),
                encoder,
                before: None,
                textures: Vec::new(),
                context: self.clone(),
            })
        }
    }
}

/// A frame that is being recorded, for [`hearth::Model::record`] and [`hearth::Agents::record`].
/// Dropped without [`Frame::submit`] it is discarded.
pub struct Frame {
    // Dropped first: the commands are discarded before their encoder.
    recording: hearth::Frame,
    number: u64,
    encoder: wgpu::CommandEncoder,
    /// Transitions of textures, which wgpu executes before the frame.
    before: Option<wgpu::CommandEncoder>,
    textures: Vec<(wgpu::Texture, wgpu::TextureView)>,
    pub(super) context: Context,
}

impl Frame {
    /// Submits the frame to wgpu's queue, after what was submitted before.
    pub fn submit(self) -> hearth::Result<()> {
        // The recording ends last: until then, no other thread can submit a later frame.
        let before = self.before.map(wgpu::CommandEncoder::finish);
        self.context
            .queue
            .submit(before.into_iter().chain([self.encoder.finish()]));
        let (completed, number) = (self.context.completed.clone(), self.number);
        let textures = self.textures;
        self.context.queue.on_submitted_work_done(move || {
            completed.fetch_max(number, Ordering::AcqRel);
            drop(textures);
        });
        self.recording.finish()
    }

    /// As [`Context::completed_frame`] will report it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Keeps a texture until the frame has completed.
    pub(super) fn keep_texture(&mut self, texture: &wgpu::Texture, view: &wgpu::TextureView) {
        self.textures.push((texture.clone(), view.clone()));
    }

    /// The encoder of wgpu's commands that precede the frame.
    pub(super) fn before(&mut self) -> &mut wgpu::CommandEncoder {
        let gpu = &self.context.gpu;
        self.before.get_or_insert_with(|| {
            gpu.create_command_encoder(&wgpu::CommandEncoderDescriptor {
                label: Some("before hearth"),
            })
        })
    }
}

impl Deref for Frame {
    type Target = hearth::Frame;
    fn deref(&self) -> &hearth::Frame {
        &self.recording
    }
}

impl DerefMut for Frame {
    fn deref_mut(&mut self) -> &mut hearth::Frame {
        &mut self.recording
    }
}
