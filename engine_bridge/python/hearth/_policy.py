# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""A brain that only acts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._library import HearthError
from ._model import Array, Model, Package


class Policy:
    """A brain that acts with the entry "act" of its package.  Recurrent state is kept by row."""

    def __init__(self, model: Model, brain: Package | None = None) -> None:
        if "act" not in model.entries:
            raise HearthError(f"the package has no entry 'act'; it has: {', '.join(model.entries)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        self._model = model
        self._inputs = {t.name: t for t in model.inputs("act")}
        if brain is not None:
            model.load_brain(brain)

    @property
    def is_recurrent(self) -> bool:
        return "episode_start" in self._inputs

    def act(self, observations: Array, episode_starts: Array, masks: Array | None = None,
            exploration: float = 0.0) -> Array:
        """Returns actions, float32 [n, action size].

        observations: [n, observation size].  episode_starts: [n], not 0 where an episode begins.  masks: [n, mask
        size]; None: all options are available.
        Error: HearthError for more rows of a recurrent network than the package has agents.
        """
        count, at_once = len(observations), self._model.max_batch_size
        if count > at_once and self.is_recurrent:
            raise HearthError(f"{count} observations of a recurrent network, expected at most {at_once} (n_agents of "
                              "the package), each with a recurrent state of its own", -6, "HEARTH_ERROR_OUT_OF_RANGE")
        if masks is None and "mask" in self._inputs:
            masks = np.ones((count, self._inputs["mask"].resolve(1)[1]), np.float32)
        given: dict[str, Any] = {"observation": observations, "id": np.arange(count, dtype=np.uint32),
                                 "episode_start": np.asarray(episode_starts, np.float32), "mask": masks}
        given = {name: value for name, value in given.items() if name in self._inputs}
        parts = [self._model.run("act", {name: value[begin:begin + at_once] for name, value in given.items()},
                                 exploration=float(exploration))["action"] for begin in range(0, count, at_once)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
