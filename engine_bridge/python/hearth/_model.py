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

from . import _library as c
from ._device import Device, MappedBuffer, default_device
from ._library import HearthError, check, error, lib

Array = np.ndarray[Any, Any]
#: A package: its bytes, or where the file is.
Package = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]"]

# Indexed by hearth_dtype. NumPy has no bfloat16: it is passed as float32.
_DTYPES = ("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32",
           "int64", "uint64", "bool")


def _numpy_dtype(code: int) -> np.dtype[Any]:
    return np.dtype("float32" if _DTYPES[code] == "bfloat16" else _DTYPES[code])


def read_bytes(source: Package) -> bytes:
    """Returns the bytes, or those of the file."""
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

    shape: extents; None is the batch size, and (None, n) n times the batch size: see `rows`.
    kind: "input", "output", "in_place" (an input that is updated in place), "param", "state", "constant" or
    "transient".
    """

    name: str
    kind: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    per_row: int  #: the leading extent is so many times rows; 0: it is fixed

    def at(self, rows: int) -> tuple[int, ...]:
        """The shape at this batch size."""
        return tuple(self.per_row * rows if extent is None else extent for extent in self.shape)


@dataclass
class _Place:
    """A binding and its buffer, sized for the last run's batch."""

    index: int
    tensor: Tensor
    info: c.BindingInfo
    rows: int = -1
    buffer: MappedBuffer | None = None


def _tensor(info: Any, kind: str) -> Tensor:
    dims = info.dims[:info.rank]
    return Tensor(info.name.decode(), kind, _numpy_dtype(info.dtype),
                  tuple(None if d.per_row else d.count for d in dims),
                  dims[0].count if info.rank and dims[0].per_row else 0)


def _to_device(value: Array, info: Any, name: str) -> Array:
    """Converts the value to the device's element type."""
    if _DTYPES[info.device_dtype] == "bfloat16":
        raise HearthError(f"'{name}' is kept as bfloat16 on this device, which NumPy cannot write; "
                          "expected a package cooked with f32")
    target = _numpy_dtype(info.device_dtype)
    if target.kind in "iu" and value.dtype.kind in "iu" and value.size:
        limits = np.iinfo(target)
        if value.min() < limits.min or value.max() > limits.max:
            raise HearthError(f"'{name}' is kept as {target} on the device; expected {limits.min} to {limits.max}, "
                              f"found {value.min()} to {value.max()}", -6, "HEARTH_ERROR_OUT_OF_RANGE")
    return np.ascontiguousarray(value, dtype=target)


def _array(value: Any, dtype: np.dtype[Any], name: str) -> Array:
    """An array of the element type; other libraries' tensors are taken by DLPack, without a copy."""
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        value = np.from_dlpack(value)
    array = np.asarray(value)
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, "same_kind") and not (array.dtype.kind in "iub" and dtype.kind in "iu"):
            raise HearthError(f"input '{name}' is {dtype}, found {array.dtype}", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        if array.dtype.kind in "iu" and dtype.kind in "iu" and array.size:
            limits = np.iinfo(dtype)
            if array.min() < limits.min or array.max() > limits.max:
                raise HearthError(f"input '{name}' is {dtype}, found values from {array.min()} to {array.max()}", -6,
                                  "HEARTH_ERROR_OUT_OF_RANGE")
        array = array.astype(dtype)
    return array


class LoadedPackage:
    """Base of models and agents: a package, loaded for a device."""

    def __init__(self, package: Package, device: Device | None, profile: str | None) -> None:
        self._device = device if device is not None else default_device()
        self._program = ctypes.c_void_p()
        data = read_bytes(package)
        words = _aligned(data)
        info = c.PackageLoadInfo(bytes=ctypes.addressof(words), byte_count=len(data),
                                 profile=profile.encode() if profile is not None else None)
        check(lib().hearth_package_load(self._device._context, ctypes.byref(info), ctypes.byref(self._program)),
              lambda: lib().hearth_context_error(self._device._context))
        self._info = c.ProgramInfo()
        self._check_program(lib().hearth_program_get_info(self._program, ctypes.byref(self._info)))
        self._slots: dict[str, tuple[int, c.SlotInfo]] = {}
        for index in range(self._info.slot_count):
            slot = c.SlotInfo()
            self._check_program(lib().hearth_program_get_variable(self._program, index, ctypes.byref(slot)))
            self._slots[slot.name.decode()] = (index, slot)

    def _check_program(self, code: int) -> int:
        return check(code, lambda: lib().hearth_program_error(self._program))

    @property
    def device(self) -> Device:
        """The device that it runs on."""
        return self._device

    @property
    def profile(self) -> str:
        """Name of the package's device target in use."""
        return self._info.profile.decode()

    @property
    def max_rows(self) -> int:
        """Maximum batch size."""
        return self._info.rows_capacity

    @property
    def graph_hash(self) -> int:
        """Equal for packages of the same model, whatever their device targets."""
        return self._info.graph_hash

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Parameters, states, constants and transient states by name."""
        return {name: _tensor(slot, c.SLOT_KINDS[slot.kind]) for name, (_, slot) in self._slots.items()}

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

    package: bytes as of `cook_onnx`, or the path of a .hearth file.  profile: one of the package's by name; None:
    the first that the device can run.

        model = hearth.Model(hearth.cook_onnx("policy.onnx", max_rows=64))
        action = model.run(observation=numpy.zeros((10, 8), "float32"))["action"]

    One thread at a time, together with its device.
    """

    def __init__(self, package: Package, device: Device | None = None, *, profile: str | None = None) -> None:
        self._session = ctypes.c_void_p()
        super().__init__(package, device, profile)
        self._entries: dict[str, tuple[int, list[_Place]]] = {}
        try:
            for index in range(self._info.entry_count):
                entry = c.EntryInfo()
                self._check_program(lib().hearth_program_get_entry(self._program, index, ctypes.byref(entry)))
                self._entries[entry.name.decode()] = (index, list(self._places(entry)))
            self._new_session()
        except BaseException:
            self.close()
            raise

    def _places(self, entry: c.EntryInfo) -> Iterator[_Place]:
        for i in range(entry.binding_count):
            info = c.BindingInfo()
            index = entry.bindings[i]
            self._check_program(lib().hearth_program_get_binding(self._program, index, ctypes.byref(info)))
            kind = "output" if info.is_output else "in_place" if info.is_in_place else "input"
            yield _Place(index, _tensor(info, kind), info)

    @property
    def entries(self) -> list[str]:
        """Names of the entries."""
        return list(self._entries)

    def _entry(self, name: str | None) -> tuple[int, list[_Place]]:
        if name is None:
            name = "main" if "main" in self._entries else next(iter(self._entries))
        if name not in self._entries:
            raise HearthError(f"no entry is named '{name}'; there are: {', '.join(self._entries)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        return self._entries[name]

    def inputs(self, entry: str | None = None) -> list[Tensor]:
        """Inputs of the entry."""
        return [p.tensor for p in self._entry(entry)[1] if p.tensor.kind != "output"]

    def outputs(self, entry: str | None = None) -> list[Tensor]:
        """Outputs of the entry, and inputs that it updates in place."""
        return [p.tensor for p in self._entry(entry)[1] if p.tensor.kind != "input"]

    def run(self, entry: str | None = None, inputs: Mapping[str, Any] | None = None, *, rows: int | None = None,
            **more: Any) -> dict[str, Array]:
        """Runs an entry and waits for it.

        entry: None: "main", or the first.  inputs: by name, as a mapping, as keywords, or both; anything that NumPy or
        DLPack accepts.  rows: the batch size, if no input implies it.
        Returns new arrays by name.
        Errors: HearthError for an input that is missing, unknown, or has another shape or type.
        """
        index, places = self._entry(entry)
        given: dict[str, Array] = {}
        wanted = {p.tensor.name: p.tensor for p in places if p.tensor.kind != "output"}
        for name, value in {**(inputs or {}), **more}.items():
            if name not in wanted:
                raise HearthError(f"no input is named '{name}'; there are: {', '.join(wanted)}", -2,
                                  "HEARTH_ERROR_NOT_FOUND")
            given[name] = _array(value, wanted[name].dtype, name)
        missing = [name for name in wanted if name not in given]
        if missing:
            raise HearthError(f"no value for the input '{missing[0]}', {wanted[missing[0]].dtype} "
                              f"{list(wanted[missing[0]].shape)}", -2, "HEARTH_ERROR_NOT_FOUND")
        rows = self._rows(wanted, given, rows)
        bounds = (c.Bound * len(places))()
        for i, place in enumerate(places):
            self._bind(bounds[i], place, rows, given)
        with self._device._commands() as commands:
            info = c.RecordInfo(command_buffer=commands, entry=index, bound_count=len(places), bound=bounds, rows=rows)
            self._check_session(lib().hearth_record(self._session, ctypes.byref(info), None))
        return {p.tensor.name: self._result(p, rows) for p in places if p.tensor.kind != "input"}

    def _rows(self, wanted: Mapping[str, Tensor], given: Mapping[str, Array], rows: int | None) -> int:
        for name, tensor in wanted.items():
            shape = given[name].shape
            if tensor.per_row and rows is None and len(shape) == len(tensor.shape):
                rows = shape[0] // tensor.per_row
        rows = 1 if rows is None else rows
        if not 1 <= rows <= self.max_rows:
            raise HearthError(f"{rows} rows, expected 1 to {self.max_rows} (max_rows of the package)", -6,
                              "HEARTH_ERROR_OUT_OF_RANGE")
        for name, tensor in wanted.items():
            if given[name].shape != tensor.at(rows):
                raise HearthError(f"input '{name}' is {list(tensor.at(rows))}, found {list(given[name].shape)}", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")
        return rows

    def _bind(self, bound: c.Bound, place: _Place, rows: int, given: Mapping[str, Array]) -> None:
        size = max(4, place.info.bytes_fixed + place.info.bytes_per_row * rows)
        is_input = place.tensor.kind == "input"
        if place.buffer is None or place.rows != rows:
            place.buffer = MappedBuffer(self._device, size,
                                        MappedBuffer.UPLOAD if is_input else MappedBuffer.READBACK)
            place.rows = rows
        if place.tensor.kind != "output":
            raw = _to_device(given[place.tensor.name], place.info, place.tensor.name)
            place.buffer.bytes[:raw.nbytes] = raw.reshape(-1).view(np.uint8)
        bound.binding, bound.usage, bound.buffer = place.index, place.buffer.raw.usage, place.buffer.raw.buffer
        bound.bytes = size
        bound.before.queue_family = bound.after.queue_family = c.SAME_QUEUE_FAMILY
        if not is_input:
            bound.after.stages, bound.after.access = 0x4000, 0x2000  # HOST stage, HOST_READ access

    def _result(self, place: _Place, rows: int) -> Array:
        assert place.buffer is not None
        if _DTYPES[place.info.device_dtype] == "bfloat16":
            raise HearthError(f"output '{place.tensor.name}' is bfloat16 on this device, which NumPy cannot read")
        shape = place.tensor.at(rows)
        raw = place.buffer.bytes.view(_numpy_dtype(place.info.device_dtype))
        return raw[:int(np.prod(shape, dtype=np.int64))].astype(place.tensor.dtype).reshape(shape)

    def _slot(self, name: str) -> tuple[int, c.SlotInfo]:
        if name not in self._slots:
            raise HearthError(f"there is no tensor '{name}'; there are: {', '.join(self._slots)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        return self._slots[name]

    def read(self, name: str) -> Array:
        """Returns a copy of a tensor's current value, [its shape]."""
        index, slot = self._slot(name)
        tensor = _tensor(slot, c.SLOT_KINDS[slot.kind])
        if _DTYPES[slot.device_dtype] == "bfloat16":
            raise HearthError(f"'{name}' is kept as bfloat16 on this device, which NumPy cannot read")
        readback = ctypes.c_uint64()
        with self._device._commands() as commands:
            info = c.ReadbackInfo(command_buffer=commands, slot=index)
            info.before.queue_family = c.SAME_QUEUE_FAMILY
            self._check_session(lib().hearth_record_readback(self._session, ctypes.byref(info),
                                                             ctypes.byref(readback)))
        raw = np.frombuffer(self._arrived(readback), _numpy_dtype(slot.device_dtype))
        shape = tensor.at(1)
        return raw[:int(np.prod(shape, dtype=np.int64))].astype(tensor.dtype).reshape(shape)

    def write(self, tensors: Mapping[str, Any]) -> None:
        """Overwrites tensors by name; each value has its tensor's shape and a type that fits.

        Everything is checked before anything is written.  Errors: HearthError naming the tensor.
        """
        ready = []
        for name, value in tensors.items():
            index, slot = self._slot(name)
            tensor = _tensor(slot, c.SLOT_KINDS[slot.kind])
            array = _array(value, tensor.dtype, name)
            if array.shape != tensor.at(1):
                raise HearthError(f"'{name}' is {list(tensor.at(1))}, found {list(array.shape)}", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")
            ready.append((index, _to_device(array, slot, name)))
        for index, array in ready:
            # One per frame, so that the upload ring need not hold all of them.
            with self._device._commands() as commands:
                self._check_session(lib().hearth_record_update_variable(self._session, commands, index, 0, array.ctypes.data,
                                                               array.nbytes))

    def _arrived(self, readback: ctypes.c_uint64) -> bytes:
        data, size, serial = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_uint64()
        code = self._check_session(lib().hearth_readback_poll(self._session, readback, ctypes.byref(data),
                                                              ctypes.byref(size), ctypes.byref(serial)))
        if code != 0:
            raise error(code, "the readback of a finished submission is not there")
        copy = ctypes.string_at(data, size.value)
        lib().hearth_readback_release(self._session, readback)
        return copy

    def save_brain(self, *, delta: bool = False) -> bytes:
        """Returns all parameters and states as a brain: a file that loads on any device and profile of the model.

        delta: only the difference from the package's initial values.
        Error: HEARTH_ERROR_NON_FINITE if any value is NaN or infinite.
        """
        readback = ctypes.c_uint64()
        with self._device._commands() as commands:
            code = lib().hearth_record_save_brain(self._session, commands, ctypes.byref(readback))
            if self._check_session(code) != 0:
                raise error(code, "learning is under way: run again when it has finished")
        snapshot = self._arrived(readback)
        info = c.BrainSaveInfo(snapshot=ctypes.cast(ctypes.c_char_p(snapshot), ctypes.c_void_p).value,
                               snapshot_bytes=len(snapshot), flags=4 if delta else 0)
        size = ctypes.c_uint64()
        encode = lib().hearth_brain_encode
        check(encode(self._program, ctypes.byref(info), None, ctypes.byref(size)), "the size of the brain")
        out = (ctypes.c_uint64 * ((size.value + 7) // 8))()
        check(encode(self._program, ctypes.byref(info), out, ctypes.byref(size)),
              "the brain could not be written: NaN or infinities in it?")
        return ctypes.string_at(out, size.value)

    def load_brain(self, brain: Package, *, partial: bool = False) -> None:
        """Loads a brain into the model.  Errors name mismatches, and change nothing.

        partial: ignore tensors that only one side has.
        """
        data = read_bytes(brain)
        words = _aligned(data)
        report = c.Report()
        with self._device._commands() as commands:
            check(lib().hearth_record_load_brain(self._session, commands, words, len(data), 1 if partial else 0,
                                            ctypes.byref(report)),
                  lambda: report.text or lib().hearth_session_error(self._session))

    def forget(self, pattern: str | None = None) -> int:
        """Resets tensors whose names match (None: all; * matches any characters) to their initial values.
        Returns their number."""
        count = ctypes.c_uint32()
        with self._device._commands() as commands:
            self._check_session(lib().hearth_record_reset_variables(
                self._session, commands, pattern.encode() if pattern is not None else None, ctypes.byref(count)))
        return count.value

    def _new_session(self) -> None:
        snapshot = lib().hearth_program_get_brain_size(self._program)
        largest = max((slot.bytes for _, slot in self._slots.values()), default=0)
        room = max(snapshot, largest, 1 << 20) + (1 << 16)
        info = c.SessionCreateInfo(program=self._program, recordings_in_flight=64, inline_bytes=1024, upload_count=64,
                                   upload_bytes=room, readback_bytes=room, readback_count=64,
                                   profile_recordings=16)
        check(lib().hearth_session_create(self._device._context, ctypes.byref(info), ctypes.byref(self._session)),
              lambda: lib().hearth_context_error(self._device._context))
        self._check_session(lib().hearth_session_create_pipelines(self._session, 0))
        with self._device._commands() as commands:
            self._check_session(lib().hearth_record_initialize(self._session, commands))

    def _check_session(self, code: int) -> int:
        return check(code, lambda: lib().hearth_session_error(self._session))

    def _destroy(self) -> None:
        lib().hearth_session_destroy(self._session)
        self._session = ctypes.c_void_p()
