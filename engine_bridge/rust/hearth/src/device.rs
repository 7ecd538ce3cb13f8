// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::collections::VecDeque;
use std::ffi::c_char;
use std::marker::PhantomData;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::error::{aligned, c_string, check, check_messages, fail, text_of};
use crate::{sys, Agents, AgentsConfig, Buffer, Model, Result};
use crate::{Action, Observation};

/// Objects that the GPU uses, and the frame that uses them last.
struct InFlight {
    frame: u64,
    _buffers: Vec<Buffer>,
}

pub(crate) struct Host {
    /// Null for an adopted device.
    pub(crate) headless: *mut sys::hearth_headless,
    pub(crate) context: *mut sys::hearth_context,
    binding_model: sys::hearth_binding_model,
    frame: u64,
    completed: u64,
    /// Thread of the frame that is being recorded.
    recorder: Option<ThreadId>,
    in_flight: VecDeque<InFlight>,
    /// Keeps an adopted device alive; dropped after the context.
    owner: Option<Box<dyn Owner>>,
}

/// The owner of an adopted device: see [`Device::adopt`].
pub trait Owner: Send {
    /// Waits until all work of the device has finished.
    fn wait(&self);
}

// SAFETY: a host belongs to one thread at a time, that which holds the mutex of the device.
unsafe impl Send for Host {}

impl Host {
    pub(crate) fn error(&self) -> String {
        // SAFETY: host or context live, and their errors are strings.
        unsafe {
            text_of(if self.headless.is_null() {
                sys::hearth_context_error(self.context)
            } else {
                sys::hearth_headless_error(self.headless)
            })
        }
    }

    pub(crate) fn check(&self, code: sys::hearth_result) -> Result<()> {
        if code >= 0 {
            return Ok(());
        }
        fail(code, self.error())
    }

    /// Begins the next frame of an adopted device, and releases what completed frames used.
    ///
    /// # Safety
    /// All work of `completed` has finished.
    unsafe fn begin(&mut self, completed: u64) -> Result<()> {
        // Another thread may have reported a later one, after the caller has looked.
        let completed = completed.clamp(self.completed, self.frame);
        self.check(sys::hearth_begin_frame(
            self.context,
            self.frame + 1,
            completed,
        ))?;
        self.frame += 1;
        self.completed = completed;
        while self.in_flight.front().is_some_and(|f| f.frame <= completed) {
            self.in_flight.pop_front();
        }
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: programs, sessions and agents hold the device, so none is left.
        unsafe {
            if !self.headless.is_null() {
                sys::hearth_headless_destroy(self.headless);
            } else {
                if let Some(owner) = &self.owner {
                    owner.wait();
                }
                sys::hearth_context_destroy(self.context);
            }
        }
    }
}

struct Shared {
    host: Mutex<Host>,
    frame_ended: Condvar,
}

/// A device, which its models and agents keep alive.  Clones are the same device; threads take
/// turns on it.
#[derive(Clone)]
pub struct Device(Arc<Shared>);

impl Device {
    fn of(host: Host) -> Device {
        Device(Arc::new(Shared {
            host: Mutex::new(host),
            frame_ended: Condvar::new(),
        }))
    }

    fn check_version() -> Result<()> {
        // SAFETY: the build info is static.
        unsafe {
            check(sys::hearth_check_version(sys::HEARTH_VERSION), || {
                sys::hearth_build_info()
            })
        }
    }

    /// Creates a device.  `name`: "": the best GPU; "cpu": this machine's CPU, with kernels built
    /// by the system's C compiler; digits: an index of [`Device::names`]; else a part of a name.
    pub fn new(name: &str) -> Result<Device> {
        Self::check_version()?;
        let name = c_string(name)?;
        let mut messages = sys::hearth_messages::default();
        let mut headless = null_mut();
        // SAFETY: all pointers are valid during the calls.
        let context = unsafe {
            check_messages(
                sys::hearth_headless_create(name.as_ptr(), 0, &mut headless, &mut messages),
                &messages,
            )?;
            sys::hearth_headless_context(headless)
        };
        Ok(Self::of(Host {
            headless,
            context,
            binding_model: sys::HEARTH_BINDING_DEVICE_ADDRESS,
            frame: 0,
            completed: 0,
            recorder: None,
            in_flight: VecDeque::new(),
            owner: None,
        }))
    }

    /// Adopts a game's Vulkan device, for bridges to engines such as `hearth-wgpu`.  The last clone
    /// of the device waits for the owner's work, destroys the context and drops the owner.
    ///
    /// # Safety
    /// `info` describes a device as it was created, with the features and extensions that were
    /// enabled and no others; the device lives until `owner` is dropped.
    pub unsafe fn adopt(
        info: &sys::hearth_context_create_info,
        owner: Box<dyn Owner>,
    ) -> Result<Device> {
        Self::check_version()?;
        let mut messages = sys::hearth_messages::default();
        let mut context = null_mut();
        check_messages(
            sys::hearth_context_create(info, &mut context, &mut messages),
            &messages,
        )?;
        Ok(Self::of(Host {
            headless: null_mut(),
            context,
            binding_model: info.binding_model,
            frame: 0,
            completed: 0,
            recorder: None,
            in_flight: VecDeque::new(),
            owner: Some(owner),
        }))
    }

    /// The names of the Vulkan devices, in Vulkan's order.
    pub fn names() -> Result<Vec<String>> {
        let mut names = [[0; 256]; 16];
        let mut count = names.len() as u32;
        let mut messages = sys::hearth_messages::default();
        // SAFETY: as many names are written as there are elements, and each ends with a zero.
        unsafe {
            check_messages(
                sys::hearth_headless_devices(names.as_mut_ptr(), &mut count, &mut messages),
                &messages,
            )?;
            Ok(names
                .iter()
                .take(count as usize)
                .map(|name| text_of(name.as_ptr()))
                .collect())
        }
    }

    /// The driver's name of the device.
    pub fn name(&self) -> String {
        let mut caps = sys::hearth_device_caps::default();
        let host = self.lock();
        // SAFETY: the context lives, and the name ends with a zero.
        unsafe {
            if !host.headless.is_null() {
                return text_of(sys::hearth_headless_device(host.headless));
            }
            sys::hearth_context_get_device_caps(host.context, &mut caps);
            text_of(caps.name.as_ptr())
        }
    }

    /// The device target for packages: "device" if this machine compiles for itself, else that of
    /// the adopted device's kind of bindings.
    pub(crate) fn target(&self) -> &'static str {
        let host = self.lock();
        if !host.headless.is_null() {
            "device"
        } else if host.binding_model == sys::HEARTH_BINDING_PUSH_DESCRIPTOR {
            "descriptors"
        } else {
            "baseline"
        }
    }

    /// True if the device was adopted with kernels that take push descriptors.
    pub fn uses_descriptors(&self) -> bool {
        self.lock().binding_model == sys::HEARTH_BINDING_PUSH_DESCRIPTOR
    }

    /// Loads a package (`.hearth`).  Its bytes are not needed afterwards.
    pub fn load(&self, package: &[u8]) -> Result<Model> {
        Model::new(self, package)
    }

    /// Compiles a package again for this device, from its graphs and weights.
    pub fn cook(&self, package: &[u8]) -> Result<Vec<u8>> {
        let options = format!("{{\"device_targets\": [\"{}\"]}}", self.target());
        self.compile(&options, |options, host, blob, messages| {
            // SAFETY: all pointers are valid during the call; packages may have any alignment.
            unsafe {
                let (bytes, count) = (package.as_ptr().cast(), package.len() as u64);
                sys::hearth_cook_package(bytes, count, options, host, blob, messages)
            }
        })
    }

    /// Returns the bytes that a compiler of the workbench makes with JSON options.
    pub(crate) fn compile(
        &self,
        options: &str,
        cook: impl FnOnce(
            *const c_char,
            *mut sys::hearth_headless,
            *mut *mut sys::hearth_blob,
            *mut sys::hearth_messages,
        ) -> sys::hearth_result,
    ) -> Result<Vec<u8>> {
        let options = c_string(options)?;
        let mut blob = null_mut();
        let mut messages = sys::hearth_messages::default();
        let host = self.lock();
        let result = cook(options.as_ptr(), host.headless, &mut blob, &mut messages);
        check_messages(result, &messages)?;
        // SAFETY: the blob's bytes live until it is destroyed.
        unsafe {
            let bytes = std::slice::from_raw_parts(
                sys::hearth_blob_data(blob).cast::<u8>(),
                sys::hearth_blob_bytes(blob) as usize,
            )
            .to_vec();
            sys::hearth_blob_destroy(blob);
            Ok(bytes)
        }
    }

    /// Compiles agents for this device and creates them.  Takes seconds: a game ships the package
    /// of [`AgentsConfig::cook`] and calls [`Device::load_agents`].
    pub fn agents<O: Observation, A: Action>(&self, config: &AgentsConfig) -> Result<Agents<O, A>> {
        self.load_agents(&config.cook::<O, A>(self)?)
    }

    /// Creates the agents of a package.  Their observations and actions must be those of `O` and
    /// `A`, by name and size.
    pub fn load_agents<O: Observation, A: Action>(&self, package: &[u8]) -> Result<Agents<O, A>> {
        Agents::new(self, package)
    }

    /// Begins a frame on a device of [`Device::new`].  Waits while other threads record one.
    pub fn begin(&self) -> Result<Frame> {
        let host = self.claim()?;
        if host.headless.is_null() {
            return fail(
                sys::HEARTH_ERROR_INVALID_STATE,
                "this device is the game's: begin a frame of the bridge that adopted it",
            );
        }
        let mut commands = null_mut();
        // SAFETY: the host lives.
        host.check(unsafe { sys::hearth_headless_begin(host.headless, &mut commands) })?;
        Ok(self.frame_of(host, commands))
    }

    /// Begins a frame of an adopted device, recorded into the game's command buffer.  `completed`
    /// is the last frame whose work has finished.  Waits while other threads record one.
    ///
    /// # Safety
    /// `commands` is recording, outside a render pass, and of the queue family of the context;
    /// after [`Frame::finish`] it is submitted, in the order of the frames, and nothing else is
    /// recorded into it meanwhile.  All work of `completed` has finished.
    pub unsafe fn begin_in(&self, commands: sys::VkCommandBuffer, completed: u64) -> Result<Frame> {
        let mut host = self.claim()?;
        host.begin(completed)?;
        Ok(self.frame_of(host, commands))
    }

    /// Reports a frame of an adopted device as completed, between two frames, so that what it read
    /// back can be used.
    ///
    /// # Safety
    /// All work of `completed` has finished.
    pub unsafe fn complete(&self, completed: u64) -> Result<()> {
        self.claim()?.begin(completed) // no work belongs to it
    }

    /// Number of the last frame that was begun with [`Device::begin_in`].
    pub fn frame_number(&self) -> u64 {
        self.lock().frame
    }

    /// Reports that the game saw `VK_ERROR_DEVICE_LOST`: later calls fail without calling Vulkan.
    pub fn notify_lost(&self) {
        // SAFETY: the context lives.
        unsafe { sys::hearth_context_notify_device_lost(self.lock().context) };
    }

    fn claim(&self) -> Result<MutexGuard<'_, Host>> {
        let mut host = self.lock();
        while let Some(recorder) = host.recorder {
            if recorder == std::thread::current().id() {
                return fail(
                    sys::HEARTH_ERROR_INVALID_STATE,
                    "this thread records a frame of this device already: submit or drop it first",
                );
            }
            host = self
                .0
                .frame_ended
                .wait(host)
                .unwrap_or_else(PoisonError::into_inner);
        }
        Ok(host)
    }

    fn frame_of(&self, mut host: MutexGuard<'_, Host>, commands: sys::VkCommandBuffer) -> Frame {
        host.recorder = Some(std::thread::current().id());
        Frame {
            number: host.frame,
            device: self.clone(),
            commands,
            buffers: Vec::new(),
            is_open: true,
            _of_one_thread: PhantomData,
        }
    }

    pub(crate) fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Host> {
        // A thread that panicked was in no call of the library.
        self.0.host.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `record` in a frame, submits it and waits.
    pub(crate) fn run(&self, record: impl FnOnce(&mut Frame) -> Result<()>) -> Result<()> {
        let mut frame = self.begin()?;
        record(&mut frame)?;
        frame.submit()
    }
}

/// A frame that is being recorded.  Owns its begin and its end: a frame that is dropped without
/// [`Frame::submit`] or [`Frame::finish`] is discarded, as if nothing had been recorded.  A frame
/// stays on its thread.
///
/// ```compile_fail,E0277
/// fn sent(frame: hearth::Frame) -> impl Send { frame }
/// ```
pub struct Frame {
    device: Device,
    number: u64,
    pub(crate) commands: sys::VkCommandBuffer,
    buffers: Vec<Buffer>,
    is_open: bool,
    _of_one_thread: PhantomData<*const ()>,
}

impl Frame {
    /// Submits the frame of a device of [`Device::new`], and waits for it.
    pub fn submit(mut self) -> Result<()> {
        let host = self.device.lock();
        if host.headless.is_null() {
            return fail(
                sys::HEARTH_ERROR_INVALID_STATE,
                "this device is the game's: submit the frame of the bridge that adopted it",
            );
        }
        // SAFETY: the host lives, and this frame is its own.
        let result = host.check(unsafe { sys::hearth_headless_submit(host.headless) });
        drop(host);
        self.is_open = result.is_err();
        result
    }

    /// Ends recording into the game's command buffer, which is submitted next.  What the frame
    /// uses lives until a later [`Device::begin_in`] reports it as completed.
    pub fn finish(mut self) -> Result<()> {
        let buffers = std::mem::take(&mut self.buffers);
        let frame = self.number;
        let mut host = self.device.lock();
        if !host.headless.is_null() {
            return fail(
                sys::HEARTH_ERROR_INVALID_STATE,
                "this device is Hearth's own: call submit",
            );
        }
        host.in_flight.push_back(InFlight {
            frame,
            _buffers: buffers,
        });
        drop(host);
        self.is_open = false;
        Ok(())
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Fails for objects of other devices.
    pub(crate) fn check_device(&self, device: &Device) -> Result<()> {
        if self.device.is(device) {
            return Ok(());
        }
        fail(
            sys::HEARTH_ERROR_INVALID_ARGUMENT,
            "the frame is of another device; record in frames of the device of the load",
        )
    }

    pub(crate) fn keep(&mut self, buffer: &Buffer) {
        self.buffers.push(buffer.clone());
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let mut host = self.device.lock();
        // SAFETY: the context lives; nothing of this frame was submitted.
        unsafe {
            if self.is_open && !host.headless.is_null() {
                sys::hearth_headless_discard(host.headless);
            } else if self.is_open {
                sys::hearth_discard_frame(host.context, self.number, null_mut());
            }
        }
        host.recorder = None;
        drop(host);
        self.device.0.frame_ended.notify_all();
    }
}

/// A loaded program, which keeps its device alive.
pub(crate) struct Program {
    pub(crate) device: Device,
    pub(crate) raw: *mut sys::hearth_program,
}

impl Program {
    pub(crate) fn new(device: &Device, package: &[u8]) -> Result<Program> {
        let host = device.lock();
        let words = aligned(package);
        let mut raw = null_mut();
        // SAFETY: host and words live.
        let result = unsafe {
            if host.headless.is_null() {
                let info = sys::hearth_package_load_info {
                    bytes: words.as_ptr().cast(),
                    byte_count: package.len() as u64,
                    ..Default::default()
                };
                sys::hearth_package_load(host.context, &info, &mut raw)
            } else {
                let (bytes, count) = (words.as_ptr().cast(), package.len() as u64);
                sys::hearth_headless_load_package(host.headless, bytes, count, null(), 0, &mut raw)
            }
        };
        host.check(result)?;
        Ok(Program {
            device: device.clone(),
            raw,
        })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _host = self.device.lock();
        // SAFETY: sessions keep what they need of it.
        unsafe { sys::hearth_program_destroy(self.raw) };
    }
}
