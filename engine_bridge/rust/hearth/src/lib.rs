// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! Neural networks that run and learn, on a device of their own.
//!
//! ```no_run
//! # fn main() -> hearth::Result<()> {
//! let device = hearth::Device::new("")?;
//! let mut model = device.load(&std::fs::read("line.hearth").unwrap())?;
//! let outputs = model.run("learn", &[("x", &[0.5]), ("target", &[1.0])], 1)?;
//! println!("loss {}", outputs["loss"][0]);
//! std::fs::write("line.brain", model.save()?).unwrap();
//! # Ok(())
//! # }
//! ```
//!
//! Games with a Vulkan device of their own call [`sys`], which is `hearth.h` as it is in C.

use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::fmt;
use std::ptr::{null, null_mut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use hearth_sys as sys;

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// `HEARTH_ERROR_...` of [`sys`].
    pub code: sys::hearth_result,
    /// What was expected, what was found and what to do.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: the names are static.
        let name = unsafe { text_of(sys::hearth_result_name(self.code)) };
        write!(f, "{} ({name})", self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// # Safety
/// `text` is null or a string that lives during the call.
unsafe fn text_of(text: *const std::ffi::c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    CStr::from_ptr(text).to_string_lossy().into_owned()
}

fn fail<T>(code: sys::hearth_result, message: impl Into<String>) -> Result<T> {
    Err(Error {
        code,
        message: message.into(),
    })
}

/// # Safety
/// `message` returns null or a string that lives during the call.
unsafe fn check(
    code: sys::hearth_result,
    message: impl FnOnce() -> *const std::ffi::c_char,
) -> Result<()> {
    if code >= 0 {
        return Ok(());
    }
    fail(code, text_of(message()))
}

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).or_else(|_| {
        fail(
            sys::HEARTH_ERROR_INVALID_ARGUMENT,
            format!("{text:?} contains a zero, expected none"),
        )
    })
}

/// Copies bytes to the alignment of 8 bytes that packages and brains need.
fn aligned(bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect()
}

struct Host(*mut sys::hearth_headless);

// SAFETY: a host belongs to one thread at a time, that which holds the mutex of the device.
unsafe impl Send for Host {}

impl Host {
    fn context(&self) -> *mut sys::hearth_context {
        // SAFETY: the host lives.
        unsafe { sys::hearth_headless_context(self.0) }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        // SAFETY: models hold the device, so none is left.
        unsafe { sys::hearth_headless_destroy(self.0) };
    }
}

/// A device, which its models keep alive.  Clones are the same device; threads take turns on it.
#[derive(Clone)]
pub struct Device(Arc<Mutex<Host>>);

impl Device {
    /// `name`: "": the best GPU; "cpu": this machine's CPU, with kernels built by the system's C
    /// compiler; digits: an index of [`Device::names`]; else a part of a name.
    pub fn new(name: &str) -> Result<Device> {
        let name = c_string(name)?;
        let mut messages = sys::hearth_messages::default();
        let mut host = null_mut();
        // SAFETY: all pointers are valid during the calls.
        unsafe {
            check(sys::hearth_check_version(sys::HEARTH_VERSION), || {
                sys::hearth_build_info()
            })?;
            check(
                sys::hearth_headless_create(name.as_ptr(), 0, &mut host, &mut messages),
                || messages.text.as_ptr(),
            )?;
        }
        Ok(Device(Arc::new(Mutex::new(Host(host)))))
    }

    /// The names of the Vulkan devices, in Vulkan's order.
    pub fn names() -> Result<Vec<String>> {
        let mut names = [[0; 256]; 16];
        let mut count = names.len() as u32;
        let mut messages = sys::hearth_messages::default();
        // SAFETY: as many names are written as there are elements.
        unsafe {
            check(
                sys::hearth_headless_devices(names.as_mut_ptr(), &mut count, &mut messages),
                || messages.text.as_ptr(),
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
        // SAFETY: the host lives.
        unsafe { text_of(sys::hearth_headless_device(self.lock().0)) }
    }

    /// Loads a package (`.hearth`).  Its bytes are not needed afterwards.
    pub fn load(&self, package: &[u8]) -> Result<Model> {
        let host = self.lock();
        let words = aligned(package);
        // From here on the model destroys what was created.
        let mut model = Model {
            device: self.clone(),
            program: null_mut(),
            session: null_mut(),
            buffers: HashMap::new(),
            needs_initialize: true,
        };
        let created = model.create(&host, &words, package.len());
        drop(host); // the model's destructor locks it
        created.map(|()| model)
    }

    fn lock(&self) -> MutexGuard<'_, Host> {
        // A thread that panicked was in no call of the library.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An input or output of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    pub name: String,
    pub is_output: bool,
    /// Extents; those that depend on the batch size are negative multiples of it.
    pub shape: Vec<i64>,
    index: u32,
    dtype: sys::hearth_dtype,
    bytes_fixed: u64,
    bytes_per_item: u64,
}

impl Binding {
    fn byte_count(&self, batch_size: u64) -> u64 {
        self.bytes_fixed + self.bytes_per_item * batch_size
    }
}

/// A package on a device, with its variables.  `Send`, and not `Sync`: one thread at a time.
pub struct Model {
    device: Device,
    program: *mut sys::hearth_program,
    session: *mut sys::hearth_session,
    buffers: HashMap<u32, sys::hearth_headless_buffer>,
    needs_initialize: bool,
}

// SAFETY: program and session belong to the thread that holds the device's mutex.
unsafe impl Send for Model {}

impl Model {
    fn create(&mut self, host: &Host, words: &[u64], byte_count: usize) -> Result<()> {
        // SAFETY: host and words live; the out pointers are fields of the model.
        unsafe {
            check(
                sys::hearth_headless_load_package(
                    host.0,
                    words.as_ptr().cast(),
                    byte_count as u64,
                    null(),
                    0,
                    &mut self.program,
                ),
                || sys::hearth_headless_error(host.0),
            )?;
            // Saving and loading copy all variables at once.
            let room = sys::hearth_program_get_brain_size(self.program) + (1 << 20);
            let info = sys::hearth_session_create_info {
                program: self.program,
                upload_bytes: room,
                readback_bytes: room,
                ..Default::default()
            };
            check(
                sys::hearth_session_create(host.context(), &info, &mut self.session),
                || sys::hearth_context_error(host.context()),
            )?;
            check(
                sys::hearth_session_create_pipelines(self.session, 0),
                || sys::hearth_session_error(self.session),
            )
        }
    }

    /// Inputs and outputs of an entry.
    pub fn bindings(&self, entry: &str) -> Result<Vec<Binding>> {
        let _host = self.device.lock();
        Ok(self.find_entry(entry)?.1)
    }

    fn find_entry(&self, name: &str) -> Result<(u32, Vec<Binding>)> {
        let name = c_string(name)?;
        let mut index = 0;
        let mut entry = sys::hearth_entry_info::default();
        // SAFETY: the program lives, and with it the arrays and strings of its descriptions.
        unsafe {
            let error = || sys::hearth_program_error(self.program);
            check(
                sys::hearth_program_find_entry(self.program, name.as_ptr(), &mut index),
                error,
            )?;
            check(
                sys::hearth_program_get_entry(self.program, index, &mut entry),
                error,
            )?;
            let mut bindings = Vec::new();
            for i in 0..entry.binding_count as usize {
                let index = *entry.bindings.add(i);
                let mut info = sys::hearth_binding_info::default();
                check(
                    sys::hearth_program_get_binding(self.program, index, &mut info),
                    error,
                )?;
                let dims = &info.dims[..info.rank as usize];
                bindings.push(Binding {
                    name: text_of(info.name),
                    is_output: info.is_output != 0,
                    shape: dims
                        .iter()
                        .map(|dim| {
                            if dim.is_batch != 0 {
                                -dim.count
                            } else {
                                dim.count
                            }
                        })
                        .collect(),
                    index,
                    dtype: info.device_dtype,
                    bytes_fixed: info.bytes_fixed,
                    bytes_per_item: info.bytes_per_item,
                });
            }
            Ok((index, bindings))
        }
    }

    /// Runs an entry, learning ones included, and waits for it.  Inputs and outputs are f32, by
    /// name.
    pub fn run(
        &mut self,
        entry: &str,
        inputs: &[(&str, &[f32])],
        batch_size: u64,
    ) -> Result<HashMap<String, Vec<f32>>> {
        let device = self.device.clone();
        let host = device.lock();
        let (index, bindings) = self.find_entry(entry)?;
        if let Some((name, _)) = inputs
            .iter()
            .find(|(name, _)| !bindings.iter().any(|b| !b.is_output && b.name == *name))
        {
            let names: Vec<_> = bindings
                .iter()
                .filter(|b| !b.is_output)
                .map(|b| b.name.as_str())
                .collect();
            return fail(
                sys::HEARTH_ERROR_NOT_FOUND,
                format!(
                    "{entry} has no input {name}; there are: {}",
                    names.join(", ")
                ),
            );
        }
        let mut bound = Vec::new();
        for binding in &bindings {
            bound.push(self.bind(&host, binding, inputs, batch_size)?);
        }
        let mut info = sys::hearth_record_info {
            entry: index,
            bindings: bound.as_ptr(),
            binding_count: bound.len() as u32,
            batch_size,
            ..Default::default()
        };
        self.frame(&host, |session, commands| {
            info.command_buffer = commands;
            // SAFETY: the bindings live until the frame is done.
            unsafe { sys::hearth_record(session, &info, null_mut()) }
        })?;
        let outputs = bindings
            .iter()
            .filter(|binding| binding.is_output)
            .map(|binding| {
                let count = binding.byte_count(batch_size) as usize / 4;
                // SAFETY: the buffer has at least these bytes, and the device is done with it.
                let values = unsafe {
                    std::slice::from_raw_parts(
                        self.buffers[&binding.index].data.cast::<f32>(),
                        count,
                    )
                };
                (binding.name.clone(), values.to_vec())
            });
        Ok(outputs.collect())
    }

    /// Gives the binding a buffer, and an input its values.
    fn bind(
        &mut self,
        host: &Host,
        binding: &Binding,
        inputs: &[(&str, &[f32])],
        batch_size: u64,
    ) -> Result<sys::hearth_tensor_binding> {
        if binding.dtype != sys::HEARTH_F32 {
            return fail(
                sys::HEARTH_ERROR_UNSUPPORTED,
                format!(
                    "{} is no f32, which is what this function passes",
                    binding.name
                ),
            );
        }
        let byte_count = binding.byte_count(batch_size);
        let buffer = self.buffers.entry(binding.index).or_default();
        // SAFETY: the host lives, and the buffer is in no use: each frame waits for the device.
        unsafe {
            if buffer.bytes < byte_count {
                if buffer.buffer != 0 {
                    sys::hearth_headless_buffer_destroy(host.0, buffer);
                    *buffer = Default::default();
                }
                check(
                    sys::hearth_headless_buffer_create(
                        host.0,
                        byte_count,
                        sys::HEARTH_HEADLESS_READBACK,
                        buffer,
                    ),
                    || sys::hearth_headless_error(host.0),
                )?;
            }
            if !binding.is_output {
                let values = inputs.iter().find(|(name, _)| *name == binding.name);
                let found = values.map_or(0, |(_, values)| values.len());
                if found as u64 * 4 != byte_count {
                    return fail(
                        sys::HEARTH_ERROR_OUT_OF_RANGE,
                        format!(
                            "{}: expected {} values, found {found}",
                            binding.name,
                            byte_count / 4
                        ),
                    );
                }
                if let Some((_, values)) = values {
                    buffer
                        .data
                        .cast::<f32>()
                        .copy_from_nonoverlapping(values.as_ptr(), found);
                }
            }
        }
        let same_family = sys::hearth_sync_scope {
            queue_family: sys::HEARTH_QUEUE_FAMILY_SAME,
            ..Default::default()
        };
        Ok(sys::hearth_tensor_binding {
            binding: binding.index,
            usage: buffer.usage,
            buffer: buffer.buffer,
            bytes: byte_count,
            acquire_scope: same_family,
            // The host stage reads (VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT).
            release_scope: sys::hearth_sync_scope {
                stages: 0x4000,
                access: 0x2000,
                ..same_family
            },
            ..Default::default()
        })
    }

    /// Submits what `record` records, and waits.
    fn frame(
        &mut self,
        host: &Host,
        record: impl FnOnce(*mut sys::hearth_session, sys::VkCommandBuffer) -> sys::hearth_result,
    ) -> Result<()> {
        let mut commands = null_mut();
        // SAFETY: host and session live; the caller holds the device's mutex.
        unsafe {
            let host_error = || sys::hearth_headless_error(host.0);
            check(
                sys::hearth_headless_begin(host.0, &mut commands),
                host_error,
            )?;
            let mut result = sys::HEARTH_OK;
            if self.needs_initialize {
                result = sys::hearth_record_initialize(self.session, commands);
            }
            if result == sys::HEARTH_OK {
                result = record(self.session, commands);
            }
            if result < 0 {
                let error = text_of(sys::hearth_session_error(self.session));
                sys::hearth_headless_discard(host.0);
                return fail(result, error);
            }
            check(sys::hearth_headless_submit(host.0), host_error)?;
        }
        self.needs_initialize = false;
        Ok(())
    }

    /// What was learned, as a brain for [`Model::load`].
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let device = self.device.clone();
        let host = device.lock();
        let mut readback = 0;
        self.frame(&host, |session, commands| {
            // SAFETY: the session lives.
            unsafe { sys::hearth_record_save_brain(session, commands, &mut readback) }
        })?;
        let mut info = sys::hearth_brain_save_info::default();
        let mut frame_number = 0;
        let mut byte_count = 0;
        // SAFETY: the snapshot lives until it is released, and `brain` has as many bytes as told.
        unsafe {
            let error = || sys::hearth_session_error(self.session);
            check(
                sys::hearth_readback_poll(
                    self.session,
                    readback,
                    &mut info.snapshot,
                    &mut info.snapshot_bytes,
                    &mut frame_number,
                ),
                error,
            )?;
            let mut result =
                sys::hearth_brain_encode(self.program, &info, null_mut(), &mut byte_count);
            let mut brain = vec![0; byte_count as usize];
            if result == sys::HEARTH_OK {
                result = sys::hearth_brain_encode(
                    self.program,
                    &info,
                    brain.as_mut_ptr().cast(),
                    &mut byte_count,
                );
            }
            sys::hearth_readback_release(self.session, readback);
            if result < 0 {
                return fail(
                    result,
                    "the brain cannot be encoded; reset the model, or load a brain",
                );
            }
            brain.truncate(byte_count as usize);
            Ok(brain)
        }
    }

    /// Returns to what [`Model::save`] returned, on any device.
    pub fn load(&mut self, brain: &[u8]) -> Result<()> {
        let device = self.device.clone();
        let host = device.lock();
        let words = aligned(brain);
        let mut messages = sys::hearth_messages::default();
        let loaded = self.frame(&host, |session, commands| {
            // SAFETY: the words live during the call.
            unsafe {
                sys::hearth_record_load_brain(
                    session,
                    commands,
                    words.as_ptr().cast(),
                    brain.len() as u64,
                    0,
                    &mut messages,
                )
            }
        });
        loaded.map_err(|mut error| {
            if messages.message_count > 0 {
                // SAFETY: the text ends with a zero.
                error.message = unsafe { text_of(messages.text.as_ptr()) };
            }
            error
        })
    }

    /// Forgets what was learned.
    pub fn reset(&mut self) -> Result<()> {
        let device = self.device.clone();
        let host = device.lock();
        self.frame(&host, |session, commands| {
            // SAFETY: the session lives; null: all variables.
            unsafe { sys::hearth_record_reset_variables(session, commands, null(), null_mut()) }
        })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let host = self.device.lock();
        // SAFETY: each frame waits for the device, so nothing is in use.
        unsafe {
            for buffer in self.buffers.values().filter(|buffer| buffer.buffer != 0) {
                sys::hearth_headless_buffer_destroy(host.0, buffer);
            }
            sys::hearth_session_destroy(self.session);
            sys::hearth_program_destroy(self.program);
        }
    }
}
