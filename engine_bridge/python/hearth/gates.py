# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evaluates brains in seeded episodes of any environment.  `hearth league` rates several results.

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
from ._policy import Policy
from .env import Description, Worlds


@dataclass
class Evaluation:
    """Results of a brain in seeded episodes, in the order of seeds."""

    environment: str
    seeds: list[int]  #: of the episodes; agents of one world share its seed
    returns: list[float]
    lengths: list[int]
    successes: list[bool] | None  #: whether the return reached Description.solved_at; None: it has none
    actions: dict[str, list[int]]  #: histogram of each action: of its options, or of its range in ten bins
    seconds: float
    decisions: int

    def summary(self) -> dict[str, Any]:
        """Returns the statistics of the table."""
        returns = np.array(self.returns)
        worst = int(returns.argmin())
        return {"environment": self.environment, "episodes": len(returns), "return_mean": float(returns.mean()),
                "return_std": float(returns.std(ddof=1)) if len(returns) > 1 else 0.0,
                "return_median": float(np.median(returns)), "return_best": float(returns.max()),
                "worst_return": float(returns[worst]), "worst_seed": self.seeds[worst],
                "worst_length": self.lengths[worst], "length_mean": float(np.mean(self.lengths)),
                "success": None if self.successes is None else float(np.mean(self.successes)),
                "actions": self.actions, "seconds": self.seconds,
                "us_per_decision": self.seconds / max(1, self.decisions) * 1e6}

    def table(self) -> str:
        """Returns the table as text."""
        s = self.summary()
        success = "the environment does not define it" if s["success"] is None else f"{100 * s['success']:.1f} %"
        lines = [("episodes", f"{s['episodes']} of {self.environment}"),
                 ("return", f"{s['return_mean']:.2f} +- {s['return_std']:.2f}, median {s['return_median']:.2f}, "
                            f"best {s['return_best']:.2f}"),
                 ("success", success),
                 ("worst case", f"{s['worst_return']:.2f} after {s['worst_length']} decisions "
                                f"(seed {s['worst_seed']})"),
                 ("length", f"{s['length_mean']:.1f} decisions")]
        for name, counts in self.actions.items():
            total = max(1, sum(counts))
            lines.append((f"action {name}", "  ".join(f"{100 * c / total:.1f} %" for c in counts)))
        lines.append(("time", f"{self.seconds:.2f} s, {s['us_per_decision']:.0f} us per decision"))
        return "\n".join(f"{name:<12}  {text}" for name, text in lines)

    def to_json(self) -> str:
        """Returns the statistics and the episodes as one JSON object."""
        return json.dumps({**self.summary(), "seeds": self.seeds, "returns": self.returns, "lengths": self.lengths})


def _histogram(description: Description, taken: Sequence[Array]) -> dict[str, list[int]]:
    actions = np.concatenate(taken)
    found: dict[str, list[int]] = {}
    offset = 0
    for a in description.actions:
        size = 1 if a["kind"] == "discrete" else a.get("size", 1)
        values = actions[:, offset:offset + size]
        offset += size
        if a["kind"] == "discrete":
            found[a["name"]] = np.bincount(values[:, 0].astype(int), minlength=a["n"]).tolist()
            continue
        for i in range(size):
            name = a["name"] if size == 1 else f"{a['name']}[{i}]"
            found[name] = np.histogram(values[:, i], 10, (a.get("low", -1.0), a.get("high", 1.0)))[0].tolist()
    return found


def evaluate(brain: Package, package: Package, environment: Description, *, episodes: int = 100, seed: int = 0,
             n_worlds: int | None = None, n_agents: int | None = None, max_decisions: int = 100_000,
             device: Device | None = None) -> Evaluation:
    """Plays episodes with the seeds seed, seed + 1, ...: deterministic actions, no learning.

    n_worlds: number of worlds stepped at once; None: as many as the package's maximum batch size allows.  n_agents: of
    each world; each agent has an episode of its own.
    Equal arguments give equal episodes on one device.
    Errors: HearthError for a brain of another package, and for an episode that does not end within max_decisions.
    """
    if episodes < 1:
        raise HearthError(f"{episodes} episodes, expected 1 or more", -6, "HEARTH_ERROR_OUT_OF_RANGE")
    n_agents = environment.n_agents[0] if n_agents is None else n_agents
    with Model(package, device) as model:
        at_once = min(n_worlds or max(1, model.max_batch_size // n_agents), -(-episodes // n_agents))
        worlds = Worlds(environment, at_once, n_agents)
        policy = Policy(model, brain)
        result = Evaluation(environment.name, [], [], [], None, {}, 0.0, 0)
        taken: list[Array] = []
        start = time.perf_counter()
        while len(result.returns) < episodes:
            first = seed + len(result.returns) // n_agents
            count = min(worlds.batch_size, episodes - len(result.returns))
            _play_round(worlds, policy, first, count, max_decisions, result, taken)
        result.seconds = time.perf_counter() - start
    result.actions = _histogram(environment, taken)
    if environment.solved_at is not None:
        result.successes = [r >= environment.solved_at for r in result.returns]
    return result


def _play_round(worlds: Worlds, policy: Policy, seed: int, count: int, max_decisions: int, result: Evaluation,
                taken: list[Array]) -> None:
    """Plays one episode of each of the first `count` agents; ended ones play on, unrecorded, until all have ended."""
    observations = worlds.reset(seeds=[seed + w for w in range(worlds.n_worlds)])
    returns, lengths = np.zeros(worlds.batch_size), np.zeros(worlds.batch_size, int)
    alive = np.arange(worlds.batch_size) < count
    episode_starts = np.ones(worlds.batch_size, np.float32)
    for _ in range(max_decisions):
        actions = policy.act(observations, episode_starts)
        taken.append(actions[alive].copy())
        observations, rewards, ends = worlds.step(actions)
        returns[alive] += rewards[alive]
        lengths[alive] += 1
        result.decisions += int(alive.sum())
        alive &= ends == 0
        if not alive.any():
            break
        episode_starts = (ends != 0).astype(np.float32)
        if ends.any():
            worlds.reset(worlds.any_by_world(ends != 0))
    else:
        raise HearthError(f"an episode of {worlds.description.name} has not ended after {max_decisions} decisions")
    result.seeds += [seed + i // worlds.n_agents for i in range(count)]
    result.returns += returns[:count].tolist()
    result.lengths += lengths[:count].tolist()


def _plots() -> Any:
    try:
        import matplotlib
    except ImportError:
        raise HearthError("curves are drawn with matplotlib, which is not installed: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot
    return pyplot


def draw_evaluation(result: Evaluation, path: str | os.PathLike[str]) -> None:
    """Draws the returns, their distribution and histograms of the actions as a PNG."""
    plots = _plots()
    figure, axes = plots.subplots(1, 2 + len(result.actions), figsize=(4 * (2 + len(result.actions)), 3.2))
    axes[0].plot(result.returns, ".", color="tab:blue")
    axes[0].axhline(np.mean(result.returns), color="tab:orange")
    axes[0].set(title=result.environment, xlabel="episode", ylabel="return")
    axes[1].plot(np.sort(result.returns), np.linspace(0, 1, len(result.returns)), color="tab:blue")
    axes[1].set(title="distribution of returns", xlabel="return", ylabel="fraction of episodes at or below",
                ylim=(0, 1))
    for axis, (name, counts) in zip(axes[2:], result.actions.items()):
        axis.bar(range(len(counts)), np.array(counts) / max(1, sum(counts)), color="tab:green")
        axis.set(title=name, xlabel="option, or tenth of the range", ylabel="fraction of decisions",
                 xticks=range(len(counts)))
    figure.tight_layout()
    figure.savefig(path, format="png", dpi=100)
    plots.close(figure)
