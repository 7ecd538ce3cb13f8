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
    """Lines for `hearth watch` (docs/reference/run_log.md)."""

    def __init__(self, path: Path, program: str, seed: int) -> None:
        self._path = path
        if not path.exists() or path.stat().st_size == 0:
            self._append({"type": "run", "program": program, "at": "steps", "seed": seed})

    def _append(self, line: Mapping[str, Any]) -> None:
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")

    def was_asked_to_stop(self) -> bool:
        """Takes a request of `hearth watch` to stop (run_log.hpp)."""
        request = self._path.with_name(self._path.name + ".stop")
        if not request.exists():
            return False
        request.unlink()
        return True

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
        pass


class Logs:
    """All logs of a folder: progress.csv, run.jsonl, and an event file of TensorBoard."""

    def __init__(self, folder: str | os.PathLike[str], program: str, seed: int, step: int) -> None:
        """step: the run goes on from here; what the logs have beyond it is dropped."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        table, self._lines = CsvLog(path / "progress.csv"), RunLog(path / "run.jsonl", program, seed)
        self._lines.was_asked_to_stop()  # of an earlier run
        for log in (table, self._lines):
            log.forget_after(step)
        self._logs = [table, self._lines, TensorBoardLog(path)]

    def write(self, step: int, values: Mapping[str, float]) -> None:
        for log in self._logs:
            log.write(step, values)

    def was_asked_to_stop(self) -> bool:
        """Takes a request of `hearth watch` to stop."""
        return self._lines.was_asked_to_stop()

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
