# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Demonstration files."""

from pathlib import Path

import numpy as np
import pytest

import hearth

STORED = Path(__file__).resolve().parents[3] / "tests/data/demonstrations/sail.demo"


def test_steps_are_read_as_arrays():
    demo = hearth.read_demo(STORED)
    assert demo.observations.shape == (12, 3) and demo.action_masks.shape == (12, 3)
    assert np.array_equal(demo.actions[:, 0], np.where(demo.observations[:, 0] > 0, -0.75, 0.75))
    assert np.array_equal(demo.action_masks[0], [1, 0, 1]) and (demo.rewards == 0.5).all()
    assert np.array_equal(np.flatnonzero(demo.truncated), [9]) and not demo.terminated.any()
    assert not demo.demonstrators.any() and demo.schema_hash != 0


def test_damaged_files_are_refused_by_name(tmp_path):
    damaged = bytearray(STORED.read_bytes())
    damaged[-4] ^= 1
    (tmp_path / "bad.demo").write_bytes(damaged)
    with pytest.raises(hearth.HearthError, match=r"bad\.demo: demonstration file: step 11: its checksum differs"):
        hearth.read_demo(tmp_path / "bad.demo")
    (tmp_path / "cut.demo").write_bytes(damaged[:-9])
    with pytest.raises(hearth.HearthError, match="ends within step 11; cut it to"):
        hearth.read_demo(tmp_path / "cut.demo")
    with pytest.raises(OSError):
        hearth.read_demo(tmp_path / "none.demo")
