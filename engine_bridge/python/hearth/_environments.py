# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Environments of Gymnasium and PettingZoo as one batch of agents: what reaches the learner after each decision.

Each kind resets ended episodes so that an agent's outcome has the final observation of its episode and its next
decision sees the first one of the next.  An agent that has nothing to decide in a step (it waits for a NEXT_STEP
autoreset, or for the others of its world) is absent in that step.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from ._library import HearthError, check_whole, invalid
from ._spaces import Action, Observation, batch, flat_mask, pick, split_mask, without_key

if TYPE_CHECKING:
    from ._algorithms import Algorithm

Array = np.ndarray[Any, Any]


@dataclass
class Outcome:
    """Results of the last actions, a row for each agent, and what the next decision sees."""

    observations: Array  #: float32 [n, observation size], of the next decision
    present: Array  #: bool [n]: agents that decide next
    rewards: Array  #: float32 [n]
    terminated: Array  #: bool [n]
    truncated: Array  #: bool [n]
    final_observations: Array  #: float32 [n, observation size], of ended episodes
    masks: Array | None = None  #: float32 [n, mask size], of `observations`
    final_masks: Array | None = None  #: float32 [n, mask size], of `final_observations`

    @staticmethod
    def empty(n: int, size: int, mask_size: int) -> Outcome:
        def masks() -> Array | None:
            return np.ones((n, mask_size), np.float32) if mask_size else None

        return Outcome(np.zeros((n, size), np.float32), np.ones(n, bool), np.zeros(n, np.float32), np.zeros(n, bool),
                       np.zeros(n, bool), np.zeros((n, size), np.float32), masks(), masks())


class Batch:
    """Agents of one or more environments that share a brain, and the outcome of their last actions."""

    n_agents: int
    observation: Observation
    action: Action
    outcome: Outcome
    seed: int
    # Parameters of a curriculum for an episode that begins, given to `reset` as its options.
    parameters: Callable[[], dict[str, float]] | None = None

    def step(self, actions: Array) -> Outcome:
        """Executes actions, float32 [n_agents, action size], and returns their outcome."""
        raise NotImplementedError

    def restart(self) -> None:
        """Begins the same episodes again."""
        raise NotImplementedError

    def state(self) -> dict[str, Array] | None:
        """Returns what `restore` needs to bring new environments to this state; None: they cannot be."""
        return None

    def restore(self, state: dict[str, Array], model: Algorithm) -> bool:
        """Returns whether the environments are as they were."""
        return False

    def begin(self, model: Algorithm) -> None:
        """Called before the first step of a run."""

    def after_step(self, model: Algorithm, before: int) -> None:
        """Called after each step.  before: the number of steps before it."""

    def metrics(self) -> dict[str, float]:
        """Metrics for the log."""
        return {}

    def close(self) -> None:
        raise NotImplementedError

    def _empty(self) -> Outcome:
        return Outcome.empty(self.n_agents, self.observation.size, self.action.mask_size)


def _episode_seed(seed: int, world: int, episode: int) -> int:
    """The seed of a world's n-th episode, so that it can be played again."""
    return int(np.random.SeedSequence([seed, world, episode]).generate_state(1)[0])


class Replayed(Batch):
    """Worlds that are reset with a seed of their own for each episode.  An episode is a function of its seed and its
    actions, so a world's state is restored by playing the running one again."""

    n_worlds: int

    def _start(self) -> None:
        self._episodes = np.zeros(self.n_worlds, np.int64)
        self._actions: list[list[Array]] = [[] for _ in range(self.n_worlds)]
        self._options: list[dict[str, float] | None] = [None] * self.n_worlds
        for world in range(self.n_worlds):
            self._reset_world(world)

    def restart(self) -> None:
        self.outcome = self._empty()
        self._start()

    def _reset_world(self, world: int, options: dict[str, float] | None = None) -> None:
        self._actions[world] = []
        self._options[world] = options or (self.parameters() if self.parameters is not None else None)
        self._reset(world, _episode_seed(self.seed, world, int(self._episodes[world])))
        self._episodes[world] += 1

    def _reset_arguments(self, world: int, seed: int) -> dict[str, Any]:
        options = self._options[world]
        return {"seed": seed} if options is None else {"seed": seed, "options": options}

    def _reset(self, world: int, seed: int) -> None:
        """Begins an episode."""
        raise NotImplementedError

    def _step_world(self, world: int, actions: Array) -> bool:
        """Executes the actions of a world's agents; returns whether its episode has ended."""
        raise NotImplementedError

    def step(self, actions: Array) -> Outcome:
        self.outcome = self._next_outcome()
        for world, own in enumerate(actions.reshape(self.n_worlds, -1, self.action.size)):
            self._actions[world].append(own.copy())
            if self._step_world(world, own):
                self._reset_world(world)
        return self.outcome

    def _next_outcome(self) -> Outcome:
        return self._empty()

    def state(self) -> dict[str, Array]:
        return {"seed": np.array([self.seed], np.uint64), "episodes": self._episodes.copy(),
                "lengths": np.array([len(own) for own in self._actions]),
                "actions": np.concatenate([np.array(own, np.float32).reshape(-1) for own in self._actions]),
                "options": np.frombuffer(json.dumps(self._options).encode(), np.uint8),
                "observations": self.outcome.observations.copy(), "present": self.outcome.present.copy()}

    def restore(self, state: dict[str, Array], model: Algorithm) -> bool:
        if len(state.get("episodes", ())) != self.n_worlds:  # a VectorEnv has none
            return False
        self.seed = int(state["seed"][0])
        self._episodes = state["episodes"] - 1
        per_step = self.n_agents // self.n_worlds * self.action.size
        at = 0
        self.outcome = self._empty()
        options = json.loads(state["options"].tobytes()) if "options" in state else [None] * self.n_worlds
        for world, length in enumerate(state["lengths"]):
            self._reset_world(world, options[world])
            for _ in range(length):
                own = state["actions"][at:at + per_step].reshape(-1, self.action.size)
                at += per_step
                self._actions[world].append(own.copy())
                if self._step_world(world, own):
                    return False
        return (np.array_equal(self.outcome.observations, state["observations"])
                and np.array_equal(self.outcome.present, state["present"]))


def _has_action_masks(env: gymnasium.Env[Any, Any]) -> bool:
    return env.has_wrapper_attr("action_masks")


class Singles(Replayed):
    """gymnasium.Env: one agent each."""

    def __init__(self, envs: Sequence[gymnasium.Env[Any, Any]], seed: int) -> None:
        self._envs, self.seed = list(envs), seed
        self.n_agents = self.n_worlds = len(self._envs)
        self._space = self._envs[0].observation_space
        space, self._has_mask_key = split_mask(self._space)
        self.observation = Observation(space)
        self._has_masks = _has_action_masks(self._envs[0])
        # The first reset also shows whether infos hold masks.
        self._first: tuple[Any, dict[str, Any]] | None = self._envs[0].reset(seed=_episode_seed(seed, 0, 0))
        masked = self._has_masks or self._has_mask_key or "action_mask" in self._first[1]
        self.action = Action(self._envs[0].action_space, masked)
        self.outcome = self._empty()
        self._start()

    def _mask(self, world: int, observation: Any, info: dict[str, Any]) -> Array | None:
        if not self.action.mask_size:
            return None
        mask = (self._envs[world].get_wrapper_attr("action_masks")() if self._has_masks
                else observation["action_mask"] if self._has_mask_key else info["action_mask"])
        return flat_mask(mask, self.action.mask_size)

    def _see(self, world: int, observation: Any, info: dict[str, Any], out: Array, masks: Array | None) -> None:
        seen = without_key(observation, "action_mask") if self._has_mask_key else observation
        self.observation.encode(seen, out[world])
        if masks is not None:
            masks[world] = self._mask(world, observation, info)

    def _reset(self, world: int, seed: int) -> None:
        observation, info = self._first or self._envs[world].reset(**self._reset_arguments(world, seed))
        self._first = None
        self._see(world, observation, info, self.outcome.observations, self.outcome.masks)

    def _step_world(self, world: int, actions: Array) -> bool:
        observation, reward, terminated, truncated, info = self._envs[world].step(self.action.decode(actions[0]))
        o = self.outcome
        o.rewards[world], o.terminated[world], o.truncated[world] = reward, terminated, truncated and not terminated
        has_ended = bool(terminated or truncated)
        self._see(world, observation, info, o.final_observations if has_ended else o.observations,
                  o.final_masks if has_ended else o.masks)
        return has_ended

    def close(self) -> None:
        for env in self._envs:
            env.close()


class Vectors(Batch):
    """gymnasium.vector.VectorEnv, with any of its autoreset modes.

    Its environments are reset with random numbers that go on from the first seed, so its state is restored by playing
    the whole run again.
    """

    def __init__(self, env: VectorEnv[Any, Any, Any], seed: int) -> None:
        self._env, self.seed = env, seed
        self.n_agents = env.num_envs
        self._space = env.single_observation_space
        space, self._has_mask_key = split_mask(self._space)
        self.observation = Observation(space)
        self._mode = env.metadata.get("autoreset_mode")
        if self._mode is None:
            raise HearthError(f"{env} does not say how it resets ended episodes: set metadata['autoreset_mode'] to an "
                              "AutoresetMode of gymnasium.vector", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        observations, info = env.reset(seed=seed)
        self._source = ("key" if self._has_mask_key else "info" if "action_mask" in info else self._find_method())
        self.action = Action(env.single_action_space, self._source is not None)
        # Parameters of each reset; of a run that is restored, those that it had.
        self._options: list[dict[str, float]] = []
        self._known_options: list[dict[str, float]] = []
        self._start(observations, info)

    def _start(self, observations: Any, info: dict[str, Any]) -> None:
        self.outcome = self._empty()
        self._see(observations, info)
        self._waits = np.zeros(self.n_agents, bool)
        self._played: list[Array] = []

    @property
    def can_pass_parameters(self) -> bool:
        """Whether episodes begin with a reset to which a curriculum's parameters can be given."""
        return bool(self._mode == AutoresetMode.DISABLED)

    def _next_options(self) -> dict[str, float]:
        given = (self._known_options.pop(0) if self._known_options
                 else {} if self.parameters is None else self.parameters())
        self._options.append(given)
        return given

    def restart(self) -> None:
        self._options = []
        self._start(*self._env.reset(seed=self.seed, options=self._next_options() or None))

    def _find_method(self) -> str | None:
        """The method action_masks() of the vector, or of its environments."""
        if callable(getattr(self._env, "action_masks", None)):
            return "own"
        # A vector whose environments are in other processes loses them if they are asked for what they lack.
        envs, makers = getattr(self._env, "envs", None), getattr(self._env, "env_fns", None)
        if envs is None and makers is None:
            return None
        one = envs[0] if envs is not None else makers[0]()
        found = _has_action_masks(one)
        if envs is None:
            one.close()
        return "call" if found else None

    def _masks(self, observations: Any, info: dict[str, Any]) -> Array | None:
        if self._source is None:
            return None
        size = self.action.mask_size
        if self._source == "own":
            values: Any = self._env.action_masks()  # type: ignore[attr-defined]
        elif self._source == "call":
            values = self._env.call("action_masks")
        elif self._source == "key":
            values = [pick(self._space, observations, i)["action_mask"] for i in range(self.n_agents)]
        else:
            values = info.get("action_mask", [None] * self.n_agents)
            given = info.get("_action_mask", np.ones(self.n_agents, bool))
            values = [value if known else None for value, known in zip(values, given)]
        return np.array([np.ones(size, np.float32) if value is None else flat_mask(value, size) for value in values])

    def _encode(self, observations: Any) -> Array:
        if self._has_mask_key:
            out = np.empty((self.n_agents, self.observation.size), np.float32)
            for i in range(self.n_agents):
                self.observation.encode(without_key(pick(self._space, observations, i), "action_mask"), out[i])
            return out
        return self.observation.encode_batch(observations, self.n_agents)

    def _see(self, observations: Any, info: dict[str, Any]) -> None:
        self.outcome.observations = self._encode(observations)
        if self._source is not None:
            self.outcome.masks = self._masks(observations, info)

    def step(self, actions: Array) -> Outcome:
        self._played.append(np.array(actions, np.float32))
        values = batch(self._env.single_action_space, [self.action.decode(a) for a in actions])
        observations, rewards, terminated, truncated, info = self._env.step(values)
        for name, found in (("rewards", rewards), ("terminations", terminated), ("truncations", truncated)):
            if np.shape(found) != (self.n_agents,):
                raise HearthError(f"{self._env} returns {name} of shape {list(np.shape(found))}, expected "
                                  f"[{self.n_agents}], its num_envs when training began", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")
        o = self.outcome = self._empty()
        self._see(observations, info)
        o.rewards = np.asarray(rewards, np.float32)
        o.terminated = np.asarray(terminated, bool)
        o.truncated = np.asarray(truncated, bool) & ~o.terminated
        ended = o.terminated | o.truncated
        if self._mode == AutoresetMode.SAME_STEP:
            self._take_finals(info, ended)
            return o
        o.final_observations = o.observations.copy()
        if o.masks is not None:
            o.final_masks = o.masks.copy()
        if self._mode == AutoresetMode.NEXT_STEP:
            # The step after an ended episode ignores the action and begins the next one: no outcome of the agent's,
            # which is absent.
            self._waits = ended & ~self._waits
            o.present = ~self._waits
        elif ended.any():
            observations, info = self._env.reset(options={"reset_mask": ended, **self._next_options()})
            masks = o.masks
            self._see(observations, info)
            if masks is not None and o.masks is not None:
                o.masks[~ended] = masks[~ended]  # infos have those of environments that were reset
        return o

    def state(self) -> dict[str, Array]:
        return {"seed": np.array([self.seed], np.uint64),
                "actions": np.array(self._played, np.float32).reshape(-1, self.n_agents, self.action.size),
                "options": np.frombuffer(json.dumps(self._options).encode(), np.uint8),
                "observations": self.outcome.observations.copy(), "present": self.outcome.present.copy()}

    def restore(self, state: dict[str, Array], model: Algorithm) -> bool:
        actions = state["actions"]
        if actions.shape[1:] != (self.n_agents, self.action.size):
            return False
        self.seed = int(state["seed"][0])
        self._known_options = json.loads(state["options"].tobytes()) if "options" in state else []
        self.restart()
        for each in actions:
            self.step(each)
        return (np.array_equal(self.outcome.observations, state["observations"])
                and np.array_equal(self.outcome.present, state["present"]))

    def _take_finals(self, info: dict[str, Any], ended: Array) -> None:
        """Final observations and masks of a SAME_STEP autoreset, which infos hold."""
        o = self.outcome
        final = info.get("final_obs")
        if ended.any() and final is None:
            raise HearthError(f"{self._env} ended an episode without info['final_obs'], expected it of the autoreset "
                              "mode SAME_STEP")
        final_info = info.get("final_info", {})
        for i in np.flatnonzero(ended):
            last = pick(self._space, final, i)
            seen = without_key(last, "action_mask") if self._has_mask_key else last
            self.observation.encode(seen, o.final_observations[i])
            mask = last["action_mask"] if self._has_mask_key else None
            if isinstance(final_info, dict) and "action_mask" in final_info:
                mask = final_info["action_mask"][i]
            if mask is not None and o.final_masks is not None:
                o.final_masks[i] = flat_mask(mask, self.action.mask_size)

    def close(self) -> None:
        self._env.close()


class Parallels(Replayed):
    """pettingzoo.ParallelEnv: all possible agents of one or more worlds, which share a brain.

    An agent whose episode ends before those of the others is absent until the world is reset.
    """

    def __init__(self, envs: Sequence[Any], seed: int) -> None:
        self._envs, self.seed = list(envs), seed
        self._names = list(self._envs[0].possible_agents)
        self.n_worlds, self.n_agents = len(self._envs), len(self._envs) * len(self._names)
        first = self._names[0]
        self._space = self._envs[0].observation_space(first)
        self._check_spaces()
        space, self._has_mask_key = split_mask(self._space)
        self.observation = Observation(space)
        self._first: tuple[Any, Any] | None = self._envs[0].reset(seed=_episode_seed(seed, 0, 0))
        has_mask_info = any("action_mask" in info for info in self._first[1].values())
        self.action = Action(self._envs[0].action_space(first), self._has_mask_key or has_mask_info)
        self._rows = {name: i for i, name in enumerate(self._names)}
        self.outcome = self._empty()
        self._start()

    def _check_spaces(self) -> None:
        env = self._envs[0]
        for name in self._names:
            found = (env.observation_space(name), env.action_space(name))
            if found != (self._space, env.action_space(self._names[0])):
                raise HearthError(f"agent '{name}' has the spaces {found}, '{self._names[0]}' others: agents that "
                                  "share a brain have equal ones (SuperSuit pads them)", -1,
                                  "HEARTH_ERROR_INVALID_ARGUMENT")

    def _see(self, row: int, observation: Any, info: dict[str, Any], out: Array, masks: Array | None) -> None:
        seen = without_key(observation, "action_mask") if self._has_mask_key else observation
        self.observation.encode(seen, out[row])
        mask = observation["action_mask"] if self._has_mask_key else info.get("action_mask")
        if masks is not None and mask is not None:
            masks[row] = flat_mask(mask, self.action.mask_size)

    def _next_outcome(self) -> Outcome:
        outcome = self._empty()
        outcome.present = self.outcome.present.copy()
        return outcome

    def _reset(self, world: int, seed: int) -> None:
        observations, infos = self._first or self._envs[world].reset(**self._reset_arguments(world, seed))
        self._first = None
        begin, o = world * len(self._names), self.outcome
        o.present[begin:begin + len(self._names)] = False
        for name in self._envs[world].agents:
            row = begin + self._rows[name]
            o.present[row] = True
            self._see(row, observations[name], infos.get(name, {}), o.observations, o.masks)

    def _step_world(self, world: int, actions: Array) -> bool:
        env, begin, o = self._envs[world], world * len(self._names), self.outcome
        acting = list(env.agents)
        observations, rewards, terminated, truncated, infos = env.step(
            {name: self.action.decode(actions[self._rows[name]]) for name in acting})
        for name in {*acting, *env.agents}:
            row = begin + self._rows[name]
            if name in acting:
                o.rewards[row] = rewards.get(name, 0)
                o.terminated[row] = terminated.get(name, False)
                # Agents that leave without a word have not reached a terminal state.
                is_cut = truncated.get(name, False) or name not in env.agents
                o.truncated[row] = is_cut and not o.terminated[row]
            has_ended = o.terminated[row] or o.truncated[row]
            o.present[row] = name in env.agents and not has_ended
            if name in observations:
                self._see(row, observations[name], infos.get(name, {}),
                          o.final_observations if has_ended else o.observations,
                          o.final_masks if has_ended else o.masks)
        return not env.agents

    def close(self) -> None:
        for env in self._envs:
            env.close()


class Rows(Batch):
    """Some agents of a batch; others act for the rest."""

    def __init__(self, inner: Batch, rows: Array) -> None:
        self._inner, self._rows, self.seed = inner, rows, inner.seed
        self.n_agents, self.observation, self.action = len(rows), inner.observation, inner.action
        self._take()

    def restart(self) -> None:
        self._inner.restart()
        self._take()

    def _take(self) -> Outcome:
        """Takes over the rows of the batch's outcome."""
        self.outcome = Outcome(**{name: None if values is None else values[self._rows]
                                  for name, values in vars(self._inner.outcome).items()})
        return self.outcome


def is_parallel(env: Any) -> bool:
    """Whether it is a pettingzoo.ParallelEnv, which need not derive from the class."""
    return hasattr(env, "possible_agents") and not hasattr(env, "agent_iter")


def make_batch(env: Any, n_envs: int, seed: int) -> Batch:
    """Makes a batch of an environment: its id, a function that makes one, an instance, or a list of instances.

    n_envs: number of environments that an id or a function makes; a single instance stands for itself.
    Errors: HearthError for something else, and for n_envs other than 1 with an instance.
    """
    n_envs = check_whole("n_envs", n_envs, 1)
    if isinstance(env, str):
        name = env
        makers: list[Callable[[], Any]] = [lambda: gymnasium.make(name)] * n_envs
        return make_batch([make() for make in makers], n_envs, seed)
    if isinstance(env, Batch) and n_envs == 1:
        return env
    if callable(env) and not isinstance(env, (gymnasium.Env, VectorEnv)) and not is_parallel(env):
        return make_batch([env() for _ in range(n_envs)], n_envs, seed)
    envs = list(env) if isinstance(env, (list, tuple)) else [env]
    if not isinstance(env, (list, tuple)) and n_envs != 1:
        raise HearthError(f"n_envs is {n_envs} for one environment, expected 1: pass its id, or a function that makes "
                          "one", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
    if len(envs) == 1 and isinstance(envs[0], VectorEnv):
        return Vectors(envs[0], seed)
    if not envs:
        raise invalid("the environment is a list of no environments, expected at least one")
    if all(isinstance(e, gymnasium.Env) for e in envs):
        return Singles(envs, seed)
    if all(is_parallel(e) for e in envs):
        return Parallels(envs, seed)
    if hasattr(envs[0], "agent_iter"):
        raise HearthError(f"{envs[0]} is an AECEnv of PettingZoo, expected a ParallelEnv: convert it by "
                          "turn_based_aec_to_parallel of pettingzoo.utils if its agents take turns, by aec_to_parallel if "
                          "they act at the same time", -3,
                          "HEARTH_ERROR_UNSUPPORTED")
    raise HearthError(f"the environment is a {type(env).__name__}, expected an id, a function that makes one, a "
                      "gymnasium.Env, a VectorEnv, a pettingzoo.ParallelEnv, or a list of Envs or ParallelEnvs", -1,
                      "HEARTH_ERROR_INVALID_ARGUMENT")
