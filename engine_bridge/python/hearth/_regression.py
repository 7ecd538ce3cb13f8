# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Online regression: predicts numbers from samples that arrive one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._device import Device
from ._model import Array, Model, Package


class Regression:
    """Learns a function from samples that are kept in a ring buffer.

    package: as `cook_regression` returns it.

        r = hearth.Regression(hearth.cook_regression(input_size=3))
        r.add(inputs, targets)
        r.learn(100)
        r.predict(inputs)

    Batches of any size are split.  One thread at a time, together with its device.
    """

    def __init__(self, package: Package, device: Device | None = None) -> None:
        self.model = Model(package, device)

    def _split(self, count: int) -> list[slice]:
        at_once = self.model.max_batch_size
        return [slice(begin, min(begin + at_once, count)) for begin in range(0, count, at_once)]

    def add(self, inputs: Any, targets: Any) -> None:
        """Stores samples: float32 [n, input_size] and [n, output_size]; those with NaN are rejected and counted."""
        x, y = np.asarray(inputs, np.float32), np.asarray(targets, np.float32)
        for rows in self._split(len(x)):
            self.model.run("store", input=x[rows], target=y[rows])

    def learn(self, steps: int = 1) -> None:
        """Takes this many gradient steps, each on a minibatch of the samples, and publishes the weights.  Does nothing
        before learning_starts samples."""
        for _ in range(steps):
            self.model.run("learn")
        self.model.run("publish")

    def predict(self, inputs: Any) -> Array:
        """Returns predictions, float32 [n, output_size]."""
        x = np.asarray(inputs, np.float32)
        return np.concatenate([self.model.run("predict", input=x[rows])["output"] for rows in self._split(len(x))])

    def save_brain(self) -> bytes:
        """Returns weights, optimizer and statistics."""
        return self.model.save_brain()

    def load_brain(self, brain: Package) -> None:
        """Loads what `save_brain` of the same package returned."""
        self.model.load_brain(brain)

    def close(self) -> None:
        """Frees its memory."""
        self.model.close()
