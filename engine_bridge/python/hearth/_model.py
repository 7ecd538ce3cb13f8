# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Packages on a device: run, train, inspect, save."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _interface as c
from ._device import Device, MappedBuffer, default_device
from ._library import HearthError, check, error, lib

Array = np.ndarray[Any, Any]
#: A package: its bytes, or the path of its file.
Package = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]"]

# Indexed by hearth_dtype. NumPy has no bfloat16: it is passed as float32.
_DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32",
           "int64", "uint64", "bool")
# Indexed by hearth_variable_kind.
_VARIABLE_KINDS = ("param", "state", "constant", "non_persistent")


def _numpy_dtype(code: int) -> np.dtype[Any]:
    return np.dtype("float32" if _DTYPES[code] == "bfloat16" else _DTYPES[code])


def read_bytes(source: Package) -> bytes:
    """Returns the bytes themselves, or those of the file."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source)
    return Path(source).read_bytes()


def _aligned(data: bytes) -> Any:
    """Copies the bytes to an 8-byte aligned address, which the library requires."""
    words = (ctypes.c_uint64 * max(1, (len(data) + 7) // 8))()
    ctypes.memmove(words, data, len(data))
    return words


@dataclass(frozen=True)
class Tensor:
    """An input or output of an entry, or a variable that persists between runs.

    shape: extents; None: batch_factor times the batch size.
    kind: "input", "output", "inout" (an input that runs overwrite), "param", "state", "constant" or
    "non_persistent" (a state that brains do not contain).
    """

    name: str
    kind: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    batch_factor: int  #: the leading extent is this times the batch size; 0: it is fixed

    def resolve(self, batch_size: int) -> tuple[int, ...]:
        """Returns the shape at this batch size."""
        return tuple(self.batch_factor * batch_size if extent is None else extent for extent in self.shape)


@dataclass
class _Binding:
    """A binding and its buffer, sized for the batch of the last run."""

    index: int
    tensor: Tensor
    info: c.BindingInfo
    batch_size: int = -1
    buffer: MappedBuffer | None = None


def _tensor(info: Any, kind: str) -> Tensor:
    dims = info.dims[:info.rank]
    return Tensor(info.name.decode(), kind, _numpy_dtype(info.dtype),
                  tuple(None if d.is_batch else d.count for d in dims),
                  dims[0].count if info.rank and dims[0].is_batch else 0)


def _to_device(value: Array, info: Any, name: str) -> Array:
    """Converts the value to the device's element type."""
    if _DTYPES[info.device_dtype] == "bfloat16":
        raise HearthError(f"'{name}' is bfloat16 on this device, which NumPy cannot write: cook the "
                          "package with precision f32")
    target = _numpy_dtype(info.device_dtype)
    if target.kind in "iu" and value.dtype.kind in "iu" and value.size:
        limits = np.iinfo(target)
        if value.min() < limits.min or value.max() > limits.max:
            raise HearthError(f"'{name}' is {target} on this device: expected {limits.min} to {limits.max}, "
                              f"found {value.min()} to {value.max()}", -6, "HEARTH_ERROR_OUT_OF_RANGE")
    return np.ascontiguousarray(value, dtype=target)


def _array(value: Any, dtype: np.dtype[Any], name: str) -> Array:
    """Returns an array of the element type; takes tensors of other libraries by DLPack, without a copy."""
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    array = np.asarray(value)
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, "same_kind") and not (array.dtype.kind in "iub" and dtype.kind in "iu"):
            raise HearthError(f"'{name}': expected {dtype}, found {array.dtype}", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        if array.dtype.kind in "iu" and dtype.kind in "iu" and array.size:
            limits = np.iinfo(dtype)
            if array.min() < limits.min or array.max() > limits.max:
                raise HearthError(f"'{name}': expected {dtype}, found values from {array.min()} to {array.max()}", -6,
                                  "HEARTH_ERROR_OUT_OF_RANGE")
        array = array.astype(dtype)
    return array


class LoadedPackage:
    """Base of models and agents: a package, loaded for a device."""

    def __init__(self, package: Package, device: Device | None, device_target: str | None, trust: bool) -> None:
        self._device = device if device is not None else default_device()
        self._program = ctypes.c_void_p()
        self._session = ctypes.c_void_p()
        #: For what works on the package itself.
        self._package = data = read_bytes(package)
        target = None if device_target is None else device_target.encode()
        self._device._check(lib().hearth_headless_load_package(
            self._device._handle, _aligned(data), len(data), target, c.HEARTH_HEADLESS_TRUST_KERNELS if trust else 0,
            ctypes.byref(self._program)))
        self._info = c.ProgramInfo()
        self._check_program(lib().hearth_program_get_info(self._program, ctypes.byref(self._info)))
        self._variables: dict[str, tuple[int, c.VariableInfo]] = {}
        for index in range(self._info.variable_count):
            variable = c.VariableInfo()
            self._check_program(lib().hearth_program_get_variable(self._program, index, ctypes.byref(variable)))
            self._variables[variable.name.decode()] = (index, variable)

    def _check_program(self, code: int) -> int:
        return check(code, lambda: lib().hearth_program_error(self._program))

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self._device

    @property
    def device_target(self) -> str:
        """Name of the package's device target in use."""
        return self._info.device_target.decode()

    @property
    def max_batch_size(self) -> int:
        """Maximum batch size of a run."""
        return self._info.max_batch_size

    @property
    def graph_hash(self) -> int:
        """Equal for packages of the same model, whatever their device targets."""
        return self._info.graph_hash

    @property
    def variables(self) -> dict[str, Tensor]:
        """Parameters, states, constants and non-persistent states by name."""
        return {name: _tensor(info, _VARIABLE_KINDS[info.kind]) for name, (_, info) in self._variables.items()}

    def _variable(self, name: str) -> tuple[int, c.VariableInfo]:
        if name not in self._variables:
            raise HearthError(f"no variable is named '{name}'; there are: {', '.join(self._variables)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        return self._variables[name]

    def read(self, name: str) -> Array:
        """Returns a copy of a variable's current value."""
        index, variable = self._variable(name)
        tensor = _tensor(variable, _VARIABLE_KINDS[variable.kind])
        if _DTYPES[variable.device_dtype] == "bfloat16":
            raise HearthError(f"'{name}' is bfloat16 on this device, which NumPy cannot read")
        readback = ctypes.c_uint64()
        with self._device._commands() as commands:
            info = c.ReadbackInfo(command_buffer=commands, variable=index)
            self._check_session(lib().hearth_record_readback(self._session, ctypes.byref(info),
                                                             ctypes.byref(readback)))
        raw = np.frombuffer(self._arrived(readback), _numpy_dtype(variable.device_dtype))
        shape = tensor.resolve(1)
        return raw[:int(np.prod(shape, dtype=np.int64))].astype(tensor.dtype).reshape(shape)

    def _arrived(self, readback: ctypes.c_uint64) -> bytes:
        data, size, frame_number = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        code = self._check_session(lib().hearth_readback_poll(self._session, readback, ctypes.byref(data),
                                                              ctypes.byref(size), ctypes.byref(frame_number)))
        if code != 0:
            raise error(code, "the readback of a completed submission has not arrived")
        copy = ctypes.string_at(data, size.value)
        lib().hearth_readback_release(self._session, readback)
        return copy

    def _check_session(self, code: int) -> int:
        return check(code, lambda: lib().hearth_session_error(self._session))

    def _destroy(self) -> None:
        """Destroys the objects created from the program."""
        raise NotImplementedError

    def close(self) -> None:
        """Frees its memory.  It must not be used afterwards."""
        if self._device._handle and self._program:
            self._destroy()
            lib().hearth_program_destroy(self._program)
        self._program = ctypes.c_void_p()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_program", None):
            self.close()


class Model(LoadedPackage):
    """A package on a device, with its weights.

    package: the bytes that `cook_onnx` returns, or the path of a .hearth file.  device_target: the name of one of the
    package's; None: the first that the device can run.  trust: on the CPU device, run the kernels in the package, C
    text that is code of whoever made it; otherwise its graph is compiled again.  Ignored on GPUs.

        model = hearth.Model(hearth.cook_onnx("policy.onnx", max_batch_size=64))
        action = model.run(observation=numpy.zeros((10, 8), "float32"))["action"]

    One thread at a time, together with its device.
    """

    def __init__(self, package: Package, device: Device | None = None, *,
                 device_target: str | None = None, trust: bool = False) -> None:
        super().__init__(package, device, device_target, trust)
        self._entries: dict[str, tuple[int, list[_Binding]]] = {}
        try:
            for index in range(self._info.entry_count):
                entry = c.EntryInfo()
                self._check_program(lib().hearth_program_get_entry(self._program, index, ctypes.byref(entry)))
                self._entries[entry.name.decode()] = (index, list(self._bindings(entry)))
            self._new_session()
        except BaseException:
            self.close()
            raise

    def _bindings(self, entry: c.EntryInfo) -> Iterator[_Binding]:
        for i in range(entry.binding_count):
            info = c.BindingInfo()
            index = entry.bindings[i]
            self._check_program(lib().hearth_program_get_binding(self._program, index, ctypes.byref(info)))
            kind = "output" if info.is_output else "inout" if info.is_inout else "input"
            yield _Binding(index, _tensor(info, kind), info)

    @property
    def entries(self) -> list[str]:
        """Names of the entries."""
        return list(self._entries)

    def _entry(self, name: str | None) -> tuple[int, list[_Binding]]:
        if name is None:
            name = "main" if "main" in self._entries else next(iter(self._entries))
        if name not in self._entries:
            raise HearthError(f"no entry is named '{name}'; there are: {', '.join(self._entries)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        return self._entries[name]

    def inputs(self, entry: str | None = None) -> list[Tensor]:
        """Inputs of the entry."""
        return [b.tensor for b in self._entry(entry)[1] if b.tensor.kind != "output"]

    def outputs(self, entry: str | None = None) -> list[Tensor]:
        """Outputs of the entry, and inputs that it overwrites."""
        return [b.tensor for b in self._entry(entry)[1] if b.tensor.kind != "input"]

    def run(self, entry: str | None = None, inputs: Mapping[str, Any] | None = None, *,
            batch_size: int | None = None, **more: Any) -> dict[str, Array]:
        """Runs an entry and waits for it.

        entry: None: "main", or the first.  inputs: by name, as a mapping, as keywords, or both; anything that NumPy or
        DLPack accepts.  batch_size: required only if the shape of no input determines it.
        Returns new arrays by name.
        Errors: HearthError for an input that is missing, unknown, or has another shape or type.
        """
        index, bindings = self._entry(entry)
        given: dict[str, Array] = {}
        expected = {b.tensor.name: b.tensor for b in bindings if b.tensor.kind != "output"}
        for name, value in {**(inputs or {}), **more}.items():
            if name not in expected:
                raise HearthError(f"no input is named '{name}'; there are: {', '.join(expected)}", -2,
                                  "HEARTH_ERROR_NOT_FOUND")
            given[name] = _array(value, expected[name].dtype, name)
        missing = [name for name in expected if name not in given]
        if missing:
            raise HearthError(f"no value for the input '{missing[0]}', {expected[missing[0]].dtype} "
                              f"{list(expected[missing[0]].shape)}", -2, "HEARTH_ERROR_NOT_FOUND")
        batch_size = self._batch_size(expected, given, batch_size)
        bound = (c.TensorBinding * len(bindings))()
        for i, binding in enumerate(bindings):
            self._bind(bound[i], binding, batch_size, given)
        with self._device._commands() as commands:
            info = c.RecordInfo(command_buffer=commands, entry=index, binding_count=len(bindings), bindings=bound,
                                batch_size=batch_size)
            self._check_session(lib().hearth_record(self._session, ctypes.byref(info), None))
        return {b.tensor.name: self._result(b, batch_size) for b in bindings if b.tensor.kind != "input"}

    def _batch_size(self, expected: Mapping[str, Tensor], given: Mapping[str, Array], batch_size: int | None) -> int:
        for name, tensor in expected.items():
            shape = given[name].shape
            if tensor.batch_factor and batch_size is None and len(shape) == len(tensor.shape):
                batch_size = shape[0] // tensor.batch_factor
        batch_size = 1 if batch_size is None else batch_size
        if not 1 <= batch_size <= self.max_batch_size:
            raise HearthError(f"the batch size is {batch_size}, expected 1 to {self.max_batch_size} (max_batch_size of "
                              "the package)", -6, "HEARTH_ERROR_OUT_OF_RANGE")
        for name, tensor in expected.items():
            if given[name].shape != tensor.resolve(batch_size):
                raise HearthError(f"input '{name}': expected {list(tensor.resolve(batch_size))}, found "
                                  f"{list(given[name].shape)}", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        return batch_size

    def _bind(self, out: c.TensorBinding, binding: _Binding, batch_size: int, given: Mapping[str, Array]) -> None:
        size = max(4, binding.info.bytes_fixed + binding.info.bytes_per_item * batch_size)
        is_input = binding.tensor.kind == "input"
        if binding.buffer is None or binding.batch_size != batch_size:
            binding.buffer = MappedBuffer(self._device, size,
                                          MappedBuffer.UPLOAD if is_input else MappedBuffer.READBACK)
            binding.batch_size = batch_size
        if binding.tensor.kind != "output":
            raw = _to_device(given[binding.tensor.name], binding.info, binding.tensor.name)
            binding.buffer.bytes[:raw.nbytes] = raw.reshape(-1).view(np.uint8)
        out.binding, out.usage, out.buffer = binding.index, binding.buffer.raw.usage, binding.buffer.raw.buffer
        out.bytes = size
        out.acquire_scope.queue_family = out.release_scope.queue_family = c.HEARTH_QUEUE_FAMILY_SAME
        if not is_input:
            out.release_scope.stages, out.release_scope.access = 0x4000, 0x2000  # HOST stage, HOST_READ access

    def _result(self, binding: _Binding, batch_size: int) -> Array:
        assert binding.buffer is not None
        if _DTYPES[binding.info.device_dtype] == "bfloat16":
            raise HearthError(f"output '{binding.tensor.name}' is bfloat16 on this device, which NumPy cannot read")
        shape = binding.tensor.resolve(batch_size)
        raw = binding.buffer.bytes.view(_numpy_dtype(binding.info.device_dtype))
        return raw[:int(np.prod(shape, dtype=np.int64))].astype(binding.tensor.dtype).reshape(shape)

    def write(self, values: Mapping[str, Any]) -> None:
        """Overwrites variables by name; each value has the variable's shape and a type that fits.

        Everything is checked before anything is written.  Errors: HearthError naming the variable.
        """
        ready = []
        for name, value in values.items():
            index, variable = self._variable(name)
            tensor = _tensor(variable, _VARIABLE_KINDS[variable.kind])
            array = _array(value, tensor.dtype, name)
            if array.shape != tensor.resolve(1):
                raise HearthError(f"'{name}': expected {list(tensor.resolve(1))}, found {list(array.shape)}", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")
            ready.append((index, _to_device(array, variable, name)))
        for index, array in ready:
            # One per frame, so that the upload ring need not hold all of them.
            with self._device._commands() as commands:
                self._check_session(lib().hearth_record_update_variable(self._session, commands, index, 0,
                                                                        array.ctypes.data, array.nbytes))

    def save_brain(self, *, delta: bool = False) -> bytes:
        """Returns all parameters and states as a brain: a file that loads on any device and device target of the model.

        delta: only the difference from the package's initial values.
        Error: HEARTH_ERROR_NON_FINITE if any value is NaN or infinite.
        """
        readback = ctypes.c_uint64()
        with self._device._commands() as commands:
            code = lib().hearth_record_save_brain(self._session, commands, ctypes.byref(readback))
            if self._check_session(code) != 0:
                raise error(code, "an update is in progress: call again when it has finished")
        snapshot = self._arrived(readback)
        info = c.BrainSaveInfo(snapshot=ctypes.cast(ctypes.c_char_p(snapshot), ctypes.c_void_p).value,
                               snapshot_bytes=len(snapshot), flags=c.HEARTH_BRAIN_DELTA if delta else 0)
        size = ctypes.c_uint64()
        encode = lib().hearth_brain_encode
        check(encode(self._program, ctypes.byref(info), None, ctypes.byref(size)), "the size of the brain")
        out = (ctypes.c_uint64 * ((size.value + 7) // 8))()
        check(encode(self._program, ctypes.byref(info), out, ctypes.byref(size)),
              "the brain could not be encoded: does it contain NaN or infinity?")
        return ctypes.string_at(out, size.value)

    def load_brain(self, brain: Package, *, strict: bool = True) -> None:
        """Loads a brain into the model.  Errors name mismatches, and change nothing.

        strict: False ignores variables that only the brain or only the model has.
        """
        data = read_bytes(brain)
        words = _aligned(data)
        messages = c.Messages()
        with self._device._commands() as commands:
            check(lib().hearth_record_load_brain(self._session, commands, words, len(data),
                                                 0 if strict else c.HEARTH_BRAIN_NON_STRICT,
                                                 ctypes.byref(messages)),
                  lambda: messages.text or lib().hearth_session_error(self._session))

    def reset_variables(self, pattern: str | None = None) -> int:
        """Resets variables whose names match (None: all; * matches any characters) to their initial values.
        Returns their number."""
        count = ctypes.c_uint32()
        with self._device._commands() as commands:
            self._check_session(lib().hearth_record_reset_variables(
                self._session, commands, pattern.encode() if pattern is not None else None, ctypes.byref(count)))
        return count.value

    def _new_session(self) -> None:
        snapshot = lib().hearth_program_get_brain_size(self._program)
        largest = max((variable.bytes for _, variable in self._variables.values()), default=0)
        room = max(snapshot, largest, 1 << 20) + (1 << 16)
        info = c.SessionCreateInfo(program=self._program, upload_bytes=room, readback_bytes=room)
        check(lib().hearth_session_create(self._device._context, ctypes.byref(info), ctypes.byref(self._session)),
              lambda: lib().hearth_context_error(self._device._context))
        self._check_session(lib().hearth_session_create_pipelines(self._session, 0))
        with self._device._commands() as commands:
            self._check_session(lib().hearth_record_initialize(self._session, commands))

    def _destroy(self) -> None:
        lib().hearth_session_destroy(self._session)
        self._session = ctypes.c_void_p()
