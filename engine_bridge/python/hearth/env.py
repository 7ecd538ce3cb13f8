# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Games as Gymnasium environments: any shared library with the five functions of hearth_environment.h.

    env = hearth.env.make("CartPole")                      # gymnasium.Env
    envs = hearth.env.make_vec("Hatchlings", worlds=4, agents=16)   # gymnasium.vector.VectorEnv, 64 rows
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

_GOES_ON, _OVER, _CUT_OFF = 0, 1, 2


def _width(field: Mapping[str, Any]) -> int:
    """Size of a field in floats, as hearth::agents::Field::raw_width."""
    kind = field.get("kind", "numbers")
    own = sum(_width(part) for part in field.get("parts", ()))
    widths = {"numbers": field.get("width", 1), "flag": 1, "one_hot": 1, "location": field.get("axes", 2),
              "direction": field.get("axes", 2), "angle": 1, "rotation": 4, "group": own,
              "array": field.get("count", 1) * own, "set": 1 + field.get("capacity", 1) * own}
    if kind not in widths:
        raise HearthError(f"field '{field.get('name')}' is a '{kind}', expected one of {', '.join(widths)}")
    return int(widths[kind])


def _bounds(values: Sequence[float | None] | None, width: int, unbounded: float) -> Array:
    if values is None:
        return np.full(width, unbounded, np.float32)
    if len(values) != width:
        raise HearthError(f"{len(values)} bounds of observations, expected {width}")
    return np.array([unbounded if v is None else v for v in values], np.float32)


@dataclass(frozen=True)
class Description:
    """Description of one environment by its library."""

    name: str
    library: Path
    observations: list[dict[str, Any]]  #: as `hearth.cook_agents` takes them
    actions: list[dict[str, Any]]
    agents: tuple[int, int]  #: least and most of a world
    step_limit: int  #: 0: none
    solved_at: float | None
    observation_space: spaces.Box
    action_space: spaces.Space[Any]
    action_width: int


def _action_space(actions: Sequence[Mapping[str, Any]]) -> spaces.Space[Any]:
    """One discrete action: Discrete; several: MultiDiscrete; continuous: Box; both: a Dict of the two."""
    counts = [a["count"] for a in actions if a["kind"] == "choose"]
    drives = [a for a in actions if a["kind"] == "drive"]
    low = [a.get("low", -1.0) for a in drives for _ in range(a.get("width", 1))]
    high = [a.get("high", 1.0) for a in drives for _ in range(a.get("width", 1))]
    choices = spaces.Discrete(counts[0]) if len(counts) == 1 else spaces.MultiDiscrete(counts or [1])
    numbers = spaces.Box(np.array(low, np.float32), np.array(high, np.float32), dtype=np.float32)
    if not drives:
        return choices
    return spaces.Dict({"choices": choices, "numbers": numbers}) if counts else numbers


def _opened(library: Path) -> ctypes.CDLL:
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
            raise HearthError(f"{library} exports no hearth_environment_{name}; expected the five functions of "
                              "hearth_environment.h") from None
        function.restype, function.argtypes = result, arguments
    return opened


def describe(library: str | os.PathLike[str]) -> list[Description]:
    """Lists the environments of a library.  Errors: HearthError if it exports none, or another version."""
    path = Path(library).resolve()
    said = json.loads(_opened(path).hearth_environment_describe())
    if said.get("version") != 1:
        raise HearthError(f"{path}: environments of version {said.get('version')}, expected 1", -5,
                          "HEARTH_ERROR_VERSION_MISMATCH")
    found = []
    for e in said["environments"]:
        width = sum(_width(field) for field in e["observations"])
        low = _bounds(e.get("observation_low"), width, -np.inf)
        high = _bounds(e.get("observation_high"), width, np.inf)
        action_width = sum(1 if a["kind"] == "choose" else a.get("width", 1) for a in e["actions"])
        found.append(Description(e["name"], path, e["observations"], e["actions"], tuple(e.get("agents", (1, 1))),
                                 e.get("step_limit", 0), e.get("solved_at"),
                                 spaces.Box(low, high, dtype=np.float32), _action_space(e["actions"]), action_width))
    return found


def _libraries() -> Iterator[Path]:
    """Libraries beside the package and in the folders of HEARTH_ENVIRONMENTS; the first of each file name."""
    folders = [Path(__file__).with_name("environments")]
    folders += [Path(f) for f in os.environ.get("HEARTH_ENVIRONMENTS", "").split(os.pathsep) if f]
    seen = set()
    for library in (found for folder in folders for found in sorted(folder.glob("libhearth_environment_*.so"))):
        if library.name not in seen:
            seen.add(library.name)
            yield library


def available() -> list[Description]:
    """All environments that are found without naming a library."""
    return [d for library in _libraries() for d in describe(library)]


def find(name: str, library: str | os.PathLike[str] | None = None) -> Description:
    """The environment of this name.  Error: HEARTH_ERROR_NOT_FOUND listing those that there are."""
    there = describe(library) if library is not None else available()
    for description in there:
        if description.name == name:
            return description
    raise HearthError(f"no environment is named '{name}'; there are: {', '.join(d.name for d in there) or 'none'}",
                      -2, "HEARTH_ERROR_NOT_FOUND")


class Worlds:
    """Many worlds of an environment, stepped at once: the five functions over NumPy arrays.

    All arrays have worlds * agents rows; those returned are the object's own and change with the next call.
    """

    def __init__(self, description: Description, worlds: int = 1, agents: int | None = None) -> None:
        self.description = description
        self.worlds, self.agents = worlds, description.agents[0] if agents is None else agents
        self._library = _opened(description.library)
        self._handle = None
        least, most = description.agents
        if worlds < 1 or not least <= self.agents <= most:
            raise HearthError(f"{description.name}: {worlds} worlds of {self.agents} agents, expected 1 or more of "
                              f"{least} to {most}", -6, "HEARTH_ERROR_OUT_OF_RANGE")
        self._handle = self._library.hearth_environment_create(description.name.encode(), worlds, self.agents)
        if not self._handle:
            raise HearthError(f"{description.library} makes no {worlds} worlds of {self.agents} agents of "
                              f"'{description.name}'")
        self.rows = worlds * self.agents
        self.observations = np.zeros((self.rows, *description.observation_space.shape), np.float32)
        self.rewards = np.zeros(self.rows, np.float32)
        self.ends = np.zeros(self.rows, np.uint8)

    def reset(self, which: Array | None = None, seeds: Sequence[int] | None = None) -> Array:
        """Starts episodes of the worlds `which` (bool [worlds]; None: all); seeds: one for each world."""
        mask = None if which is None else np.ascontiguousarray(which, np.uint8)
        numbers = None if seeds is None else np.array(seeds, np.uint64)
        for name, array in (("which", mask), ("seeds", numbers)):
            if array is not None and array.shape != (self.worlds,):
                raise HearthError(f"{name} is {list(array.shape)}, expected [{self.worlds}]")
        self._library.hearth_environment_reset(self._handle, *(None if a is None else a.ctypes.data
                                                               for a in (mask, numbers)),
                                               self.observations.ctypes.data)
        return self.observations

    def step(self, actions: Array) -> tuple[Array, Array, Array]:
        """actions: float32 [rows, action width] -> observations, rewards, ends (0 continues, 1 terminated, 2 truncated)."""
        actions = np.ascontiguousarray(actions, np.float32)
        expected = (self.rows, self.description.action_width)
        if actions.shape != expected:
            raise HearthError(f"actions are {list(actions.shape)}, expected {list(expected)}")
        if not np.isfinite(actions).all():
            raise HearthError("actions hold NaN or infinities; expected finite numbers")
        self._library.hearth_environment_step(self._handle, actions.ctypes.data, self.observations.ctypes.data,
                                              self.rewards.ctypes.data, self.ends.ctypes.data)
        return self.observations, self.rewards, self.ends

    def by_world(self, rows: Array) -> Array:
        """Returns, per world, whether any of its rows is true."""
        return rows.reshape(self.worlds, self.agents).any(1)

    def close(self) -> None:
        """Destroys the worlds."""
        if self._handle:
            self._library.hearth_environment_destroy(self._handle)
            self._handle = None

    def __del__(self) -> None:
        self.close()


def _floats(space: spaces.Space[Any], action: Any, rows: int) -> Array:
    """Converts actions of a space, [rows, ...], to the game's floats."""
    if isinstance(space, spaces.Dict):
        return np.concatenate([_floats(space[key], action[key], rows) for key in ("choices", "numbers")], 1)
    return np.asarray(action, np.float32).reshape(rows, -1)


def _checked(space: spaces.Space[Any], action: Any) -> None:
    if not space.contains(action):
        raise HearthError(f"action {action!r} is not in {space}", -1, "HEARTH_ERROR_INVALID_ARGUMENT")


class Env(gymnasium.Env[Array, Any]):
    """One agent in one world, as a gymnasium.Env."""

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(self, description: Description) -> None:
        if description.agents[0] > 1:
            raise HearthError(f"{description.name} has {description.agents[0]} agents or more in a world; "
                              "expected make_vec()")
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
        _checked(self.action_space, action)
        observations, rewards, ends = self._worlds.step(_floats(self.action_space, action, 1))
        return observations[0].copy(), float(rewards[0]), bool(ends[0] == _OVER), bool(ends[0] == _CUT_OFF), {}

    def close(self) -> None:
        self._worlds.close()


class Vector(VectorEnv[Array, Any, Array]):
    """worlds * agents rows, stepped at once; to Gymnasium each agent is an environment.

    autoreset: AutoresetMode.NEXT_STEP (the step after an ending ignores the action and returns the next episode's
    first observation) or SAME_STEP (the step that ends returns it; what was seen last is info["final_obs"]).
    A world is reset as a whole.
    """

    def __init__(self, description: Description, worlds: int = 1, agents: int | None = None,
                 autoreset: AutoresetMode = AutoresetMode.NEXT_STEP) -> None:
        if autoreset == AutoresetMode.DISABLED:
            raise HearthError("autoreset is DISABLED, expected NEXT_STEP or SAME_STEP; use Worlds to reset by hand")
        self._worlds = Worlds(description, worlds, agents)
        self.description = description
        self.metadata = {"autoreset_mode": autoreset, "render_modes": []}
        self.num_envs = self._worlds.rows
        self.single_observation_space = description.observation_space
        self.single_action_space = description.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._autoreset = autoreset
        self._has_ended = np.zeros(worlds, bool)

    def reset(self, *, seed: int | list[int | None] | None = None,
              options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """seed: world w gets seed + w; or a list with one for each world."""
        super().reset(seed=seed if isinstance(seed, int) else None)
        if seed is None:
            seeds = [int(s) for s in self.np_random.integers(2**63, size=self._worlds.worlds)]
        elif isinstance(seed, int):
            seeds = [seed + w for w in range(self._worlds.worlds)]
        else:
            seeds = [int(self.np_random.integers(2**63)) if s is None else s for s in seed]
        self._has_ended[:] = False
        return self._worlds.reset(seeds=seeds).copy(), {}

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, dict[str, Any]]:
        _checked(self.action_space, actions)
        observations, rewards, ends = self._worlds.step(_floats(self.single_action_space, actions, self.num_envs))
        info: dict[str, Any] = {}
        if self._autoreset == AutoresetMode.NEXT_STEP:
            if self._has_ended.any():
                self._worlds.reset(self._has_ended)
                fresh = np.repeat(self._has_ended, self._worlds.agents)
                rewards[fresh], ends[fresh] = 0, _GOES_ON
            self._has_ended = self._worlds.by_world(ends != _GOES_ON)
        over, cut_off = ends == _OVER, ends == _CUT_OFF
        if self._autoreset == AutoresetMode.SAME_STEP and ends.any():
            ended = self._worlds.by_world(ends != _GOES_ON)
            info = {"final_obs": observations.copy(), "_final_obs": np.repeat(ended, self._worlds.agents)}
            self._worlds.reset(ended)
        return observations.copy(), rewards.astype(np.float64), over, cut_off, info

    def close_extras(self, **unused: Any) -> None:
        if hasattr(self, "_worlds"):  # gymnasium also calls close() if construction failed
            self._worlds.close()


def make(name: str, library: str | os.PathLike[str] | None = None) -> Env:
    """The environment of this name, with one agent."""
    return Env(find(name, library))


def make_vec(name: str, worlds: int = 1, agents: int | None = None, *,
             library: str | os.PathLike[str] | None = None,
             autoreset: AutoresetMode = AutoresetMode.NEXT_STEP) -> Vector:
    """Many worlds of the environment of this name, with `agents` agents each (None: the minimum)."""
    return Vector(find(name, library), worlds, agents, autoreset)


@dataclass
class Episodes:
    """Episodes that ended during `play`: returns and lengths, oldest first."""

    returns: list[float]
    lengths: list[int]


def play(agents: Agents, worlds: Worlds, steps: int, *, seed: int = 0, explore: float = 1.0,
         learn_us: float = 0.0) -> Episodes:
    """Lets `agents` act in `worlds`, one agent per row, for this many decisions; with learn_us they learn.

    Worlds are reset, world w with seed + w.  Error: HearthError if there are not as many agents as rows.
    """
    if len(agents) != worlds.rows:
        raise HearthError(f"{len(agents)} agents for {worlds.rows} rows, expected as many")
    told = Episodes([], [])
    returns, lengths = np.zeros(worlds.rows), np.zeros(worlds.rows, int)
    seen = worlds.reset(seeds=[seed + w for w in range(worlds.worlds)])
    actions = agents.decide(seen, explore=explore, learn_us=learn_us)
    for _ in range(steps):
        seen, rewards, ends = worlds.step(actions)
        returns += rewards
        lengths += 1
        rewards, ends, last = rewards.copy(), ends.copy(), seen.copy()
        for row in np.flatnonzero(ends):
            told.returns.append(float(returns[row]))
            told.lengths.append(int(lengths[row]))
            returns[row] = lengths[row] = 0
        if ends.any():
            worlds.reset(worlds.by_world(ends != _GOES_ON))
        actions = agents.decide(worlds.observations, rewards=rewards, over=ends == _OVER, cut_off=ends == _CUT_OFF,
                                final_observations=last, explore=explore, learn_us=learn_us)
    return told
