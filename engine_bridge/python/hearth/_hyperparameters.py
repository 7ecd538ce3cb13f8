# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hyperparameters with the names, meanings and defaults of Stable-Baselines3 2.9 as those of Hearth's learners.

docs/how-to/python_training.md has the table of what differs.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Union

import numpy as np

from ._library import check_whole, invalid

#: A number, or a function of the progress that remains (1 at the beginning, 0 at the end) that returns one.
Schedule = Union[float, Callable[[float], float]]

_UNLIMITED = 1e9
# The learner's running normalization has VecNormalize's limits; values that are not normalized have none.
_NORMALIZED_LIMIT, _OBSERVATION_LIMIT = 10.0, 1e4

_COMMON = {"normalize_observations": False}

DEFAULTS: dict[str, dict[str, Any]] = {
    "ppo": {**_COMMON, "learning_rate": 3e-4, "n_steps": 2048, "batch_size": 64, "n_epochs": 10, "gamma": 0.99,
            "gae_lambda": 0.95, "clip_range": 0.2, "clip_range_vf": None, "normalize_advantage": True,
            "ent_coef": 0.0, "vf_coef": 0.5, "max_grad_norm": 0.5, "target_kl": None, "log_std_init": 0.0,
            "log_std_min": -20.0, "log_std_max": 2.0, "normalize_rewards": False},
    "dqn": {**_COMMON, "learning_rate": 1e-4, "buffer_size": 1_000_000, "learning_starts": 100, "batch_size": 32,
            "tau": 1.0, "gamma": 0.99, "train_freq": 4, "gradient_steps": 1, "target_update_interval": 10_000,
            "exploration_fraction": 0.1, "exploration_initial_eps": 1.0, "exploration_final_eps": 0.05,
            "max_grad_norm": 10.0, "double_q": False, "dueling": False},
    "sac": {**_COMMON, "learning_rate": 3e-4, "buffer_size": 1_000_000, "learning_starts": 100, "batch_size": 256,
            "tau": 0.005, "gamma": 0.99, "train_freq": 1, "gradient_steps": 1, "ent_coef": "auto",
            "target_entropy": "auto", "log_std_min": -20.0, "max_grad_norm": None},
}

NETWORKS: dict[str, dict[str, Any]] = {
    "ppo": {"kind": "mlp", "hidden_sizes": [64, 64], "activation": "tanh"},
    "dqn": {"kind": "mlp", "hidden_sizes": [64, 64], "activation": "relu", "init": "pytorch_default"},
    "sac": {"kind": "mlp", "hidden_sizes": [256, 256], "activation": "relu", "init": "pytorch_default"},
}

#: Networks by name, for images: of Mnih et al., 2015, for 84 x 84 pixels, and of Young and Tian, 2019, for MinAtar.
CONVOLUTIONAL: dict[str, dict[str, Any]] = {
    "nature_cnn": {"kind": "cnn", "hidden_sizes": [512], "convolutions": [
        {"channels": 32, "kernel_size": 8, "stride": 4}, {"channels": 64, "kernel_size": 4, "stride": 2},
        {"channels": 64, "kernel_size": 3, "stride": 1}]},
    "minatar_cnn": {"kind": "cnn", "hidden_sizes": [128], "convolutions": [
        {"channels": 16, "kernel_size": 3, "stride": 1}]},
}

#: Names of Stable-Baselines3 that have no meaning here, and what to do about them.
_ELSEWHERE = {
    "policy": "networks are given by network=, a dictionary, \"nature_cnn\" or \"minatar_cnn\": leave it out",
    "policy_kwargs": "write network={\"kind\": \"mlp\", \"hidden_sizes\": [64, 64]} in its place",
    "use_sde": "noise depends on no state: leave it out",
    "sde_sample_freq": "noise depends on no state: leave it out",
    "action_noise": "SAC explores by its own policy: leave it out",
    "replay_buffer_class": "DQN has prioritized_alpha and return_steps: leave it out",
    "replay_buffer_kwargs": "DQN has prioritized_alpha and return_steps: leave it out",
    "optimize_memory_usage": "the buffer is in the device's memory: leave it out",
    "rollout_buffer_class": "the rollout is in the device's memory: leave it out",
    "stats_window_size": "means of the log are over 100 episodes: leave it out",
}

#: Names that this file keeps to itself: not hyperparameters of the learner.
_DRIVER = ("exploration_fraction", "exploration_initial_eps", "exploration_final_eps")
#: Those that may be functions of the progress.
SCHEDULES = ("learning_rate", "clip_range", "ent_coef")
#: Smallest values of whole numbers that are used here; the learner checks all others.
_LEAST = {"n_steps": 1, "batch_size": 1, "n_epochs": 1, "buffer_size": 1, "learning_starts": 0, "train_freq": 1,
          "target_update_interval": 1}


def merged(kind: str, given: dict[str, Any]) -> dict[str, Any]:
    """Returns the defaults with what is given in their place; further names are those of the learner."""
    for name in given:
        if name in _ELSEWHERE:
            raise invalid(f"{name} is of Stable-Baselines3; {_ELSEWHERE[name]}")
    values = {**DEFAULTS[kind], **given}
    for name, value in values.items():
        if isinstance(value, np.generic):
            values[name] = value = value.item()
        if name in _LEAST:
            check_whole(name, value, _LEAST[name])
        if name in _DRIVER:  # a fraction of more than 1 leaves some exploration at the end
            most = math.inf if name == "exploration_fraction" else 1
            if not (isinstance(value, numbers.Real) and 0 <= value <= most):
                raise invalid(f"{name} is {value!r}, expected a number, at least 0 and at most {most}")
        if callable(value) and name not in SCHEDULES:
            raise invalid(f"{name} is a function, expected a number; functions of the progress may be "
                          f"{', '.join(SCHEDULES)}")
        number = value(1.0) if callable(value) else value
        if callable(value) and not isinstance(number, numbers.Real):
            raise invalid(f"{name}(1.0) is {number!r}, expected a number")
        if isinstance(number, (int, float)) and not math.isfinite(number):
            raise invalid(f"{name} is {number}, expected a finite number")
        if name in SCHEDULES and isinstance(number, (int, float)) and number < 0:
            raise invalid(f"{name} is {number}, expected at least 0")
    for name in _DRIVER:
        if kind != "dqn" and name in given:
            raise invalid(f"{name} is of DQN, and {kind.upper()} explores by its own policy: leave it out")
    if kind == "sac" and "log_std_init" in given:
        raise invalid("log_std_init is of PPO; the actor of SAC computes log std from the observation: leave it out")
    return values


def network(kind: str, given: str | Mapping[str, Any] | None, shape: Sequence[int] | None) -> dict[str, Any]:
    """Returns the object `network` of `cook_agents`.

    given: the object, a name of CONVOLUTIONAL, or None: the default.  shape: of the observation, if it is one box: the
    channels of an image are its first extent, if that is the smallest, else its last.
    """
    if isinstance(given, str) and given not in CONVOLUTIONAL:
        raise invalid(f"network is '{given}', expected a dictionary, or one of {', '.join(CONVOLUTIONAL)}")
    if not (given is None or isinstance(given, (str, Mapping))):
        raise invalid(f"network is {given!r}, expected a dictionary such as " '{"kind": "mlp", "hidden_sizes": [64, 64]}')
    out = dict(NETWORKS[kind] if given is None else CONVOLUTIONAL[given] if isinstance(given, str) else given)
    if out.get("kind") == "cnn" and "shape" not in out:
        if shape is None or len(shape) != 3:
            raise invalid("a network of kind 'cnn' needs a Box of three extents as observation, found "
                           + (f"extents {list(shape)}" if shape is not None else "another space"))
        out["shape"] = [int(extent) for extent in shape]
        out.setdefault("channels_last", min(shape) != shape[0] or shape[0] == shape[2])
    return out


def learner(kind: str, values: dict[str, Any], n_agents: int) -> dict[str, Any]:
    """Returns the object `learner` of `cook_agents`."""
    out = {name: value for name, value in values.items() if name not in _DRIVER}
    out["kind"] = kind
    # Tunable values are no constants of kernels: other values need no other kernels.
    for name in SCHEDULES:
        value = out.get(name)
        is_number = isinstance(value, (int, float)) and not (kind == "sac" and name == "ent_coef")  # refused there
        if callable(value) or is_number:
            out[name] = {"tunable": float(value(1.0) if callable(value) else value)}
    is_normalized = out["normalize_observations"]
    out.setdefault("clip_obs", _NORMALIZED_LIMIT if is_normalized else _OBSERVATION_LIMIT)
    out.setdefault("clip_reward", _NORMALIZED_LIMIT if out.get("normalize_rewards") else _UNLIMITED)
    if out["max_grad_norm"] is None:
        out["max_grad_norm"] = _UNLIMITED
    {"ppo": _ppo, "dqn": _dqn, "sac": _sac}[kind](out, n_agents)
    return out


def _ppo(out: dict[str, Any], n_agents: int) -> None:
    rollout, batch_size = out["n_steps"] * n_agents, out.pop("batch_size")
    if "n_minibatches" not in out:
        if batch_size < 1 or rollout % batch_size != 0:
            near = [size for size in range(1, rollout + 1) if rollout % size == 0]
            below = max([size for size in near if size <= batch_size], default=1)
            above = min([size for size in near if size >= batch_size], default=rollout)
            raise invalid(f"batch_size is {batch_size}, expected a divisor of the rollout's {rollout} samples "
                           f"({out['n_steps']} n_steps of {n_agents} agents), such as {below} or {above}")
        out["n_minibatches"] = rollout // batch_size
    # Stable-Baselines3 stops beyond 1.5 times the value.
    out["target_kl"] = 1.5 * out["target_kl"] if out["target_kl"] else 0.0
    out["clip_range_vf"] = out["clip_range_vf"] or 0.0
    out["normalize_advantages"] = out.pop("normalize_advantage")


def _replay(out: dict[str, Any], n_agents: int) -> None:
    """train_freq counts steps of all environments at once; the learner counts samples."""
    out["train_freq"] *= n_agents
    if out["gradient_steps"] == -1:
        out["gradient_steps"] = out["train_freq"]
    out["learning_starts"] = max(1, out["learning_starts"])


def _dqn(out: dict[str, Any], n_agents: int) -> None:
    _replay(out, n_agents)
    # Counted in samples there, in gradient steps by the learner.  There the target network stays as it is while the
    # gradient steps of an update are taken, and several of its updates lie between two of those.
    intervals = out["train_freq"] / max(1, out["target_update_interval"])  # in the samples of an update
    if intervals > 1:
        out["tau"] = 1 - (1 - out["tau"]) ** intervals
    out["target_update_interval"] = round(out["gradient_steps"] / min(1.0, intervals))


def _sac(out: dict[str, Any], n_agents: int) -> None:
    _replay(out, n_agents)
    ent_coef, target = str(out.pop("ent_coef")), out.pop("target_entropy")
    if ent_coef.split("_")[0] != "auto":
        raise invalid(f"ent_coef is {ent_coef}, expected 'auto' or 'auto_0.1' (learned from 0.1 on)")
    try:
        if "_" in ent_coef:
            out["ent_coef_init"] = float(ent_coef.split("_", 1)[1])
        if target != "auto":
            out["target_entropy"] = float(target)
    except (TypeError, ValueError):
        raise invalid(f"ent_coef is {ent_coef} and target_entropy {target!r}, expected 'auto', 'auto_0.1' and a number "
                      "or 'auto'") from None
