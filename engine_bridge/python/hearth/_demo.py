# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Demonstration files, which games record (docs/reference/demo_format.md)."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from . import _interface as c
from ._library import HearthError, lib
from ._model import Array


class Demo(NamedTuple):
    """Steps of a demonstration file, in the order in which they were played."""

    observations: Array  #: float32 [n, observation_size]
    action_masks: Array  #: float32 [n, action_mask_size]
    actions: Array  #: float32 [n, action_size], in the game's units
    rewards: Array  #: float32 [n], until the next step of the episode
    terminated: Array  #: bool [n]
    truncated: Array  #: bool [n]
    demonstrators: Array  #: uint32 [n], numbered from 1; 0: the game itself
    schema_hash: int  #: `Agents.schema_hash` of the agents that were recorded


def read_demo(path: str | os.PathLike[str]) -> Demo:
    """Reads a demonstration file.

        demo = hearth.read_demo("anna.demo")
        agents.decide(demo.observations[:16], demonstrations=demo.actions[:16])

    Errors: OSError; HearthError for a file that is damaged, naming the first step that is, and for other versions.
    """
    data = np.frombuffer(Path(path).read_bytes(), np.uint8).copy()  # aligned
    bytes_, info, messages = data.ctypes.data, c.DemoInfo(), c.Messages()

    def check(code: int) -> None:
        if code != 0:
            raise HearthError(f"{os.fspath(path)}: {messages.text.decode(errors='replace')}", code,
                              lib().hearth_result_name(code).decode())

    check(lib().hearth_demo_open(bytes_, data.size, ctypes.byref(info), ctypes.byref(messages)))
    n = info.step_count
    observations = np.empty((n, info.observation_size), np.float32)
    masks = np.empty((n, info.action_mask_size), np.float32)
    actions = np.empty((n, info.action_size), np.float32)
    rewards, ends, who = np.empty(n, np.float32), np.empty(n, np.uint32), np.empty(n, np.uint32)
    step = c.DemoStep()

    def floats(pointer: Any, count: int) -> Any:
        return np.ctypeslib.as_array(pointer, (count,)) if count else 0

    for i in range(n):
        check(lib().hearth_demo_get_step(bytes_, data.size, i, ctypes.byref(step), ctypes.byref(messages)))
        observations[i] = floats(step.observation, info.observation_size)
        masks[i] = floats(step.action_mask, info.action_mask_size)
        actions[i] = floats(step.action, info.action_size)
        rewards[i], ends[i], who[i] = step.reward, step.episode_end, step.demonstrator
    return Demo(observations, masks, actions, rewards, ends == 1, ends == 2, who, info.schema_hash)
