// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

use std::any::Any;
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::Arc;

use crate::device::{Host, Program};
use crate::error::{aligned, c_string, check, fail, text_of};
use crate::{sys, Device, Frame, Result};

/// `VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT`, and memory reads and writes.
const EVERYTHING: sys::hearth_sync_scope = sys::hearth_sync_scope {
    stages: 0x10000,
    access: 0x18000,
    queue_family: sys::HEARTH_QUEUE_FAMILY_SAME,
    reserved: 0,
};

/// A range of a Vulkan buffer of the game, for [`Value::Buffer`].  Clones are the same range.
#[derive(Clone)]
pub struct Buffer {
    raw: sys::VkBuffer,
    usage: u32,
    offset: u64,
    byte_count: u64,
    _owner: Arc<dyn Any + Send + Sync>,
}

impl Buffer {
    /// For bridges to engines.  `usage`: the `VkBufferUsageFlags` that the buffer was created with.
    ///
    /// # Safety
    /// The buffer is of the device that the frames are recorded for, was created with `usage`, has
    /// the bytes from `offset` on, and lives until `owner` is dropped.
    pub unsafe fn from_raw(
        raw: sys::VkBuffer,
        usage: u32,
        offset: u64,
        byte_count: u64,
        owner: Arc<dyn Any + Send + Sync>,
    ) -> Buffer {
        Buffer {
            raw,
            usage,
            offset,
            byte_count,
            _owner: owner,
        }
    }

    pub fn byte_count(&self) -> u64 {
        self.byte_count
    }

    /// All bytes, as a tensor that other commands of the game may use before and after.
    pub(crate) fn binding(&self) -> sys::hearth_tensor_binding {
        sys::hearth_tensor_binding {
            usage: self.usage,
            buffer: self.raw,
            offset: self.offset,
            bytes: self.byte_count,
            acquire_scope: EVERYTHING,
            release_scope: EVERYTHING,
            ..Default::default()
        }
    }
}

/// An input or output of [`Model::record`].
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// An input by value, copied during the call.
    F32(&'a [f32]),
    /// An input or output in the game's memory, with elements of the binding's type.
    Buffer(&'a Buffer),
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
    pub fn byte_count(&self, batch_size: u64) -> u64 {
        self.bytes_fixed + self.bytes_per_item * batch_size
    }

    fn check_f32(&self) -> Result<()> {
        if self.dtype == sys::HEARTH_F32 {
            return Ok(());
        }
        fail(
            sys::HEARTH_ERROR_UNSUPPORTED,
            format!(
                "{} is no f32, which is what this function passes",
                self.name
            ),
        )
    }

    fn check_count(&self, found: usize, batch_size: u64) -> Result<()> {
        let expected = self.byte_count(batch_size) / 4;
        if found as u64 == expected {
            return Ok(());
        }
        fail(
            sys::HEARTH_ERROR_OUT_OF_RANGE,
            format!("{}: expected {expected} values, found {found}", self.name),
        )
    }
}

fn check_names<'a>(
    entry: &str,
    kind: &str,
    given: impl Iterator<Item = &'a str>,
    bindings: &[&Binding],
) -> Result<()> {
    for name in given {
        if !bindings.iter().any(|binding| binding.name == name) {
            let names: Vec<_> = bindings.iter().map(|b| b.name.as_str()).collect();
            return fail(
                sys::HEARTH_ERROR_NOT_FOUND,
                format!(
                    "{entry} has no {kind} {name}; there are: {}",
                    names.join(", ")
                ),
            );
        }
    }
    Ok(())
}

/// A brain that is on its way from the device: see [`Model::record_save`].
pub struct PendingSave(sys::hearth_readback);

/// A package on a device, with its variables.
///
/// `Send`, and not `Sync`: one thread at a time.
///
/// ```
/// fn moved(model: hearth::Model) -> impl Send { model }
/// ```
/// ```compile_fail,E0277
/// fn shared(model: &hearth::Model) -> impl Send + '_ { model }
/// ```
pub struct Model {
    program: Program,
    session: *mut sys::hearth_session,
    buffers: HashMap<u32, sys::hearth_headless_buffer>,
}

// SAFETY: session and buffers belong to the thread that holds the device's mutex.
unsafe impl Send for Model {}

impl Model {
    pub(crate) fn new(device: &Device, package: &[u8]) -> Result<Model> {
        // From here on the model destroys what was created.
        let mut model = Model {
            program: Program::new(device, package)?,
            session: null_mut(),
            buffers: HashMap::new(),
        };
        let host = device.lock();
        let created = model.create(&host);
        drop(host); // the model's destructor locks it
        created.map(|()| model)
    }

    fn create(&mut self, host: &Host) -> Result<()> {
        // SAFETY: program and context live; the out pointer is a field of the model.
        unsafe {
            // Saving and loading copy all variables at once.
            let room = sys::hearth_program_get_brain_size(self.program.raw) + (1 << 20);
            let info = sys::hearth_session_create_info {
                program: self.program.raw,
                flags: sys::HEARTH_SESSION_ALLOW_STAGING_COPIES,
                upload_bytes: room,
                readback_bytes: room,
                ..Default::default()
            };
            check(
                sys::hearth_session_create(host.context, &info, &mut self.session),
                || sys::hearth_context_error(host.context),
            )?;
            check(
                sys::hearth_session_create_pipelines(self.session, 0),
                || sys::hearth_session_error(self.session),
            )
        }
    }

    fn check(&self, result: sys::hearth_result) -> Result<()> {
        // SAFETY: the session lives, and its error is a string.
        unsafe { check(result, || sys::hearth_session_error(self.session)) }
    }

    /// Inputs and outputs of an entry.
    pub fn bindings(&self, entry: &str) -> Result<Vec<Binding>> {
        Ok(self.find_entry(entry)?.1)
    }

    fn find_entry(&self, name: &str) -> Result<(u32, Vec<Binding>)> {
        let name = c_string(name)?;
        let mut index = 0;
        let mut entry = sys::hearth_entry_info::default();
        // SAFETY: the program lives, and with it the arrays and strings of its descriptions.
        unsafe {
            let program = self.program.raw;
            let error = || sys::hearth_program_error(program);
            check(
                sys::hearth_program_find_entry(program, name.as_ptr(), &mut index),
                error,
            )?;
            check(
                sys::hearth_program_get_entry(program, index, &mut entry),
                error,
            )?;
            let mut bindings = Vec::new();
            for i in 0..entry.binding_count as usize {
                let index = *entry.bindings.add(i);
                let mut info = sys::hearth_binding_info::default();
                check(
                    sys::hearth_program_get_binding(program, index, &mut info),
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

    /// The names of the entries.
    pub fn entries(&self) -> Result<Vec<String>> {
        let mut info = sys::hearth_program_info::default();
        let mut entry = sys::hearth_entry_info::default();
        let program = self.program.raw;
        // SAFETY: the program lives, and with it the names of its entries.
        unsafe {
            let error = || sys::hearth_program_error(program);
            check(sys::hearth_program_get_info(program, &mut info), error)?;
            (0..info.entry_count)
                .map(|i| {
                    check(sys::hearth_program_get_entry(program, i, &mut entry), error)?;
                    Ok(text_of(entry.name))
                })
                .collect()
        }
    }

    /// Number of dispatches of an entry.
    pub fn dispatch_count(&self, entry: &str) -> Result<u32> {
        let index = self.find_entry(entry)?.0;
        let mut info = sys::hearth_entry_info::default();
        // SAFETY: the program lives.
        unsafe {
            check(
                sys::hearth_program_get_entry(self.program.raw, index, &mut info),
                || sys::hearth_program_error(self.program.raw),
            )?;
        }
        Ok(info.dispatch_count)
    }

    /// Runs an entry, learning ones included, on a device of [`Device::new`], and waits for it.
    /// Inputs and outputs are f32, by name.
    pub fn run(
        &mut self,
        entry: &str,
        inputs: &[(&str, &[f32])],
        batch_size: u64,
    ) -> Result<HashMap<String, Vec<f32>>> {
        let device = self.program.device.clone();
        let (index, bindings) = self.find_entry(entry)?;
        let of_inputs: Vec<_> = bindings.iter().filter(|b| !b.is_output).collect();
        check_names(entry, "input", inputs.iter().map(|i| i.0), &of_inputs)?;
        device.run(|frame| {
            let mut bound = Vec::new();
            for binding in &bindings {
                bound.push(self.bind_own(&device.lock(), binding, inputs, batch_size)?);
            }
            self.record_bound(frame, index, &bound, batch_size)
        })?;
        let _host = device.lock();
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

    /// Gives the binding a buffer of a headless device, and an input its values.
    fn bind_own(
        &mut self,
        host: &Host,
        binding: &Binding,
        inputs: &[(&str, &[f32])],
        batch_size: u64,
    ) -> Result<sys::hearth_tensor_binding> {
        binding.check_f32()?;
        let byte_count = binding.byte_count(batch_size);
        let buffer = self.buffers.entry(binding.index).or_default();
        // SAFETY: the host lives, and the buffer is in no use: each frame waits for the device.
        unsafe {
            if buffer.bytes < byte_count {
                if buffer.buffer != 0 {
                    sys::hearth_headless_buffer_destroy(host.headless, buffer);
                    *buffer = Default::default();
                }
                host.check(sys::hearth_headless_buffer_create(
                    host.headless,
                    byte_count,
                    sys::HEARTH_HEADLESS_READBACK,
                    buffer,
                ))?;
            }
            if !binding.is_output {
                let values = inputs
                    .iter()
                    .find(|(name, _)| *name == binding.name)
                    .map_or(&[][..], |(_, values)| values);
                binding.check_count(values.len(), batch_size)?;
                buffer
                    .data
                    .cast::<f32>()
                    .copy_from_nonoverlapping(values.as_ptr(), values.len());
            }
        }
        Ok(sys::hearth_tensor_binding {
            binding: binding.index,
            usage: buffer.usage,
            buffer: buffer.buffer,
            bytes: byte_count,
            acquire_scope: sys::hearth_sync_scope {
                stages: 0,
                access: 0,
                ..EVERYTHING
            },
            // The host stage reads (VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT).
            release_scope: sys::hearth_sync_scope {
                stages: 0x4000,
                access: 0x2000,
                ..EVERYTHING
            },
            ..Default::default()
        })
    }

    /// Records an entry, learning ones included, into a frame.  Each input and output of the entry
    /// has one value, by name.
    pub fn record(
        &mut self,
        frame: &mut Frame,
        entry: &str,
        values: &[(&str, Value)],
        batch_size: u64,
    ) -> Result<()> {
        let (index, bindings) = self.find_entry(entry)?;
        let all: Vec<_> = bindings.iter().collect();
        check_names(
            entry,
            "input or output",
            values.iter().map(|value| value.0),
            &all,
        )?;
        let mut bound = Vec::new();
        for binding in &bindings {
            let value = values
                .iter()
                .find(|(name, _)| *name == binding.name)
                .map_or(Value::F32(&[]), |(_, value)| *value);
            let bytes = binding.byte_count(batch_size);
            let mut tensor = match value {
                Value::F32(_) if binding.is_output => {
                    return fail(
                        sys::HEARTH_ERROR_INVALID_ARGUMENT,
                        format!("{}: expected a buffer, which an output needs", binding.name),
                    );
                }
                Value::F32(values) => {
                    binding.check_f32()?;
                    binding.check_count(values.len(), batch_size)?;
                    sys::hearth_tensor_binding {
                        data: values.as_ptr().cast(),
                        ..Default::default()
                    }
                }
                Value::Buffer(buffer) => {
                    if buffer.byte_count < bytes {
                        return fail(
                            sys::HEARTH_ERROR_OUT_OF_RANGE,
                            format!(
                                "{}: expected a buffer of {} bytes, found {}",
                                binding.name, bytes, buffer.byte_count
                            ),
                        );
                    }
                    frame.keep(buffer);
                    buffer.binding()
                }
            };
            tensor.binding = binding.index;
            tensor.bytes = bytes;
            bound.push(tensor);
        }
        self.record_bound(frame, index, &bound, batch_size)
    }

    fn record_bound(
        &mut self,
        frame: &mut Frame,
        entry: u32,
        bound: &[sys::hearth_tensor_binding],
        batch_size: u64,
    ) -> Result<()> {
        let info = sys::hearth_record_info {
            command_buffer: frame.commands,
            entry,
            bindings: bound.as_ptr(),
            binding_count: bound.len() as u32,
            batch_size,
            ..Default::default()
        };
        // SAFETY: the frame keeps the bindings' buffers until it is done.
        self.record_with(frame, |session, _| unsafe {
            sys::hearth_record(session, &info, null_mut())
        })
    }

    /// Records the initial values, if they are not there yet, and then `record`.
    fn record_with(
        &mut self,
        frame: &mut Frame,
        record: impl FnOnce(*mut sys::hearth_session, sys::VkCommandBuffer) -> sys::hearth_result,
    ) -> Result<()> {
        frame.check_device(&self.program.device)?;
        let _host = self.program.device.lock();
        let mut status = sys::hearth_session_status::default();
        // SAFETY: the session lives.
        unsafe {
            self.check(sys::hearth_session_get_status(self.session, &mut status))?;
            if status.is_initialized == 0 {
                self.check(sys::hearth_record_initialize(self.session, frame.commands))?;
            }
        }
        self.check(record(self.session, frame.commands))
    }

    /// What was learned, as a brain for [`Model::load`], from a device of [`Device::new`].
    pub fn save(&mut self) -> Result<Vec<u8>> {
        let device = self.program.device.clone();
        let mut pending = PendingSave(0);
        device.run(|frame| {
            pending = self.record_save(frame)?;
            Ok(())
        })?;
        self.saved(&pending)?.ok_or_else(|| crate::Error {
            code: sys::HEARTH_NOT_READY,
            message: "the copy has not arrived".into(),
        })
    }

    /// Records a copy of what was learned, for [`Model::saved`] in a later frame.
    pub fn record_save(&mut self, frame: &mut Frame) -> Result<PendingSave> {
        let mut readback = 0;
        self.record_with(frame, |session, commands| {
            // SAFETY: the session lives.
            unsafe { sys::hearth_record_save_brain(session, commands, &mut readback) }
        })?;
        Ok(PendingSave(readback))
    }

    /// The brain of [`Model::record_save`]; none while the device has not finished its frame.
    pub fn saved(&mut self, pending: &PendingSave) -> Result<Option<Vec<u8>>> {
        let _host = self.program.device.lock();
        let mut info = sys::hearth_brain_save_info::default();
        let mut frame_number = 0;
        let mut byte_count = 0;
        // SAFETY: the snapshot lives until it is released, and `brain` has as many bytes as told.
        unsafe {
            let polled = sys::hearth_readback_poll(
                self.session,
                pending.0,
                &mut info.snapshot,
                &mut info.snapshot_bytes,
                &mut frame_number,
            );
            if polled == sys::HEARTH_NOT_READY {
                return Ok(None);
            }
            let error = self.check(polled);
            let mut result = polled;
            let mut brain = Vec::new();
            if result == sys::HEARTH_OK {
                result =
                    sys::hearth_brain_encode(self.program.raw, &info, null_mut(), &mut byte_count);
            }
            if result == sys::HEARTH_OK {
                brain.resize(byte_count as usize, 0);
                result = sys::hearth_brain_encode(
                    self.program.raw,
                    &info,
                    brain.as_mut_ptr().cast(),
                    &mut byte_count,
                );
            }
            sys::hearth_readback_release(self.session, pending.0);
            error?;
            if result < 0 {
                return fail(
                    result,
                    "the brain cannot be encoded; reset the model, or load a brain",
                );
            }
            brain.truncate(byte_count as usize);
            Ok(Some(brain))
        }
    }

    /// Returns to what [`Model::save`] returned, on any device.
    pub fn load(&mut self, brain: &[u8]) -> Result<()> {
        let device = self.program.device.clone();
        device.run(|frame| self.record_load(frame, brain))
    }

    /// As [`Model::load`], in a frame.
    pub fn record_load(&mut self, frame: &mut Frame, brain: &[u8]) -> Result<()> {
        let words = aligned(brain);
        let mut messages = sys::hearth_messages::default();
        let loaded = self.record_with(frame, |session, commands| {
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
        let device = self.program.device.clone();
        device.run(|frame| self.record_reset(frame))
    }

    /// As [`Model::reset`], in a frame.
    pub fn record_reset(&mut self, frame: &mut Frame) -> Result<()> {
        self.record_with(frame, |session, commands| {
            // SAFETY: the session lives; null: all variables.
            unsafe { sys::hearth_record_reset_variables(session, commands, null(), null_mut()) }
        })
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let host = self.program.device.lock();
        // SAFETY: buffers are of headless devices, whose frames wait for the device; the session
        // frees its memory when the device is done.
        unsafe {
            for buffer in self.buffers.values().filter(|buffer| buffer.buffer != 0) {
                sys::hearth_headless_buffer_destroy(host.headless, buffer);
            }
            sys::hearth_session_destroy(self.session);
        }
    }
}
