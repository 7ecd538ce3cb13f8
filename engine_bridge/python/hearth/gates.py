# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evaluates brains in seeded episodes of any environment.  `hearth league` rates several such results.

    python -m hearth evaluate cart.brain --package cart.hearth --environment CartPole --episodes 100 --png cart.png
    python -m hearth evaluate old.brain --package cart.hearth --environment CartPole --json > old.json
    hearth league old.json new.json
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._device import Device
from ._library import HearthError
from ._model import Array, Model, Package
from .env import Description, Worlds


@dataclass
class Evaluation:
    """Results of a brain in seeded episodes, in the order of seeds."""

    environment: str
    seeds: list[int]  #: of the episodes, one for each row of a world
    returns: list[float]
    lengths: list[int]
    successes: list[bool] | None  #: whether a return reached what counts as solved; None: nothing does
    actions: dict[str, list[int]]  #: of each part of the actions how often: choices, or numbers in ten bins
    seconds: float
    decisions: int

    def summary(self) -> dict[str, Any]:
        """The table's numbers."""
        returns = np.array(self.returns)
        worst = int(returns.argmin())
        return {"environment": self.environment, "episodes": len(returns), "return_mean": float(returns.mean()),
                "return_deviation": float(returns.std(ddof=1)) if len(returns) > 1 else 0.0,
                "return_median": float(np.median(returns)), "return_best": float(returns.max()),
                "worst_return": float(returns[worst]), "worst_seed": self.seeds[worst],
                "worst_length": self.lengths[worst], "length_mean": float(np.mean(self.lengths)),
                "success": None if self.successes is None else float(np.mean(self.successes)),
                "actions": self.actions, "seconds": self.seconds,
                "us_per_decision": self.seconds / max(1, self.decisions) * 1e6}

    def table(self) -> str:
        """The table as text."""
        s = self.summary()
        success = "no return is named that counts" if s["success"] is None else f"{100 * s['success']:.1f} %"
        lines = [("episodes", f"{s['episodes']} of {self.environment}"),
                 ("return", f"{s['return_mean']:.2f} +- {s['return_deviation']:.2f}, median {s['return_median']:.2f}, "
                            f"best {s['return_best']:.2f}"),
                 ("success", success),
                 ("worst case", f"{s['worst_return']:.2f} after {s['worst_length']} decisions "
                                f"(seed {s['worst_seed']})"),
                 ("length", f"{s['length_mean']:.1f} decisions")]
        for name, counts in self.actions.items():
            total = max(1, sum(counts))
            lines.append((f"action {name}", "  ".join(f"{100 * c / total:.1f} %" for c in counts)))
        lines.append(("time", f"{self.seconds:.2f} s, {s['us_per_decision']:.0f} us a decision"))
        return "\n".join(f"{name:<12}  {text}" for name, text in lines)

    def to_json(self) -> str:
        """The table's numbers and the episodes, as one object."""
        return json.dumps({**self.summary(), "seeds": self.seeds, "returns": self.returns, "lengths": self.lengths})


class _Actor:
    """A brain that acts deterministically with the entry "act"."""

    def __init__(self, model: Model, brain: Package, rows: int) -> None:
        if "act" not in model.entries:
            raise HearthError(f"the package has no entry 'act'; it has: {', '.join(model.entries)}", -2,
                              "HEARTH_ERROR_NOT_FOUND")
        self._model = model
        self._takes = {t.name for t in model.inputs("act")}
        model.load_brain(brain)
        self._ids = np.arange(rows, dtype=np.uint32)
        masked = [t for t in model.inputs("act") if t.name == "mask"]
        self._fixed = {"mask": np.ones(masked[0].at(rows), np.float32)} if masked else {}

    def act(self, seen: Array, is_first: Array) -> Array:
        inputs = {"observation": seen, "explore": 0.0, "id": self._ids, "is_first": is_first, **self._fixed}
        return self._model.run("act", {k: v for k, v in inputs.items() if k in self._takes})["action"]


def _histogram(description: Description, taken: Sequence[Array]) -> dict[str, list[int]]:
    actions = np.concatenate(taken)
    found: dict[str, list[int]] = {}
    at = 0
    for a in description.actions:
        width = 1 if a["kind"] == "choose" else a.get("width", 1)
        values = actions[:, at:at + width]
        at += width
        if a["kind"] == "choose":
            found[a["name"]] = np.bincount(values[:, 0].astype(int), minlength=a["count"]).tolist()
            continue
        for i in range(width):
            name = a["name"] if width == 1 else f"{a['name']}[{i}]"
            found[name] = np.histogram(values[:, i], 10, (a.get("low", -1.0), a.get("high", 1.0)))[0].tolist()
    return found


def evaluate(brain: Package, package: Package, environment: Description, *, episodes: int = 100, seed: int = 0,
             worlds: int | None = None, agents: int | None = None, most_decisions: int = 100_000,
             device: Device | None = None) -> Evaluation:
    """Plays episodes with the seeds seed, seed + 1, ...: deterministic actions, no learning.

    worlds: at once; None: as many as the package has rows for.  agents: of each world; each has an episode of its own.
    Equal arguments give equal episodes on one device.
    Errors: HearthError for a brain that does not fit, and for an episode that does not end in most_decisions.
    """
    if episodes < 1:
        raise HearthError(f"{episodes} episodes, expected 1 or more", -6, "HEARTH_ERROR_OUT_OF_RANGE")
    agents = environment.agents[0] if agents is None else agents
    with Model(package, device) as model:
        per_round = min(worlds or max(1, model.max_rows // agents), -(-episodes // agents))
        ground = Worlds(environment, per_round, agents)
        actor = _Actor(model, brain, ground.rows)
        told = Evaluation(environment.name, [], [], [], None, {}, 0.0, 0)
        taken: list[Array] = []
        began = time.perf_counter()
        while len(told.returns) < episodes:
            first = seed + len(told.returns) // agents
            _round(ground, actor, first, min(ground.rows, episodes - len(told.returns)), most_decisions, told, taken)
        told.seconds = time.perf_counter() - began
    told.actions = _histogram(environment, taken)
    if environment.solved_at is not None:
        told.successes = [r >= environment.solved_at for r in told.returns]
    return told


def _round(ground: Worlds, actor: _Actor, seed: int, count: int, most: int, told: Evaluation,
           taken: list[Array]) -> None:
    """One episode of each of the first `count` rows; ended ones continue unrecorded until the last one has ended."""
    seen = ground.reset(seeds=[seed + w for w in range(ground.worlds)])
    returns, lengths = np.zeros(ground.rows), np.zeros(ground.rows, int)
    alive, is_first = np.arange(ground.rows) < count, np.ones(ground.rows, np.float32)
    for _ in range(most):
        actions = actor.act(seen, is_first)
        taken.append(actions[alive].copy())
        seen, rewards, ends = ground.step(actions)
        returns[alive] += rewards[alive]
        lengths[alive] += 1
        told.decisions += int(alive.sum())
        alive &= ends == 0
        if not alive.any():
            break
        is_first = (ends != 0).astype(np.float32)
        if ends.any():
            ground.reset(ground.by_world(ends != 0))
    else:
        raise HearthError(f"an episode of {ground.description.name} has not ended after {most} decisions")
    told.seeds += [seed + row // ground.agents for row in range(count)]
    told.returns += returns[:count].tolist()
    told.lengths += lengths[:count].tolist()


def _plots() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise HearthError("curves are drawn with matplotlib; expected that package to be installed") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def draw_evaluation(told: Evaluation, path: str | os.PathLike[str]) -> None:
    """Draws returns per episode, their distribution, and the actions, as a PNG."""
    plots = _plots()
    figure, axes = plots.subplots(1, 2 + len(told.actions), figsize=(4 * (2 + len(told.actions)), 3.2))
    axes[0].plot(told.returns, ".", color="tab:blue")
    axes[0].axhline(np.mean(told.returns), color="tab:orange")
    axes[0].set(title=told.environment, xlabel="episode", ylabel="return")
    axes[1].plot(np.sort(told.returns), np.linspace(0, 1, len(told.returns)), color="tab:blue")
    axes[1].set(title="distribution of returns", xlabel="at most", ylabel="part of episodes", ylim=(0, 1))
    for axis, (name, counts) in zip(axes[2:], told.actions.items()):
        axis.bar(range(len(counts)), np.array(counts) / max(1, sum(counts)), color="tab:green")
        axis.set(title=name, xlabel="choice or tenth of the range", ylabel="part of decisions",
                 xticks=range(len(counts)))
    figure.tight_layout()
    figure.savefig(path, format="png", dpi=100)
    plots.close(figure)
