#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the files that tests/unit/fit/dataset_test.cpp reads, with NumPy and zlib."""

import struct
import zlib
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
WIDTH, HEIGHT = 4, 2
PIXELS = np.arange(WIDTH * HEIGHT * 3, dtype=np.uint8).reshape(HEIGHT, WIDTH, 3) * 10


def write(path, data):
    target = FOLDER / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(data)


def png(color, rows, palette=b"", depth=8):
    """rows: bytes of each line, with its filter."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, depth, color, 0, 0, 0)
    stream = zlib.compress(b"".join(rows), 9)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + (chunk(b"PLTE", palette) if palette else b"")
            + chunk(b"IDAT", stream[:7]) + chunk(b"IDAT", stream[7:]) + chunk(b"IEND", b""))


def filtered(kind, row, above):
    """PNG's filter of a line of three bytes a pixel."""
    line, up = row.reshape(-1).astype(int), above.reshape(-1).astype(int)
    left = np.concatenate([[0, 0, 0], line[:-3]])
    corner = np.concatenate([[0, 0, 0], up[:-3]])
    guess = left + up - corner
    distances = np.abs(np.stack([guess - left, guess - up, guess - corner]))
    paeth = np.choose(distances.argmin(0), [left, up, corner])
    predicted = [0 * line, left, up, (left + up) // 2, paeth][kind]
    return bytes([kind]) + ((line - predicted) % 256).astype(np.uint8).tobytes()


def main():
    x, y = (np.arange(150) % 7).reshape(50, 3).astype("f4"), np.arange(50) % 5
    arrays = {"x": x, "y": y, "z": (np.arange(50) / 2).astype("f4")}
    np.savez(FOLDER / "stored.npz", **arrays)
    np.savez_compressed(FOLDER / "deflated.npz", **arrays)
    i = np.arange(100_000)
    data = (i // 1000 % 251 + i % 3).astype(np.uint8).tobytes()
    write("repeats.deflate", zlib.compress(data, 9)[2:-4])
    none = np.zeros_like(PIXELS[0])
    write("images/cat/filters.png", png(2, [filtered(1, PIXELS[0], none), filtered(4, PIXELS[1], PIXELS[0])]))
    write("images/cat/others.png", png(2, [filtered(2, PIXELS[0], none), filtered(3, PIXELS[1], PIXELS[0])]))
    write("images/dog/palette.png", png(3, [bytes([0, 0, 1, 2, 3]), bytes([0, 4, 5, 6, 7])], PIXELS.tobytes()))
    write("images/dog/deep.png", png(2, [bytes(1) + np.repeat(row, 2).tobytes() for row in PIXELS], depth=16))
    write("images/dog/plain.ppm", b"P6\n# a comment\n4 2\n255\n" + PIXELS.tobytes())
    write("sizes/a/small.pgm", b"P5 2 2 255\n" + bytes(4))
    write("sizes/b/large.pgm", b"P5 2 3 255\n" + bytes(6))
    write("formats/a/photo.jpg", b"\xff\xd8\xff\xe0 no picture")


if __name__ == "__main__":
    main()
