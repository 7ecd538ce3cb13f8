# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Logs of training: CSV, TensorBoard's event files, run logs for `hearth watch`, and a progress bar.

An event file is a sequence of TFRecords (length, masked CRC-32C, Event as a protocol buffer; tensorflow/core/lib/io/
record_writer.cc, tensorflow/core/util/event.proto), which takes fewer lines to write than a dependency to explain.
"""

from __future__ import annotations

import csv
import json
import math
import os
import struct
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ._library import HearthError, check_writable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def is_no(answer: Any) -> bool:
    """Whether a callback has said False, as Python's or NumPy's bool: that of a comparison of arrays."""
    return isinstance(answer, (bool, np.bool_)) and not answer


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)  # CRC-32C, reflected
        table.append(byte)
    return table


_CRC = _crc_table()


def _masked_crc(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def _delimited(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


class TensorBoardLog:
    """Scalars for TensorBoard, in a file events.out.tfevents.* of the folder."""

    def __init__(self, folder: Path) -> None:
        now = time.time()
        self._file = open(folder / f"events.out.tfevents.{int(now)}.hearth.{os.getpid()}", "ab")
        self._write(_delimited(3, b"brain.Event:2"), now)

    def _write(self, content: bytes, now: float) -> None:
        event = b"\x09" + struct.pack("<d", now) + content
        length = struct.pack("<Q", len(event))
        for part in (length, event):
            self._file.write(part + struct.pack("<I", _masked_crc(part)))
        self._file.flush()

    def write(self, step: int, values: Mapping[str, float]) -> None:
        scalars = b"".join(_delimited(1, _delimited(1, name.encode()) + b"\x15" + struct.pack("<f", value))
                           for name, value in values.items())
        self._write(b"\x10" + _varint(step) + _delimited(5, scalars), time.time())

    def close(self) -> None:
        self._file.close()


class CsvLog:
    """A table with a column for each name; the file is written again when a new one appears."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._names: list[str] = []
        self._rows: list[dict[str, Any]] = []
        if path.exists():
            with open(path, newline="") as file:
                reader = csv.DictReader(file)
                self._names, self._rows = list(reader.fieldnames or []), list(reader)

    def forget_after(self, step: int) -> None:
        """Drops rows beyond this step."""
        self._rows = [row for row in self._rows if int(float(row["time/total_timesteps"])) <= step]
        self._write_all()

    def write(self, step: int, values: Mapping[str, float]) -> None:
        row = {"time/total_timesteps": step, **values}
        self._rows.append(row)
        new = [name for name in row if name not in self._names]
        self._names += new
        if new:
            self._write_all()
            return
        with open(self._path, "a", newline="") as file:
            csv.DictWriter(file, self._names).writerow(row)

    def _write_all(self) -> None:
        with open(self._path, "w", newline="") as file:
            writer = csv.DictWriter(file, self._names)
            writer.writeheader()
            writer.writerows(self._rows)

    def close(self) -> None:
        pass


class RunLog:
    """Lines for `hearth watch` (docs/reference/run_log.md), which one program writes at a time."""

    def __init__(self, path: Path, program: str, seed: int) -> None:
        self._path = path
        self._file = open(path, "a")
        if fcntl is not None:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self._file.close()
                raise HearthError(f"another program is writing the run log '{path}'; give each run a log of its "
                                  "own") from None
            except OSError:  # a file system without locks
                pass
        if path.stat().st_size == 0:
            self._append({"type": "run", "program": program, "at": "steps", "seed": seed,
                          "listens": ["stop", "pause", "freeze"]})

    def _append(self, line: Mapping[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def _request(self, name: str) -> Path:
        return self._path.with_name(f"{self._path.name}.{name}")

    def forget_requests(self) -> None:
        """Withdraws those to an earlier run."""
        for name in ("stop", "pause", "freeze"):
            self._request(name).unlink(missing_ok=True)

    def waits_or_stops(self) -> bool:
        """Waits while `hearth watch` asks to pause; returns whether it asks to stop (run_log.hpp)."""
        while True:
            if self._request("stop").exists():
                self._request("stop").unlink()
                return True
            if not self._request("pause").exists():
                return False
            time.sleep(0.05)

    def asks_to_freeze(self) -> bool:
        """Whether `hearth watch` asks to act without learning."""
        return self._request("freeze").exists()

    def forget_after(self, step: int) -> None:
        """Drops lines beyond this step, and one that was cut."""
        kept = []
        for text in self._path.read_text().splitlines():
            try:
                at = json.loads(text).get("at", 0)
            except json.JSONDecodeError:
                continue
            if not isinstance(at, (int, float)) or at <= step:
                kept.append(text + "\n")
        self._path.write_text("".join(kept))

    def write(self, step: int, values: Mapping[str, float]) -> None:
        self._append({"type": "agents", "at": step,
                      **{name: value if math.isfinite(value) else None for name, value in values.items()}})

    def close(self) -> None:
        self._file.close()


class Logs:
    """All logs of a folder: progress.csv, run.jsonl, and an event file of TensorBoard."""

    def __init__(self, folder: str | os.PathLike[str], program: str, seed: int, step: int) -> None:
        """step: the run goes on from here; what the logs have beyond it is dropped."""
        path = Path(folder)
        check_writable("log", path / "run.jsonl")
        table, self._lines = CsvLog(path / "progress.csv"), RunLog(path / "run.jsonl", program, seed)
        self._lines.forget_requests()
        for log in (table, self._lines):
            log.forget_after(step)
        self._logs = [table, self._lines, TensorBoardLog(path)]

    def write(self, step: int, values: Mapping[str, float]) -> None:
        for log in self._logs:
            log.write(step, values)

    def waits_or_stops(self) -> bool:
        """Follows the requests of `hearth watch`: waits, or returns True to stop."""
        return self._lines.waits_or_stops()

    def asks_to_freeze(self) -> bool:
        return self._lines.asks_to_freeze()

    def close(self) -> None:
        for log in self._logs:
            log.close()


class ProgressBar:
    """One line on a terminal, drawn at most ten times a second."""

    WIDTH = 30

    def __init__(self, title: str, begin: int, end: int, file: IO[str] | None = None) -> None:
        self._title, self._begin, self._end = title, begin, max(end, begin + 1)
        self._file = sys.stderr if file is None else file
        self._start = time.monotonic()
        self._drawn = 0.0

    def update(self, step: int, note: str, *, is_last: bool = False) -> None:
        now = time.monotonic()
        if now - self._drawn < 0.1 and not is_last:
            return
        self._drawn = now
        done = min(1.0, step / self._end)
        rate = (step - self._begin) / max(1e-9, now - self._start)
        left = (self._end - step) / rate if rate > 0 else 0.0
        bar = "#" * int(done * self.WIDTH)
        self._file.write(f"\r{self._title} [{bar:<{self.WIDTH}}] {step:,} of {self._end:,}  {rate:,.0f} steps/s  "
                         f"{int(max(0.0, left)) // 60}:{int(max(0.0, left)) % 60:02} left  {note}\x1b[K")
        if is_last:
            self._file.write("\n")
        self._file.flush()
