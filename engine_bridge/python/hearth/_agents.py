# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Agents that learn while they act: hearth_agents.h."""

from __future__ import annotations

import ctypes
import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _interface as c
from ._cook import cook_package
from ._device import Device
from ._library import check, error, lib
from ._model import Array, LoadedPackage, Package, _aligned, read_bytes


_UPDATE = 1  # HEARTH_AGENTS_UPDATE
_INITIAL_WEIGHTS = 0xFFFFFFFF  # HEARTH_AGENTS_INITIAL_WEIGHTS
#: Of hearth_agents_field_kind, in order.
_FIELD_KINDS = ("box", "discrete", "position", "unit_vector", "angle", "quaternion", "discrete_action",
                "continuous_action")


def _pointer(row: Array) -> Any:
    return row.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


class Agents(LoadedPackage):
    """`count` agents that share a brain.

    package: as `cook_agents` returns it.  count: at most the number that the package was cooked for.  device_target,
    trust: as for `Model`.

        agents = hearth.Agents(hearth.cook_agents(...), 8)
        actions = agents.decide(observations)
        while True:
            ... act, observe ...
            actions = agents.decide(observations, rewards=rewards, terminated=terminated)

    Each `decide` is one frame of a game and waits for the device.  One thread at a time, together with its device.

    Arrays have a row for each of the `count` agents.  Those that `remove`, or `present` of `decide`, has taken out
    do not act until they are back; their rows are ignored, and their actions are 0.
    """

    def __init__(self, package: Package, count: int, device: Device | None = None, *,
                 device_target: str | None = None, trust: bool = False, saved_games: bool = False,
                 max_snapshots: int = 1, max_host_bytes: int = 0,
                 curriculum: str | os.PathLike[str] | dict[str, Any] | None = None) -> None:
        """saved_games: `save_game` works, for which memory for a copy of all variables is allocated.
        max_snapshots: number of newest snapshots to keep, each of the size of a brain.  max_host_bytes: limit of the
        CPU memory for all of that; 0: 64 MiB and 16 times the weights, so that a small file cannot take a lot.
        curriculum: parameters of episodes and their lessons, a JSON file or what it would hold; see `parameter`."""
        self._agents = ctypes.c_void_p()
        super().__init__(package, device, device_target, trust)
        try:
            self._create(count, saved_games, max_snapshots, max_host_bytes, curriculum)
        except BaseException:
            self.close()
            raise

    def _create(self, count: int, saved_games: bool, max_snapshots: int, max_host_bytes: int,
                curriculum: str | os.PathLike[str] | dict[str, Any] | None) -> None:
        messages = c.Messages()
        lessons = (b"" if curriculum is None else json.dumps(curriculum).encode() if isinstance(curriculum, dict)
                   else Path(curriculum).read_bytes())
        info = c.AgentsCreateInfo(program=self._program, frames_in_flight=1, max_snapshots=max_snapshots,
                                  snapshot_interval=0, max_host_bytes=max_host_bytes,
                                  enable_saved_games=int(saved_games), curriculum=lessons,
                                  curriculum_bytes=len(lessons))
        check(lib().hearth_agents_create(self._device._context, ctypes.byref(info), ctypes.byref(self._agents),
                                         ctypes.byref(messages)), lambda: messages.text)
        self._session = ctypes.c_void_p(lib().hearth_agents_get_session(self._agents))  # the agents own it
        self._check_session(lib().hearth_session_create_pipelines(self._session, 0))
        self._brains_rejected = 0
        self._count = count
        self._observation_size = lib().hearth_agents_observation_size(self._agents)
        self._action_size = lib().hearth_agents_action_size(self._agents)
        self._action_mask_size = lib().hearth_agents_action_mask_size(self._agents)
        # Networks without an actor estimate values of actions (DQN, TAMER).
        self._is_greedy = not any(name.startswith("actor.") for name in self._variables)
        self._ids: list[c.Agent | None] = [None] * count
        self._observations: list[Array] = [np.empty(0, np.float32)] * count
        self._action_masks: list[Array] = [np.empty(0, np.float32)] * count
        for row in range(count):
            self.add(row)

    def _check(self, code: int) -> int:
        return check(code, lambda: lib().hearth_agents_error(self._agents))

    def __len__(self) -> int:
        """Number of rows, of agents that are present or not."""
        return self._count

    @property
    def present(self) -> Array:
        """bool [count]: the agents that act."""
        return np.array([agent is not None for agent in self._ids])

    def add(self, row: int) -> None:
        """Adds the agent of this row, which begins an episode.  Error: HearthError if it is there already."""
        if self._ids[row] is not None:
            raise error(-7, f"agent {row} is present already, expected one that was removed")
        agent = c.Agent()
        self._check(lib().hearth_agents_add(self._agents, ctypes.byref(agent)))
        self._bind(row, agent)

    def _bind(self, row: int, agent: c.Agent) -> None:
        """Buffers of observations and masks stay where they are until the agent is removed."""
        self._ids[row] = agent
        self._observations[row] = np.ctypeslib.as_array(lib().hearth_agents_observation(self._agents, agent),
                                                        (self._observation_size,))
        if self._action_mask_size:
            self._action_masks[row] = np.ctypeslib.as_array(lib().hearth_agents_action_mask(self._agents, agent),
                                                            (self._action_mask_size,))

    def remove(self, row: int) -> None:
        """Removes the agent of this row: the next `decide` stores its last decision, as truncated unless its episode
        was ended."""
        if self._ids[row] is None:
            raise error(-7, f"agent {row} is not present, expected one that is")
        self._check(lib().hearth_agents_remove(self._agents, self._ids[row]))
        self._ids[row] = None

    @property
    def observation_size(self) -> int:
        """Size of an observation, in floats."""
        return self._observation_size

    @property
    def action_size(self) -> int:
        """Size of an action, in floats; a discrete action is its index."""
        return self._action_size

    def decide(self, observations: Any, *, rewards: Any = None, terminated: Any = None, truncated: Any = None,
               final_observations: Any = None, action_masks: Any = None, final_action_masks: Any = None,
               demonstrations: Any = None, demonstrators: Any = None, present: Any = None,
               exploration: float | None = None, learning_budget_us: float = 500.0) -> Array:
        """Reports the outcome of the last decisions, learns, and returns new actions.

        observations: [count, observation_size], the current ones; after the end of an episode, the first ones of the
        next.  rewards: [count], for the last decision.  terminated, truncated: bool [count], whether the last decision
        ended the agent's episode, as in Gymnasium.  final_observations: [count, observation_size], the last
        observations of truncated episodes.  action_masks: [count, action mask size], 1 where an option of a maskable
        action is available; they stay until others are given.  final_action_masks: those of final_observations.
        demonstrations: [count, action_size], for behavior cloning and PPO with demo_capacity: the actions that a person
        took in these observations; rows with NaN: none.  demonstrators: int [count], the person of each, from 1 on (0:
        the game itself), for cloning with max_demonstrator_fraction.  present: bool [count]; agents of rows that are
        false leave after their outcome is stored, those of rows that are true join if they were not there.
        exploration: above 0.5 samples actions, otherwise takes the likeliest (None: 1); of DQN and TAMER the fraction
        of random actions (None: 0.05).  learning_budget_us: GPU microseconds for learning; 0: none; infinite: all that
        is due is learned before the call returns.
        Returns float32 [count, action_size].
        Errors: HearthError for other shapes, for non-finite rewards, and once for a brain that `load_brain` should not
        have loaded, because it computes actions that are not finite.
        """
        count = len(self)
        current = self._floats("observations", observations, (count, self._observation_size))
        masks, final_masks = (None if given is None else self._floats(name, given, (count, self._action_mask_size))
                              for name, given in (("action_masks", action_masks),
                                                  ("final_action_masks", final_action_masks)))
        finals = None if final_observations is None else self._floats("final_observations", final_observations,
                                                                      (count, self._observation_size))
        shown = None if demonstrations is None else self._floats("demonstrations", demonstrations,
                                                                 (count, self._action_size))
        if rewards is not None:
            for agent, reward in zip(self._ids, self._floats("rewards", rewards, (count,))):
                if agent is not None:
                    self._check(lib().hearth_agents_add_reward(self._agents, agent, float(reward)))
        self._end_episodes(terminated, truncated, finals, final_masks)
        if present is not None:
            self._set_present(np.asarray(present, bool))
        for row in np.flatnonzero(self.present):
            self._observations[row][:] = current[row]
            if masks is not None:
                self._action_masks[row][:] = masks[row]
            if shown is not None and not np.isnan(shown[row]).any():
                who = 0 if demonstrators is None else int(demonstrators[row])
                self._check(lib().hearth_agents_add_demonstration_from(self._agents, self._ids[row],
                                                                       _pointer(shown[row]), who))
        self._record(1, exploration, learning_budget_us)
        return self._actions()

    def _end_episodes(self, terminated: Any, truncated: Any, finals: Array | None, final_masks: Array | None) -> None:
        """Ends episodes.  The last observation of a truncated one is read from the agent's buffer, so this precedes
        the new observations."""
        for episode_end, flags in ((1, terminated), (2, truncated)):  # the first end of an episode counts
            for i in np.flatnonzero(np.asarray(flags)) if flags is not None else ():
                if self._ids[i] is None:
                    continue
                last, last_mask = (_pointer(values[i]) if episode_end == 2 and values is not None else None
                                   for values in (finals, final_masks))
                self._check(lib().hearth_agents_end_episode(self._agents, self._ids[i], episode_end, last, last_mask))

    def _rebind(self, ids: list[c.Agent | None]) -> None:
        """Takes over the handles that a saved game was saved with."""
        self._ids = [None] * len(self)
        for row, agent in enumerate(ids):
            if agent is not None:
                self._bind(row, agent)

    def _rejoin(self) -> None:
        """Begins new episodes of all agents."""
        for row in range(len(self)):
            if self._ids[row] is not None:
                self.remove(row)
        for row in range(len(self)):
            self.add(row)

    def _set_present(self, present: Array) -> None:
        if present.shape != (len(self),):
            raise error(-1, f"present is {list(present.shape)}, expected [{len(self)}]")
        for row in np.flatnonzero(~present & self.present):
            self.remove(int(row))
        for row in np.flatnonzero(present & ~self.present):
            self.add(int(row))

    def _record(self, request_decision: int, exploration: float | None, learning_budget_us: float) -> None:
        """Records frames: a decision, if requested, and learning."""
        if exploration is None:
            exploration = 0.05 if self._is_greedy else 1.0
        with self._device._commands() as commands:
            info = c.AgentsRecordInfo(command_buffer=commands, exploration=exploration,
                                      request_decision=request_decision,
                                      learning_budget_us=min(learning_budget_us, 1e9))
            self._check(lib().hearth_agents_record(self._agents, ctypes.byref(info)))
        lib().hearth_agents_poll(self._agents)
        status = self._status()
        while learning_budget_us == math.inf and status.phase == _UPDATE:
            lib().hearth_agents_finish_update(self._agents)
            self._idle_frame()
            status = self._status()
        if status.brains_rejected > self._brains_rejected:
            self._brains_rejected = status.brains_rejected
            raise error(-17, "the brain that was loaded decides on NaN or infinite actions; load another one")

    def _actions(self) -> Array:
        """Returns the newest actions."""
        actions = np.zeros((len(self), self._action_size), np.float32)
        for i, agent in enumerate(self._ids):
            if agent is None:
                continue
            newest = lib().hearth_agents_action(self._agents, agent)
            if not newest:
                raise error(-14, f"agent {i} has no action after a completed frame")
            actions[i] = newest[:self._action_size]
        return actions

    @staticmethod
    def _floats(name: str, value: Any, shape: tuple[int, ...]) -> Array:
        array = np.ascontiguousarray(value, np.float32)
        if array.shape != shape:
            raise error(-1, f"{name} are {list(array.shape)}, expected {list(shape)}")
        return array

    def _status(self) -> c.AgentsStatus:
        status = c.AgentsStatus()
        self._check(lib().hearth_agents_get_status(self._agents, ctypes.byref(status)))
        return status

    def parameter(self, name: str) -> float:
        """The value of a parameter of the curriculum for an episode that begins: that of its lesson, or a new draw.
        Error: HearthError for another name, listing those that there are."""
        value = ctypes.c_double()
        self._check(lib().hearth_agents_get_parameter(self._agents, name.encode(), ctypes.byref(value)))
        return value.value

    @property
    def lessons(self) -> dict[str, dict[str, Any]]:
        """Where each parameter of the curriculum is: "lesson" (its name), "index" of "count", the "episodes" measured
        of "min_lesson_length", and the "signal" that is compared with the "threshold"."""
        found: dict[str, dict[str, Any]] = {}
        for i in range(lib().hearth_agents_parameter_count(self._agents)):
            at = c.AgentsLesson()
            self._check(lib().hearth_agents_get_lesson(self._agents, i, ctypes.byref(at)))
            found[at.parameter.decode()] = {
                "lesson": at.lesson.decode(), "index": at.index, "count": at.count, "episodes": at.episodes,
                "min_lesson_length": at.min_lesson_length, "signal": at.signal, "threshold": at.threshold}
        return found

    def log(self, metric: str, value: float) -> None:
        """Adds a value to a metric of the game's own, which a curriculum may measure."""
        self._check(lib().hearth_agents_log(self._agents, metric.encode(), value))

    @property
    def custom_metrics(self) -> dict[str, float]:
        """Means of what was given to `log` since the last call of `restart_custom_metrics`, by name."""
        means: dict[str, float] = {}
        for i in range(lib().hearth_agents_custom_metric_count(self._agents)):
            metric = c.AgentsCustomMetric()
            self._check(lib().hearth_agents_get_custom_metric(self._agents, i, ctypes.byref(metric)))
            means[metric.name.decode()] = metric.mean
        return means

    def restart_custom_metrics(self) -> None:
        """Begins the next period of all metrics of `log`."""
        lib().hearth_agents_restart_custom_metrics(self._agents)

    @property
    def schema_hash(self) -> int:
        """Hash of observations and actions: equal for equal ones on every platform, as that of a `Demo`."""
        return lib().hearth_agents_schema_hash(self._agents)

    @property
    def fields(self) -> list[dict[str, Any]]:
        """What agents see and what they choose, in order: the keys of hearth_agents_field, "kind" as text ("box",
        "discrete", "position", "unit_vector", "angle", "quaternion", "discrete_action", "continuous_action")."""
        found = []
        for i in range(lib().hearth_agents_field_count(self._agents)):
            field = c.AgentsField()
            self._check(lib().hearth_agents_get_field(self._agents, i, ctypes.byref(field)))
            values = {name: getattr(field, name) for name, _ in field._fields_}
            found.append({**values, "name": field.name.decode(errors="replace"), "kind": _FIELD_KINDS[field.kind]})
        return found

    @property
    def values(self) -> Array:
        """The critic's value of what each agent saw last, float32 [n]; NaN for rows that are absent.
        Error: HearthError for learners other than PPO with `report_values`."""
        found, value = np.full(len(self), np.nan, np.float32), ctypes.c_float()
        for row, agent in enumerate(self._ids):
            if agent is not None:
                self._check(lib().hearth_agents_get_value(self._agents, agent, ctypes.byref(value)))
                found[row] = value.value
        return found

    @property
    def observation_ranges(self) -> dict[str, tuple[float, float]]:
        """Smallest and largest finite value of each float of the observations that agents decided by."""
        found: dict[str, tuple[float, float]] = {}
        low, high, non_finite = ctypes.c_float(), ctypes.c_float(), ctypes.c_uint64()
        for i in range(self._observation_size):
            self._check(lib().hearth_agents_observation_range(self._agents, i, *map(ctypes.byref,
                                                                                   (low, high, non_finite))))
            found[lib().hearth_agents_observation_name(self._agents, i).decode()] = low.value, high.value
        return found

    @property
    def status(self) -> dict[str, float]:
        """Metrics ("episode_return", "kl", ...) and counters ("samples", "gradient_steps", ...) by name."""
        status = self._status()
        values: dict[str, float] = {}
        for name, numbers in ((lib().hearth_agents_metric_name, status.metrics),
                              (lib().hearth_agents_counter_name, status.counters)):
            for i, value in enumerate(numbers):
                values[name(i).decode()] = value
        values.update(decisions=status.decisions, rollouts=status.rollouts, rollbacks=status.rollbacks,
                      owed_gradient_steps=status.owed_gradient_steps, samples_paused=status.samples_paused,
                      frames_without_update=status.frames_without_update, is_plateaued=status.is_plateaued,
                      reward_shift_detected=status.reward_shift_detected, score=status.score,
                      initial_score=status.initial_score,
                      brains_rejected=status.brains_rejected)
        return values

    @property
    def observation_limits(self) -> dict[str, float]:
        """Observations, by name, that were at a limit in more than one sample of a hundred, and the share of samples
        in which they were: the agents cannot see what they hide there."""
        limits: dict[str, float] = {}
        for i in range(self._observation_size):
            shares = (ctypes.c_float(), ctypes.c_float())
            self._check(lib().hearth_agents_observation_limits(self._agents, i, *map(ctypes.byref, shares)))
            share = max(value.value for value in shares)
            if share > 0.01:
                limits[lib().hearth_agents_observation_name(self._agents, i).decode()] = share
        return limits

    def report_score(self, amount: float) -> None:
        """Adds to the game's own score of progress, which is then watched in place of rewards for `status`'
        is_plateaued and reward_shift_detected."""
        self._check(lib().hearth_agents_report_score(self._agents, amount))

    def set_hyperparameter(self, name: str, value: float) -> None:
        """Sets a tunable hyperparameter.  Error: HEARTH_ERROR_NOT_FOUND listing the existing ones."""
        self._check(lib().hearth_agents_set_hyperparameter(self._agents, name.encode(), value))

    def shrink_and_perturb(self, strength: float) -> None:
        """Adapts to changed rules: 0 only resets the optimizer, 1 starts with new random weights."""
        self._check(lib().hearth_agents_shrink_and_perturb(self._agents, strength))

    def freeze(self, frozen: bool = True) -> None:
        """Stops or resumes learning."""
        lib().hearth_agents_freeze(self._agents, int(frozen))

    def save_brain(self) -> bytes:
        """Returns a snapshot as a brain.  Runs frames without decisions."""
        return self._snapshot(lib().hearth_agents_save)

    def take_snapshot(self) -> None:
        """Keeps the current brain as the newest of at most `max_snapshots` snapshots.  Runs frames without
        decisions."""
        taken = self._status().snapshots_taken
        self._check(lib().hearth_agents_take_snapshot(self._agents))
        # Snapshots are taken only between updates: one in progress is finished first.
        for _ in range(1000):
            lib().hearth_agents_finish_update(self._agents)
            self._idle_frame()
            if self._status().snapshots_taken > taken:
                return
        raise error(1, "no snapshot has arrived in 1,000 frames")

    @property
    def snapshot_count(self) -> int:
        """Number of snapshots that are kept."""
        return lib().hearth_agents_snapshot_count(self._agents)

    def restore_snapshot(self, snapshot: int | None = 0) -> None:
        """Goes back to a snapshot: 0 is the newest, None the initial weights.  Each agent begins a new episode."""
        self.load_snapshot(self, snapshot)

    def load_snapshot(self, source: Agents, snapshot: int | None = 0) -> None:
        """Loads a snapshot of other agents of the same package, which keep it: for opponents in self-play.
        Errors: HEARTH_ERROR_NOT_FOUND, HEARTH_ERROR_INCOMPATIBLE."""
        self._check(lib().hearth_agents_load_snapshot(self._agents, source._agents,
                                                      _INITIAL_WEIGHTS if snapshot is None else snapshot))
        self._idle_frame()

    def reset_brain(self) -> None:
        """Goes back to the initial weights, and forgets all snapshots."""
        lib().hearth_agents_reset_brain(self._agents)
        self._idle_frame()

    def save_weights(self) -> bytes:
        """Returns what acting needs of a snapshot, a fifth of `save_brain`, for games to ship: `load_brain` takes it,
        and agents learn on from these weights with a new optimizer.  Runs frames without decisions."""
        return self._snapshot(lib().hearth_agents_save_weights)

    def export(self, path: str | os.PathLike[str], *, device_targets: Sequence[str] = ("baseline",)) -> None:
        """Writes a package whose agents act as these do, without a brain to load: what a game ships.

        device_targets: as for `cook_package`, best first.  Agents of the file learn on; their brains load here.
        """
        Path(path).write_bytes(cook_package(self._package, device_targets=device_targets, weights=self.save_brain()))

    def save_game(self) -> bytes:
        """Returns everything, replay buffers included: agents that `load_brain` it, as many and in the same states of
        the environment, go on to the bit as these would.  Runs frames without decisions.
        Errors: HEARTH_ERROR_UNSUPPORTED without `saved_games`."""
        self._check(lib().hearth_agents_save_game(self._agents))
        for _ in range(1000):
            self._idle_frame()
            size = ctypes.c_uint64()
            if lib().hearth_agents_get_saved_game(self._agents, None, ctypes.byref(size)) == 0:
                return self._copied(lambda out, size: lib().hearth_agents_get_saved_game(self._agents, out, size))
        raise error(1, "no saved game has arrived in 1,000 frames")

    def _snapshot(self, save: Any) -> bytes:
        self.take_snapshot()
        return self._copied(lambda out, size: save(self._agents, 0, out, size))

    def _copied(self, copy: Any) -> bytes:
        size = ctypes.c_uint64()
        self._check(copy(None, ctypes.byref(size)))
        out = (ctypes.c_uint64 * ((size.value + 7) // 8))()
        self._check(copy(out, ctypes.byref(size)))
        return ctypes.string_at(out, size.value)

    def load_brain(self, brain: Package) -> None:
        """Loads a brain or a saved game; after a brain each agent starts a new episode.

        Errors, which change nothing: a brain of other agents, naming the difference; numbers that are not finite, or
        params of 2^60 or more, which no training reaches.  If one of the next four decisions is not finite, `decide`
        raises, and the agents have the weights of the newest snapshot, or the initial ones.
        """
        data = read_bytes(brain)
        words = _aligned(data)
        messages = c.Messages()
        check(lib().hearth_agents_load(self._agents, words, len(data), ctypes.byref(messages)),
              lambda: messages.text or lib().hearth_agents_error(self._agents))
        self._idle_frame()

    def _idle_frame(self) -> None:
        with self._device._commands() as commands:
            info = c.AgentsRecordInfo(command_buffer=commands, request_decision=0, learning_budget_us=0)
            self._check(lib().hearth_agents_record(self._agents, ctypes.byref(info)))
        lib().hearth_agents_poll(self._agents)

    def _destroy(self) -> None:
        lib().hearth_agents_destroy(self._agents)
        self._agents = ctypes.c_void_p()
