# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Loads libhearth.so with the declarations of _interface.py.

The library lies beside this file, where the wheel installs it, or HEARTH_LIBRARY names it.
"""

from __future__ import annotations

import ctypes
import numbers
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from ._interface import HEARTH_ERROR_INTERNAL, HEARTH_ERROR_VERSION_MISMATCH, HEARTH_VERSION, SIGNATURES

_CONTROL_CHARACTERS = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class HearthError(RuntimeError):
    """A call of Hearth failed.  The text is the library's message, `code` the hearth_result and `name` its name."""

    def __init__(self, message: str, code: int = HEARTH_ERROR_INTERNAL, name: str = "HEARTH_ERROR_INTERNAL") -> None:
        # Texts may quote names from files, which must not control terminals.
        super().__init__(_CONTROL_CHARACTERS.sub("?", message))
        self.code = code
        self.name = name


def _find() -> str:
    named = os.environ.get("HEARTH_LIBRARY")
    if named:
        if not Path(named).is_file():
            raise HearthError(f"HEARTH_LIBRARY names {named}, which is not a file; expected the path of libhearth.so")
        return named
    beside = Path(__file__).with_name("libhearth.so")
    if not beside.is_file():
        raise HearthError(f"found no libhearth.so at {beside}, and HEARTH_LIBRARY is not set: install the package with "
                          "`pip install`, which builds it, or build the target hearth_workbench_shared")
    return str(beside)


_loaded: ctypes.CDLL | None = None


def lib() -> ctypes.CDLL:
    """Returns the library, which the first call opens: importing the package does not."""
    global _loaded
    if _loaded is None:
        path = _find()
        library = ctypes.CDLL(path)
        for name, (result, arguments) in SIGNATURES.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        if library.hearth_check_version(HEARTH_VERSION) != 0:
            expected = f"{HEARTH_VERSION >> 22}.{HEARTH_VERSION >> 12 & 0x3FF}"
            raise HearthError(f"{path} is {library.hearth_build_info().decode()}, expected version {expected}",
                              HEARTH_ERROR_VERSION_MISMATCH, "HEARTH_ERROR_VERSION_MISMATCH")
        _loaded = library
    return _loaded


def error(code: int, message: bytes | str) -> HearthError:
    """Creates the exception for a result and the library's message."""
    name = lib().hearth_result_name(code).decode()
    text = message.decode(errors="replace") if isinstance(message, bytes) else message
    return HearthError(f"{text} ({name})" if text else name, code, name)


def check(code: int, message: Any) -> int:
    """Raises HearthError if a call failed; message: text, or a function that returns it.  Returns the code."""
    if code < 0:
        raise error(code, message() if callable(message) else message)
    return code


def invalid(message: str) -> HearthError:
    """Creates the exception for an argument that cannot be."""
    return HearthError(message, -1, "HEARTH_ERROR_INVALID_ARGUMENT")


def check_whole(name: str, value: Any, least: int, most: int | None = None, otherwise: str = "") -> int:
    """Returns a whole number of at least `least` and at most `most`, or raises HearthError.  otherwise: how the text
    about what is expected ends."""
    is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    if not is_whole or value < least or (most is not None and value > most):
        limits = f", at least {least}" if most is None else f" from {least} to {most}"
        raise invalid(f"{name} is {value!r}, expected a whole number{limits}{otherwise}")
    return int(value)


def check_writable(name: str, path: str | os.PathLike[str]) -> None:
    """Raises HearthError if a file that is written later cannot be; makes its folder if there is none."""
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        if not target.parent.exists():
            target.parent.mkdir(parents=True)
        with tempfile.TemporaryFile(dir=target.parent):
            pass
    except OSError as error:
        raise invalid(f"{name}: cannot write '{target}': {error.strerror}; give a file in a folder that can be written"
                      ) from error
