# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A headless device."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from ._interface import HeadlessBuffer, Messages
from ._library import check, error, lib


def devices() -> list[str]:
    """Returns the names of the GPUs and software drivers, in Vulkan's order."""
    names = (ctypes.c_char * 256 * 16)()
    count = ctypes.c_uint32(16)
    messages = Messages()
    check(lib().hearth_headless_devices(names, ctypes.byref(count), ctypes.byref(messages)), lambda: messages.text)
    return [names[i].value.decode() for i in range(min(count.value, 16))]


class Device:
    """A device with a Hearth context.

    name: an index of `devices()`, or a part of a name; None: the first discrete GPU, else an integrated one,
    else any; "cpu": this machine's CPU, without Vulkan, with kernels built by the system's C compiler
    (docs/how-to/cpu_device.md).  validation: enables the validation layers; `messages` counts their messages.

    Models and agents belong to the device that they were created on, and keep it alive.  One thread at a time.
    """

    def __init__(self, name: str | int | None = None, *, validation: bool = False) -> None:
        self._handle = ctypes.c_void_p()
        messages = Messages()
        selected = None if name is None else str(name).encode()
        check(lib().hearth_headless_create(selected, 1 if validation else 0, ctypes.byref(self._handle),
                                           ctypes.byref(messages)), lambda: messages.text)
        self._context = lib().hearth_headless_context(self._handle)

    @property
    def name(self) -> str:
        """The driver's name of the device."""
        return lib().hearth_headless_device(self._handle).decode()

    @property
    def messages(self) -> int:
        """Number of messages of the validation layers so far."""
        return lib().hearth_headless_messages(self._handle)

    @contextmanager
    def _commands(self) -> Iterator[ctypes.c_void_p]:
        """A command buffer, submitted and waited for on exit; discarded on an exception."""
        commands = ctypes.c_void_p()
        self._check(lib().hearth_headless_begin(self._handle, ctypes.byref(commands)))
        try:
            yield commands
        except BaseException:
            self._check(lib().hearth_headless_discard(self._handle))
            raise
        self._check(lib().hearth_headless_submit(self._handle))

    def _check(self, code: int) -> int:
        return check(code, lambda: lib().hearth_headless_error(self._handle))

    def __enter__(self) -> Device:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Destroys the device.  Error: HEARTH_ERROR_INVALID_STATE while a model or agents on it are open."""
        if self._handle:
            self._check(lib().hearth_headless_destroy(self._handle))
            self._handle = ctypes.c_void_p()

    def __del__(self) -> None:
        # At interpreter exit destruction order is undefined: objects that still exist end with the
        # process.
        if getattr(self, "_handle", None):
            lib().hearth_headless_destroy(self._handle)


_default: Device | None = None


def default_device() -> Device:
    """Returns the default device, which the first call creates."""
    global _default
    if _default is None or not _default._handle:
        _default = Device()
    return _default


class MappedBuffer:
    """Mapped device memory: `bytes` is a uint8 array over it, without a copy."""

    UPLOAD, READBACK = 0, 1

    def __init__(self, device: Device, byte_count: int, memory: int) -> None:
        self._device = device
        self.raw = HeadlessBuffer()
        device._check(lib().hearth_headless_buffer_create(device._handle, byte_count, memory,
                                                          ctypes.byref(self.raw)))
        memory_view = (ctypes.c_uint8 * self.raw.bytes).from_address(self.raw.data)
        memory_view.owner = self  # type: ignore[attr-defined]  # arrays over it keep the buffer alive
        self.bytes: np.ndarray[Any, np.dtype[np.uint8]] = np.frombuffer(memory_view, np.uint8)

    def __del__(self) -> None:
        if getattr(self, "raw", None) is not None and self.raw.data and self._device._handle:
            lib().hearth_headless_buffer_destroy(self._device._handle, ctypes.byref(self.raw))
