# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gymnasium environments of games: any shared library with the five functions of hearth_environment.h.

    env = hearth.env.make("CartPole")                      # gymnasium.Env
    envs = hearth.env.make_vec("Hatchlings", n_worlds=4, n_agents=16)   # VectorEnv with num_envs = 64
    env = hearth.env.make("MyGame", library="build/libmy_game.so")

Needs the package gymnasium, 1.0 or newer.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ._agents import Agents
from ._library import HearthError

Array = np.ndarray[Any, Any]

_CONTINUES, _TERMINATED, _TRUNCATED = 0, 1, 2


def _field_size(field: Mapping[str, Any]) -> int:
    """Size of a field in floats, as hearth::agents::Field::raw_size."""
    kind = field.get("kind", "box")
    nested = sum(map(_field_size, field.get("fields", ())))
    sizes = {"box": field.get("size", 1), "binary": 1, "discrete": 1, "position": field.get("dims", 2),
             "unit_vector": field.get("dims", 2), "angle": 1, "quaternion": 4, "dict": nested,
             "array": field.get("count", 1) * nested, "entities": 1 + field.get("max_count", 1) * nested}
    if kind not in sizes:
        raise HearthError(f"field '{field.get('name')}': kind '{kind}', expected one of {', '.join(sizes)}")
    return int(sizes[kind])


def _bounds(values: Sequence[float | None] | None, size: int, unbounded: float) -> Array:
    if values is None:
        return np.full(size, unbounded, np.float32)
    if len(values) != size:
        raise HearthError(f"{len(values)} bounds of observations, expected {size}")
    return np.array([unbounded if v is None else v for v in values], np.float32)


@dataclass(frozen=True)
class Description:
    """Description of an environment, from its library."""

    name: str
    library: Path
    observations: list[dict[str, Any]]  #: as for `hearth.cook_agents`
    actions: list[dict[str, Any]]
    n_agents: tuple[int, int]  #: minimum and maximum in a world
    max_episode_steps: int  #: 0: no limit
    solved_at: float | None
    observation_space: spaces.Box
    action_space: spaces.Space[Any]
    action_size: int


def _action_space(actions: Sequence[Mapping[str, Any]]) -> spaces.Space[Any]:
    """One discrete action: Discrete; several: MultiDiscrete; continuous ones: Box; both: a Dict of the two."""
    options = [a["n"] for a in actions if a["kind"] == "discrete"]
    others = [a for a in actions if a["kind"] == "continuous"]
    low = [a.get("low", -1.0) for a in others for _ in range(a.get("size", 1))]
    high = [a.get("high", 1.0) for a in others for _ in range(a.get("size", 1))]
    discrete = spaces.Discrete(options[0]) if len(options) == 1 else spaces.MultiDiscrete(options or [1])
    continuous = spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
    if not others:
        return discrete
    return spaces.Dict({"discrete": discrete, "continuous": continuous}) if options else continuous


def _open(library: Path) -> ctypes.CDLL:
    opened = ctypes.CDLL(str(library))
    pointer = ctypes.c_void_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "describe": (ctypes.c_char_p, []),
        "create": (pointer, [ctypes.c_char_p, ctypes.c_uint32, ctypes.c_uint32]),
        "reset": (None, [pointer, pointer, pointer, pointer]),
        "step": (None, [pointer, pointer, pointer, pointer, pointer]),
        "destroy": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        try:
            function = getattr(opened, "hearth_environment_" + name)
        except AttributeError:
            raise HearthError(f"{library} does not export hearth_environment_{name}; expected the five functions of "
                              "hearth_environment.h") from None
        function.restype, function.argtypes = result, arguments
    return opened


def describe(library: str | os.PathLike[str]) -> list[Description]:
    """Lists the environments of a library.  Errors: HearthError if it provides none, or has another version."""
    path = Path(library).resolve()
    description = json.loads(_open(path).hearth_environment_describe())
    if description.get("version") != 2:
        raise HearthError(f"{path}: its description has version {description.get('version')}, expected 2: describe the "
                          "environments as this version's hearth_environment.h does", -5,
                          "HEARTH_ERROR_VERSION_MISMATCH")
    found = []
    for e in description["environments"]:
        size = sum(map(_field_size, e["observations"]))
        low = _bounds(e.get("observation_low"), size, -np.inf)
        high = _bounds(e.get("observation_high"), size, np.inf)
        action_size = sum(1 if a["kind"] == "discrete" else a.get("size", 1) for a in e["actions"])
        found.append(Description(e["name"], path, e["observations"], e["actions"], tuple(e.get("n_agents", (1, 1))),
                                 e.get("max_episode_steps", 0), e.get("solved_at"),
                                 spaces.Box(low, high, dtype=np.float32), _action_space(e["actions"]), action_size))
    return found


def _libraries() -> Iterator[Path]:
    """Yields libraries beside the package and in the folders of HEARTH_ENVIRONMENTS; the first of each file name."""
    folders = [Path(__file__).with_name("environments")]
    folders += [Path(f) for f in os.environ.get("HEARTH_ENVIRONMENTS", "").split(os.pathsep) if f]
    seen = set()
    for library in (found for folder in folders for found in sorted(folder.glob("libhearth_environment_*.so"))):
        if library.name not in seen:
            seen.add(library.name)
            yield library


def available() -> list[Description]:
    """Lists the environments of all libraries that are found."""
    return [d for library in _libraries() for d in describe(library)]


def find(name: str, library: str | os.PathLike[str] | None = None) -> Description:
    """Returns the environment of this name.  Error: HEARTH_ERROR_NOT_FOUND listing the existing ones."""
    found = describe(library) if library is not None else available()
    for description in found:
        if description.name == name:
            return description
    raise HearthError(f"no environment is named '{name}'; there are: {', '.join(d.name for d in found) or 'none'}",
                      -2, "HEARTH_ERROR_NOT_FOUND")


class Worlds:
    """Many worlds of an environment, stepped at once: the five functions over NumPy arrays.

    The batch is all agents of the first world, then those of the next, and so on: batch_size = n_worlds * n_agents.
    Returned arrays are the object's own and change with the next call.
    """

    def __init__(self, description: Description, n_worlds: int = 1, n_agents: int | None = None) -> None:
        self.description = description
        self.n_worlds, self.n_agents = n_worlds, description.n_agents[0] if n_agents is None else n_agents
        self._library = _open(description.library)
        self._handle = None
        minimum, maximum = description.n_agents
        if n_worlds < 1 or not minimum <= self.n_agents <= maximum:
            raise HearthError(f"{description.name}: {n_worlds} worlds of {self.n_agents} agents, expected 1 or more of "
                              f"{minimum} to {maximum}", -6, "HEARTH_ERROR_OUT_OF_RANGE")
        self._handle = self._library.hearth_environment_create(description.name.encode(), n_worlds, self.n_agents)
        if not self._handle:
            raise HearthError(f"{description.library} could not create {n_worlds} worlds of {self.n_agents} agents of "
                              f"'{description.name}'")
        self.batch_size = n_worlds * self.n_agents
        self.observations = np.zeros((self.batch_size, *description.observation_space.shape), np.float32)
        self.rewards = np.zeros(self.batch_size, np.float32)
        self.ends = np.zeros(self.batch_size, np.uint8)

    def reset(self, which: Array | None = None, seeds: Sequence[int] | None = None) -> Array:
        """Starts episodes of the worlds `which` (bool [n_worlds]; None: all); seeds: one for each world."""
        mask = None if which is None else np.ascontiguousarray(which, np.uint8)
        numbers = None if seeds is None else np.array(seeds, np.uint64)
        for name, array in (("which", mask), ("seeds", numbers)):
            if array is not None and array.shape != (self.n_worlds,):
                raise HearthError(f"{name} is {list(array.shape)}, expected [{self.n_worlds}]")
        self._library.hearth_environment_reset(self._handle, *(None if a is None else a.ctypes.data
                                                               for a in (mask, numbers)),
                                               self.observations.ctypes.data)
        return self.observations

    def step(self, actions: Array) -> tuple[Array, Array, Array]:
        """Executes actions, float32 [batch_size, action_size].

        Returns observations, rewards and ends (0: continues, 1: terminated, 2: truncated).  A world is reset as a
        whole, so once one of its agents has ended, the others are truncated.
        """
        actions = np.ascontiguousarray(actions, np.float32)
        expected = (self.batch_size, self.description.action_size)
        if actions.shape != expected:
            raise HearthError(f"actions are {list(actions.shape)}, expected {list(expected)}")
        if not np.isfinite(actions).all():
            raise HearthError("actions contain NaN or infinity; expected finite values")
        self._library.hearth_environment_step(self._handle, actions.ctypes.data, self.observations.ctypes.data,
                                              self.rewards.ctypes.data, self.ends.ctypes.data)
        has_ended = np.repeat(self.any_by_world(self.ends != _CONTINUES), self.n_agents)
        self.ends[has_ended & (self.ends == _CONTINUES)] = _TRUNCATED
        return self.observations, self.rewards, self.ends

    def any_by_world(self, flags: Array) -> Array:
        """Returns, for each world, whether the flag of any of its agents is true."""
        return flags.reshape(self.n_worlds, self.n_agents).any(1)

    def close(self) -> None:
        """Destroys the worlds."""
        if self._handle:
            self._library.hearth_environment_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()


def _to_floats(space: spaces.Space[Any], action: Any, batch_size: int) -> Array:
    """Converts actions of a space, [batch_size, ...], to the game's floats."""
    if isinstance(space, spaces.Dict):
        return np.concatenate([_to_floats(space[key], action[key], batch_size) for key in ("discrete", "continuous")],
                              1)
    return np.asarray(action, np.float32).reshape(batch_size, -1)


def _check_action(space: spaces.Space[Any], action: Any) -> None:
    if not space.contains(action):
        raise HearthError(f"action {action!r} is not in {space}", -1, "HEARTH_ERROR_INVALID_ARGUMENT")


class Env(gymnasium.Env[Array, Any]):
    """One agent in one world, as a gymnasium.Env."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, description: Description) -> None:
        if description.n_agents[0] > 1:
            raise HearthError(f"{description.name} has {description.n_agents[0]} agents or more in a world: use "
                              "make_vec()")
        self._worlds = Worlds(description, 1, 1)
        self.description = description
        self.observation_space = description.observation_space
        self.action_space = description.action_space
        self._is_seeded = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        super().reset(seed=seed)
        if seed is None and not self._is_seeded:
            seed = int(self.np_random.integers(2**63))
        self._is_seeded = True
        return self._worlds.reset(seeds=None if seed is None else [seed])[0].copy(), {}

    def step(self, action: Any) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        _check_action(self.action_space, action)
        observations, rewards, ends = self._worlds.step(_to_floats(self.action_space, action, 1))
        return (observations[0].copy(), float(rewards[0]), bool(ends[0] == _TERMINATED), bool(ends[0] == _TRUNCATED),
                {})

    def close(self) -> None:
        self._worlds.close()


class Vector(VectorEnv[Array, Any, Array]):
    """All agents of n_worlds worlds, stepped at once; each agent is an environment of Gymnasium's.

    autoreset: AutoresetMode.NEXT_STEP (the step after the end of an episode ignores the action and returns the first
    observation of the next one) or SAME_STEP (the step that ends an episode returns it; info["final_obs"] is the last
    observation of the ended one).  A world is reset as a whole.
    """

    def __init__(self, description: Description, n_worlds: int = 1, n_agents: int | None = None,
                 autoreset: AutoresetMode = AutoresetMode.NEXT_STEP) -> None:
        if autoreset == AutoresetMode.DISABLED:
            raise HearthError("autoreset is DISABLED, expected NEXT_STEP or SAME_STEP: use Worlds to reset explicitly")
        self._worlds = Worlds(description, n_worlds, n_agents)
        self.description = description
        self.metadata = {"autoreset_mode": autoreset, "render_modes": []}
        self.num_envs = self._worlds.batch_size
        self.single_observation_space = description.observation_space
        self.single_action_space = description.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._autoreset = autoreset
        self._has_ended = np.zeros(n_worlds, bool)

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """seed: world w gets seed + w; or a list with one for each world."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None:
            seeds = [int(s) for s in self.np_random.integers(2**63, size=self._worlds.n_worlds)]
        elif isinstance(seed, int):
            seeds = [seed + w for w in range(self._worlds.n_worlds)]
        else:
            seeds = [int(self.np_random.integers(2**63)) if s is None else s for s in seed]
        self._has_ended[:] = False
        return self._worlds.reset(seeds=seeds).copy(), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        _check_action(self.action_space, actions)
        observations, rewards, ends = self._worlds.step(_to_floats(self.single_action_space, actions, self.num_envs))
        info: dict[str, Any] = {}
        if self._autoreset == AutoresetMode.NEXT_STEP:
            if self._has_ended.any():
                self._worlds.reset(self._has_ended)
                fresh = np.repeat(self._has_ended, self._worlds.n_agents)
                rewards[fresh], ends[fresh] = 0, _CONTINUES
            self._has_ended = self._worlds.any_by_world(ends != _CONTINUES)
        terminated, truncated = ends == _TERMINATED, ends == _TRUNCATED
        if self._autoreset == AutoresetMode.SAME_STEP and ends.any():
            ended = self._worlds.any_by_world(ends != _CONTINUES)
            info = {"final_obs": observations.copy(), "_final_obs": np.repeat(ended, self._worlds.n_agents)}
            self._worlds.reset(ended)
        return observations.copy(), rewards.astype(np.float64), terminated, truncated, info

    def close_extras(self, **unused: Any) -> None:
        if hasattr(self, "_worlds"):  # gymnasium also calls close() if construction failed
            self._worlds.close()


def make_parallel(name: str, n_agents: int | None = None, *, library: str | os.PathLike[str] | None = None) -> Any:
    """Creates one world of the environment of this name as a pettingzoo.ParallelEnv, with the agents "agent_0" and so
    on (n_agents; None: the minimum).  Needs the package pettingzoo."""
    try:
        from pettingzoo import ParallelEnv
    except ImportError:
        raise HearthError("make_parallel makes environments of pettingzoo, which is not installed: pip install "
                          "pettingzoo") from None
    description = find(name, library)

    class Parallel(ParallelEnv):  # type: ignore[type-arg,misc]
        """All agents of a world; an episode lasts until all have ended."""

        metadata: dict[str, Any] = {"name": description.name, "render_modes": []}

        def __init__(self) -> None:
            self._worlds = Worlds(description, 1, n_agents)
            self.possible_agents = [f"agent_{i}" for i in range(self._worlds.n_agents)]
            self.agents: list[str] = []
            self._rows = {name: i for i, name in enumerate(self.possible_agents)}
            self._random = np.random.default_rng()

        def observation_space(self, agent: str) -> spaces.Box:
            return description.observation_space

        def action_space(self, agent: str) -> spaces.Space[Any]:
            return description.action_space

        def reset(self, seed: int | None = None, options: Any = None) -> tuple[dict[str, Array], dict[str, Any]]:
            if seed is not None:
                self._random = np.random.default_rng(seed)
            seen = self._worlds.reset(seeds=[int(self._random.integers(2**63)) if seed is None else seed])
            self.agents = list(self.possible_agents)
            return {a: seen[self._rows[a]].copy() for a in self.agents}, {a: {} for a in self.agents}

        def step(self, actions: Mapping[str, Any]) -> tuple[dict[str, Any], ...]:
            floats = np.zeros((len(self.possible_agents), description.action_size), np.float32)
            for agent in self.agents:
                _check_action(description.action_space, actions[agent])
                floats[self._rows[agent]] = _to_floats(description.action_space, actions[agent], 1)[0]
            seen, rewards, ends = self._worlds.step(floats)
            acted = {a: self._rows[a] for a in self.agents}
            self.agents = [a for a, row in acted.items() if ends[row] == _CONTINUES]
            return ({a: seen[row].copy() for a, row in acted.items()},
                    {a: float(rewards[row]) for a, row in acted.items()},
                    {a: bool(ends[row] == _TERMINATED) for a, row in acted.items()},
                    {a: bool(ends[row] == _TRUNCATED) for a, row in acted.items()}, {a: {} for a in acted})

        def close(self) -> None:
            self._worlds.close()

    return Parallel()


def make(name: str, library: str | os.PathLike[str] | None = None) -> Env:
    """Creates the environment of this name, with one agent."""
    return Env(find(name, library))


def make_vec(name: str, n_worlds: int = 1, n_agents: int | None = None, *,
             library: str | os.PathLike[str] | None = None,
             autoreset: AutoresetMode = AutoresetMode.NEXT_STEP) -> Vector:
    """Creates many worlds of the environment of this name, with n_agents agents each (None: the minimum)."""
    return Vector(find(name, library), n_worlds, n_agents, autoreset)


@dataclass
class Episodes:
    """Episodes that ended during `play`: returns and lengths, oldest first."""

    returns: list[float]
    lengths: list[int]


def play(agents: Agents, worlds: Worlds, steps: int, *, seed: int = 0, exploration: float | None = None,
         learning_budget_us: float = 0.0) -> Episodes:
    """Lets `agents` act in `worlds` for this many decisions, and learn if there is a learning budget.

    Worlds are reset, world w with seed + w.  exploration: as for `Agents.decide`.
    Error: HearthError unless there are worlds.batch_size agents.
    """
    if len(agents) != worlds.batch_size:
        raise HearthError(f"{len(agents)} agents, expected {worlds.batch_size}: {worlds.n_worlds} worlds of "
                          f"{worlds.n_agents}")
    episodes = Episodes([], [])
    returns, lengths = np.zeros(worlds.batch_size), np.zeros(worlds.batch_size, int)
    observations = worlds.reset(seeds=[seed + w for w in range(worlds.n_worlds)])
    actions = agents.decide(observations, exploration=exploration, learning_budget_us=learning_budget_us)
    for _ in range(steps):
        observations, rewards, ends = worlds.step(actions)
        returns += rewards
        lengths += 1
        rewards, ends, last = rewards.copy(), ends.copy(), observations.copy()
        for i in np.flatnonzero(ends):
            episodes.returns.append(float(returns[i]))
            episodes.lengths.append(int(lengths[i]))
            returns[i] = lengths[i] = 0
        if ends.any():
            worlds.reset(worlds.any_by_world(ends != _CONTINUES))
        actions = agents.decide(worlds.observations, rewards=rewards, terminated=ends == _TERMINATED,
                                truncated=ends == _TRUNCATED, final_observations=last, exploration=exploration,
                                learning_budget_us=learning_budget_us)
    return episodes
