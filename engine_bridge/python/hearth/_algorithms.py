# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PPO, DQN and SAC over environments of Gymnasium and PettingZoo.

    model = hearth.learn("CartPole-v1", "ppo", steps=50_000, seed=0)
    action, _ = model.predict(observation, deterministic=True)
    model.export("cart.hearth")

Names and defaults are those of Stable-Baselines3 where they mean the same (docs/how-to/python_training.md).
"""

from __future__ import annotations

import io
import json
import math
import numbers
import os
import sys
import time
import warnings
import zipfile
import zlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, Union

import numpy as np

from . import _hyperparameters as hyper
from . import _interface as c
from ._agents import Agents
from ._cook import cook_agents, cook_package
from ._device import Device
from ._environments import Batch, Outcome, Replayed, Vectors, make_batch
from ._library import HearthError, check_whole, check_writable, invalid
from ._logs import Logs, ProgressBar, is_no
from ._model import Model
from ._policy import Policy
from ._spaces import Action, Observation, batch, flat_mask, pick, space_from_json, space_to_json, without_key

Array = np.ndarray[Any, Any]
#: Called after each step of the environments; returning False ends training.
Callback = Callable[["Algorithm"], Union[bool, None]]
_Self = TypeVar("_Self", bound="Algorithm")

_FORMAT = 1
_EPISODES = 100  # that the means of the log are over, as stats_window_size


class Algorithm:
    """Agents that learn in environments of Gymnasium or PettingZoo.

    env: the id of an environment of Gymnasium, a function that makes one, a gymnasium.Env, a VectorEnv, a
    pettingzoo.ParallelEnv, or a list of Envs or ParallelEnvs.  All agents share a brain.  n_envs: number of
    environments, for an id or a function.
    seed: of weights, actions, samples and episodes; None: drawn.
    network: as for `cook_agents`; "nature_cnn" or "minatar_cnn", of images; None: that of Stable-Baselines3's
    MlpPolicy.
    device: "cpu", a name or index of `hearth.devices()`, or a `Device`; networks of this size are fastest on the CPU.
    tensorboard_log: a folder, as `log` of `learn`.
    curriculum: a JSON file, or what it would hold, with parameters of episodes and their lessons
    (docs/reference/curriculum.md).  Environments get them by name as `options` of `reset`.
    hyperparameters: by the names of Stable-Baselines3, and the others of docs/reference/learners.md.
    Errors: HearthError for spaces and hyperparameters that are not supported.
    """

    KIND = ""

    def __init__(self, env: Any, *others: Any, n_envs: int = 1, seed: int | None = None,
                 network: str | Mapping[str, Any] | None = None, device: Device | str | int = "cpu", verbose: int = 0,
                 tensorboard_log: str | os.PathLike[str] | None = None,
                 curriculum: str | os.PathLike[str] | dict[str, Any] | None = None, **hyperparameters: Any) -> None:
        self._refuse_policy(env, others)
        self._curriculum = (curriculum if curriculum is None or isinstance(curriculum, dict)
                            else json.loads(Path(curriculum).read_bytes()))
        self.seed = int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else check_whole(
            "seed", seed, 0, 2**63 - 1, ", or None")
        self.verbose, self._log_folder = verbose, tensorboard_log
        self._given = dict(hyperparameters)
        self.hyperparameters = hyper.merged(self.KIND, self._given)
        self._device = device if isinstance(device, Device) else Device(device)
        self._name = env if isinstance(env, str) else getattr(env, "__name__", None) or type(
            getattr(env, "unwrapped", env)).__name__
        self._envs: Batch | None = make_batch(env, n_envs, self.seed)
        self._observation, self._action = self._envs.observation, self._envs.action
        self.n_agents = self._envs.n_agents
        self.network = hyper.network(self.KIND, network, getattr(self._observation.space, "shape", None))
        self._package = cook_agents(self._observation.fields, self._action.actions, n_agents=self.n_agents,
                                    network=self.network,
                                    learner=hyper.learner(self.KIND, self.hyperparameters, self.n_agents),
                                    seed=self.seed, device=self._device)
        self._begin()
        self._use_curriculum(restarts=True)

    @classmethod
    def _refuse_policy(cls, env: Any, others: Sequence[Any]) -> None:
        """Says what to write in place of a call as of Stable-Baselines3, PPO("MlpPolicy", env)."""
        if isinstance(env, str) and env.endswith("Policy"):
            network = ', network="nature_cnn"' if env == "CnnPolicy" else ""
            raise invalid(f"'{env}' is a policy of Stable-Baselines3, expected the environment; write "
                          f"{cls.__name__}(env{network}); docs/how-to/python_training.md has the table of what differs")
        if others:
            raise invalid(f"{cls.__name__} takes the environment, and all else by name, found {others[0]!r} after it")

    def _begin(self) -> None:
        """Sets what a run begins with."""
        self.num_timesteps = 0
        self._total_timesteps = 1
        self._is_frozen = False
        self._agents: Agents | None = None
        self._actions: Array | None = None
        self._returns, self._lengths = np.zeros(self.n_agents), np.zeros(self.n_agents, np.int64)
        self._episodes: deque[tuple[float, int]] = deque(maxlen=_EPISODES)
        self._episode_count = 0
        self._best_mean_reward = -math.inf
        self._policy_model: Model | None = None
        self._policy_is_current = False
        self._brain: bytes | None = None
        self._evaluated: dict[str, float] = {}

    def _use_curriculum(self, restarts: bool) -> None:
        """Gives parameters to the environments.  restarts: also to episodes that have begun without."""
        if self._curriculum is None or self._envs is None:
            return
        if isinstance(self._envs, Vectors) and not self._envs.can_pass_parameters:
            raise HearthError("curriculum: this VectorEnv resets ended episodes itself, without parameters; make it with "
                              "autoreset_mode=gymnasium.vector.AutoresetMode.DISABLED, or pass a gymnasium.Env, with "
                              "n_envs for more than one", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        if not isinstance(self._envs, (Replayed, Vectors)):
            raise HearthError(f"curriculum: the environments are a {type(self._envs).__name__}, expected a gymnasium.Env, "
                              "a VectorEnv or a ParallelEnv", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
        self._envs.parameters = lambda: {name: self.agents.parameter(name) for name in self.agents.lessons}
        if restarts:
            self._envs.restart()

    # --- Learning ---

    @property
    def agents(self) -> Agents:
        """The agents that learn: hyperparameters, snapshots, status."""
        if self._agents is None:
            # Copies of all variables, for checkpoints, need memory that depends on what was asked for here.
            self._agents = Agents(self._package, self.n_agents, self._device, saved_games=True, max_host_bytes=2**62,
                                  curriculum=self._curriculum)
            if self._brain is not None:
                self._agents.load_brain(self._brain)
            self._agents.freeze(self._is_frozen)
        return self._agents

    def freeze(self, frozen: bool = True) -> None:
        """Acts without learning from now on, or learns again.  Steps count as ever."""
        self._is_frozen = frozen
        if self._agents is not None:
            self._agents.freeze(frozen)

    @property
    def is_frozen(self) -> bool:
        return self._is_frozen

    @property
    def progress_remaining(self) -> float:
        """1 at the beginning of `learn`, 0 at its end."""
        return max(0.0, 1.0 - self.num_timesteps / self._total_timesteps)

    @property
    def exploration_rate(self) -> float:
        """What `decide` takes as exploration: of DQN the fraction of random actions, now."""
        return 1.0

    @property
    def episode_returns(self) -> list[float]:
        """Returns of the last 100 episodes, oldest first."""
        return [value for value, _ in self._episodes]

    def learn(self: _Self, total_timesteps: int, callback: Callback | Sequence[Callback] | None = None, *,
              log_interval: int | None = None, progress_bar: bool = False,
              log: str | os.PathLike[str] | None = None, reset_num_timesteps: bool = True,
              eval_env: Any = None, eval_freq: int = 10_000, n_eval_episodes: int = 5,
              best_model_path: str | os.PathLike[str] | None = None,
              checkpoint: str | os.PathLike[str] | None = None, checkpoint_freq: int = 10_000) -> _Self:
        """Learns for this many steps of all agents together; PPO finishes the rollout in which they end.

        callback: called after each step of the environments with this object; returning False ends training.
        log: a folder for progress.csv, run.jsonl (`hearth watch`, which can stop the run) and TensorBoard's files.  log_interval:
        rollouts of PPO (1), episodes of others (4) from one line to the next.
        reset_num_timesteps: False: counts and schedules go on.  eval_env: evaluated every eval_freq steps over
        n_eval_episodes deterministic episodes; the best brain so far is saved as best_model_path.
        checkpoint: a file, replaced as a whole every checkpoint_freq steps and at the end, from which `load` goes on
        to the bit, replay buffer included.
        """
        if self._envs is None:
            raise HearthError("this model was loaded without an environment: pass env to load", -7,
                              "HEARTH_ERROR_INVALID_STATE")
        _check_steps("total_timesteps", total_timesteps)
        if reset_num_timesteps:
            self.num_timesteps = 0
        self._total_timesteps = self.num_timesteps + total_timesteps
        run = _Run(self, callback, log_interval, progress_bar, log or self._log_folder, checkpoint, checkpoint_freq,
                   eval_env, eval_freq, n_eval_episodes, best_model_path)
        try:
            self._envs.begin(self)
            if self._actions is None:
                self._actions = self._decide(self._envs.outcome, is_first=True)
            goes_on = True
            while goes_on and not self._is_done():
                goes_on = self._step(run)
            run.finish()
        finally:
            run.close()
        return self

    def _is_done(self) -> bool:
        return self.num_timesteps >= self._total_timesteps

    def _step(self, run: _Run) -> bool:
        """One step of all environments; returns whether training goes on."""
        assert self._envs is not None and self._actions is not None
        acted, before = self.agents.present, self.num_timesteps
        outcome = self._envs.step(self._actions)
        self.num_timesteps += int(acted.sum())
        self._count_episodes(outcome, acted)
        self._actions = self._decide(outcome)
        self._policy_is_current = False
        self._envs.after_step(self, before)
        return run.after_step()

    def _decide(self, outcome: Outcome, is_first: bool = False) -> Array:
        for name in hyper.SCHEDULES:
            if callable(schedule := self.hyperparameters.get(name)):
                self.agents.set_hyperparameter(name, float(schedule(self.progress_remaining)))
        _check_finite(outcome.observations, outcome.present)
        _check_finite(outcome.final_observations, outcome.truncated)
        ended = {} if is_first else {
            "rewards": outcome.rewards, "terminated": outcome.terminated, "truncated": outcome.truncated,
            "final_observations": outcome.final_observations, "final_action_masks": outcome.final_masks}
        return self.agents.decide(outcome.observations, action_masks=outcome.masks, present=outcome.present,
                                  exploration=self.exploration_rate, learning_budget_us=math.inf, **ended)

    def _count_episodes(self, outcome: Outcome, acted: Array) -> None:
        self._returns[acted] += outcome.rewards[acted]
        self._lengths[acted] += 1
        for i in np.flatnonzero((outcome.terminated | outcome.truncated) & acted):
            self._episodes.append((float(self._returns[i]), int(self._lengths[i])))
            self._episode_count += 1
            self._returns[i], self._lengths[i] = 0, 0

    def metrics(self) -> dict[str, float]:
        """Metrics by the names of Stable-Baselines3's log."""
        status = self.agents.status
        values = self._envs.metrics() if self._envs is not None else {}
        values.update({"lesson/" + name: at["index"] for name, at in self.agents.lessons.items() if at["count"] > 1})
        if self._episodes:
            values["rollout/ep_rew_mean"] = float(np.mean([r for r, _ in self._episodes]))
            values["rollout/ep_len_mean"] = float(np.mean([n for _, n in self._episodes]))
        values["time/episodes"] = self._episode_count
        values["train/n_updates"] = status["gradient_steps"]
        rate = self.hyperparameters["learning_rate"]
        values["train/learning_rate"] = float(rate(self.progress_remaining) if callable(rate) else rate)
        if status["gradient_steps"]:
            values.update(self._train_metrics(status))
        return values

    def _train_metrics(self, status: dict[str, float]) -> dict[str, float]:
        raise NotImplementedError

    # --- Acting ---

    def _policy(self) -> Policy:
        """The current brain, which acts."""
        if self._policy_model is None:
            self._policy_model = Model(self._package, self._device)
        if not self._policy_is_current:
            self._policy_model.load_brain(self.brain())
            self._policy_is_current = True
        return Policy(self._policy_model)

    def brain(self) -> bytes:
        """Returns the current brain: for `Agents.load_brain`, for games, and for `load_brain` here."""
        return self._brain if self._agents is None and self._brain is not None else self.agents.save_brain()

    def load_brain(self, brain: Any) -> None:
        """Loads a brain of this network, such as one that has learned in a player's game, whatever the number of
        agents there.  Error: HearthError naming the tensor that differs."""
        try:
            self.agents.load_brain(brain)
        except HearthError as different:
            if different.name != "HEARTH_ERROR_INCOMPATIBLE":
                raise
            # States such as counters depend on the learner's settings; weights do not.
            self._package = cook_package(self._package, device=self._device, weights=brain)
            self._close_agents()
        self._policy_is_current = False
        self._actions = None

    def export(self, path: str | os.PathLike[str], *, n_agents: int = 16,
               device_targets: Sequence[str] = ("baseline",), learner: Mapping[str, Any] | None = None) -> None:
        """Writes a package for a game, whose agents act as learned here, without a brain to load.

        n_agents: maximum number in the game.  device_targets: as for `cook_package`, best first.  learner: of what is
        learned on in the game, as for `cook_agents`; None: that of here.  Brains of the file's agents come back by
        `load_brain`.
        """
        check_writable("path", path)
        check_whole("n_agents", n_agents, 1)
        settings = hyper.learner(self.KIND, self.hyperparameters, n_agents) if learner is None else learner
        package = cook_agents(self._observation.fields, self._action.actions, n_agents=n_agents, network=self.network,
                              learner=settings, seed=self.seed)
        Path(path).write_bytes(cook_package(package, device_targets=device_targets, weights=self.brain()))

    def predict(self, observation: Any, state: Any = None, episode_start: Any = None, deterministic: bool = False,
                action_masks: Any = None) -> tuple[Any, Any]:
        """Returns the actions of one observation or of a batch, as the action space has them, and the state.

        state: of recurrent networks: None begins episodes; pass what the last call returned to go on.  episode_start:
        bool [batch], where an episode begins.  action_masks: [mask size] or [batch, mask size]; an observation may also
        hold them by the key "action_mask".
        """
        if isinstance(observation, Mapping) and "action_mask" in observation:  # as PettingZoo's classic games have it
            action_masks = observation["action_mask"] if action_masks is None else action_masks
            observation = without_key(observation, "action_mask")
        count = self._observation.batch_size(observation)
        n = 1 if count is None else count
        floats = np.empty((n, self._observation.size), np.float32)
        masks = None if action_masks is None else np.ones((n, self._action.mask_size), np.float32)
        for i in range(n):
            own = observation if count is None else pick(self._observation.space, observation, i)
            self._observation.encode(own, floats[i])
            if masks is not None:
                masks[i] = flat_mask(action_masks if count is None else action_masks[i], self._action.mask_size)
        _check_finite(floats)
        policy = self._policy()
        starts = np.full(n, state is None) if episode_start is None else np.asarray(episode_start).reshape(n)
        actions = policy.act(floats, starts | (state is None), masks, self._exploration_of(deterministic))
        values = [self._action.decode(a) for a in actions]
        return (values[0] if count is None else batch(self._action.space, values),
                "kept by the policy" if policy.is_recurrent else None)

    def _exploration_of(self, deterministic: bool) -> float:
        return 0.0 if deterministic else self.exploration_rate

    # --- Files ---

    def save(self, path: str | os.PathLike[str], *, exact: bool = False) -> None:
        """Writes everything that `load` needs: package, weights, optimizer, hyperparameters; replaces the file as a
        whole.  exact: also replay buffer or rollout, counts and the state of the environments, so that training goes
        on to the bit."""
        if exact and (self._actions is None or self._envs is None):
            raise HearthError("an exact file holds a run that has begun, with its environments: call learn first, or "
                              "save without exact", -7, "HEARTH_ERROR_INVALID_STATE")
        check_writable("path", path)
        target = Path(path)
        temporary = target.with_name(target.name + ".new")
        with open(temporary, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                archive.writestr("meta.json", json.dumps(self._meta(exact)))
                archive.writestr("package.hearth", self._package)
                archive.writestr("brain", self.agents.save_game() if exact else self.brain())
                if exact:
                    arrays = io.BytesIO()
                    np.savez(arrays, **self._arrays())
                    archive.writestr("state.npz", arrays.getvalue())
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)

    def _meta(self, exact: bool) -> dict[str, Any]:
        schedules = [name for name, value in self._given.items() if callable(value)]
        ids = [[-1, 0] if agent is None else [agent.index, agent.generation] for agent in self.agents._ids]
        return {"format": _FORMAT, "algorithm": self.KIND, "name": self._name, "seed": self.seed,
                "network": self.network, "n_agents": self.n_agents, "is_exact": exact,
                "curriculum": self._curriculum,
                "hyperparameters": {k: v for k, v in self._given.items() if k not in schedules},
                "schedules": schedules, "masked": self._action.mask_size > 0,
                "observation_space": space_to_json(self._observation.space),
                "action_space": space_to_json(self._action.space), "num_timesteps": self.num_timesteps,
                "total_timesteps": self._total_timesteps, "episodes": list(self._episodes),
                "episode_count": self._episode_count, "best_mean_reward": self._best_mean_reward, "agents": ids}

    def _arrays(self) -> dict[str, Array]:
        assert self._envs is not None and self._actions is not None
        arrays = {"actions": self._actions, "returns": self._returns, "lengths": self._lengths}
        state = self._envs.state()
        return {**arrays, **{"env." + name: value for name, value in (state or {}).items()}}

    @classmethod
    def load(cls: type[_Self], path: str | os.PathLike[str], env: Any = None, *, n_envs: int | None = None,
             device: Device | str | int = "cpu", **hyperparameters: Any) -> _Self:
        """Reads a file of `save`, or a checkpoint of `learn`, which goes on where it was.

        env, n_envs: as for the constructor, to go on learning: environments like those it learned in.
        hyperparameters: schedules that are functions, which files do not hold.
        Errors: HearthError for a damaged file, one of another algorithm, or of another number or kind of agents than
        `env` has.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                meta = json.loads(archive.read("meta.json"))
                package, brain = archive.read("package.hearth"), archive.read("brain")
                stored = archive.read("state.npz") if meta["is_exact"] else b""
        except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, NotImplementedError) as error:
            if _is_stable_baselines3(path):
                raise invalid(f"{path} is a file of Stable-Baselines3, expected one of {cls.__name__}.save: read it by "
                              "hearth.checkpoints.load") from error
            raise HearthError(f"{path} is damaged, or not a file of save: {error}; train anew, or restore the file", -1,
                              "HEARTH_ERROR_INVALID_ARGUMENT") from error
        if meta["format"] != _FORMAT or meta["algorithm"] != cls.KIND:
            raise HearthError(f"{path} is of {meta['algorithm'].upper()}, format {meta['format']}; expected "
                              f"{cls.KIND.upper()}, format {_FORMAT}", -15, "HEARTH_ERROR_INCOMPATIBLE")
        for name, value in hyperparameters.items():
            if not (name in hyper.SCHEDULES and callable(value)):
                raise invalid(f"{name} is {value!r}, expected functions of the progress alone ("
                              f"{', '.join(hyper.SCHEDULES)}): {path} has all other hyperparameters")
        missing = [name for name in meta["schedules"] if name not in hyperparameters]
        if missing and env is not None:
            raise HearthError(f"{path}: '{missing[0]}' was a function, which the file does not hold: pass it to load",
                              -2, "HEARTH_ERROR_NOT_FOUND")
        self = cls.__new__(cls)
        self._restore_meta(meta, package, hyperparameters, device)
        self._open_envs(path, env, n_envs)
        self._begin()
        self._restore_run(meta, brain, stored)
        return self

    def _restore_meta(self, meta: dict[str, Any], package: bytes, given: dict[str, Any],
                      device: Device | str | int) -> None:
        self.seed, self.network, self.n_agents = meta["seed"], meta["network"], meta["n_agents"]
        self.verbose, self._log_folder, self._name = 0, None, meta["name"]
        self._curriculum = meta.get("curriculum")
        self._given = {**meta["hyperparameters"], **given}
        self.hyperparameters = hyper.merged(self.KIND, self._given)
        self._device = device if isinstance(device, Device) else Device(device)
        self._package = package
        self._observation = Observation(space_from_json(meta["observation_space"]))
        self._action = Action(space_from_json(meta["action_space"]), meta["masked"])

    def _open_envs(self, path: str | os.PathLike[str], env: Any, n_envs: int | None) -> None:
        self._envs = None
        if env is None:
            return
        self._envs = make_batch(env, (n_envs or self.n_agents) if _is_maker(env) else 1, self.seed)
        ours = (self.n_agents, self._observation.fields, self._action.actions)
        theirs = (self._envs.n_agents, self._envs.observation.fields, self._envs.action.actions)
        if ours != theirs:
            raise HearthError(f"{path} is of agents (number, observations, actions) {ours}, the environment has "
                              f"{theirs}", -15, "HEARTH_ERROR_INCOMPATIBLE")

    def _restore_run(self, meta: dict[str, Any], brain: bytes, stored: bytes) -> None:
        self.num_timesteps, self._total_timesteps = meta["num_timesteps"], meta["total_timesteps"]
        self._episodes.extend((r, n) for r, n in meta["episodes"])
        self._episode_count, self._best_mean_reward = meta["episode_count"], meta["best_mean_reward"]
        self._use_curriculum(restarts=False)
        if not stored:
            self._brain = brain
            self._use_curriculum(restarts=True)
            return
        self.agents.load_brain(brain)
        arrays = dict(np.load(io.BytesIO(stored), allow_pickle=False))
        state = {name[4:]: value for name, value in arrays.items() if name.startswith("env.")}
        self.agents._rebind([None if index < 0 else c.Agent(index, generation)
                             for index, generation in meta["agents"]])
        if self._envs is not None and not (state and self._envs.restore(state, self)):
            # Another start state than the one that the last decisions were made for.
            warnings.warn("the environments cannot be brought to the state of the checkpoint: they begin new episodes, "
                          "so the run differs from one that was not interrupted", stacklevel=3)
            self.agents._rejoin()
            return
        self._actions = arrays["actions"]
        self._returns, self._lengths = arrays["returns"], arrays["lengths"]

    def _close_agents(self) -> None:
        for owner in (self._policy_model, self._agents):
            if owner is not None:
                owner.close()
        self._policy_model = self._agents = self._brain = None

    def close(self) -> None:
        """Frees the agents' memory and closes the environments."""
        self._close_agents()
        if self._envs is not None:
            self._envs.close()
        self._envs = None

    def __repr__(self) -> str:
        return (f"<{type(self).__name__} of {self._name}: {self.n_agents} agents, "
                f"{self.num_timesteps} steps, {self._device.name}>")


class PPO(Algorithm):
    __doc__ = "Proximal policy optimization, for all kinds of actions.\n\n" + (Algorithm.__doc__ or "")
    KIND = "ppo"

    def _begin(self) -> None:
        super()._begin()
        self._has_learned = True  # a rollout is learned from as a whole: the end of `learn` is the end of one

    def _is_done(self) -> bool:
        return super()._is_done() and (self._has_learned or self._is_frozen)

    def _step(self, run: _Run) -> bool:
        rollouts = self.agents._status().rollouts
        goes_on = super()._step(run)
        self._has_learned = self.agents._status().rollouts > rollouts
        return goes_on

    def _train_metrics(self, status: dict[str, float]) -> dict[str, float]:
        return {"train/loss": status["loss"], "train/policy_gradient_loss": status["policy_loss"],
                # Half the squared error here, all of it there.
                "train/value_loss": 2 * status["value_loss"], "train/entropy_loss": -status["entropy"],
                "train/approx_kl": status["kl"], "train/clip_fraction": status["clip_fraction"],
                "train/explained_variance": status["explained_variance"]}


class DQN(Algorithm):
    __doc__ = "Deep Q-learning, for discrete actions.\n\n" + (Algorithm.__doc__ or "")
    KIND = "dqn"

    @property
    def exploration_rate(self) -> float:
        h = self.hyperparameters
        done = (1 - self.progress_remaining) / max(1e-9, h["exploration_fraction"])
        begin, end = h["exploration_initial_eps"], h["exploration_final_eps"]
        return float(begin + (end - begin) * min(1.0, done))

    def _exploration_of(self, deterministic: bool) -> float:
        # A policy that only acts is never the random one that training begins with.
        return 0.0 if deterministic else float(self.hyperparameters["exploration_final_eps"])

    def metrics(self) -> dict[str, float]:
        return {**super().metrics(), "rollout/exploration_rate": self.exploration_rate}

    def _train_metrics(self, status: dict[str, float]) -> dict[str, float]:
        return {"train/loss": status["loss"]}


class SAC(Algorithm):
    __doc__ = "Soft actor-critic, for continuous actions.\n\n" + (Algorithm.__doc__ or "")
    KIND = "sac"

    def _train_metrics(self, status: dict[str, float]) -> dict[str, float]:
        return {"train/actor_loss": status["policy_loss"], "train/critic_loss": status["value_loss"],
                "train/ent_coef": status["ent_coef"]}


def _check_steps(name: str, steps: Any) -> None:
    if not (isinstance(steps, numbers.Real) and 0 <= steps < math.inf):
        raise invalid(f"{name} is {steps!r}, expected a number of steps, at least 0")


def _check_spaces(envs: Batch, model: Algorithm) -> Batch:
    """Returns environments to evaluate a model in, or raises an error for those of other spaces."""
    theirs = envs.observation.fields, envs.action.actions
    ours = model._observation.fields, model._action.actions
    if theirs != ours:
        raise HearthError(f"the environment has the observations and actions {theirs}, expected {ours}, those that the "
                          "model was made for", -15, "HEARTH_ERROR_INCOMPATIBLE")
    return envs


def _is_stable_baselines3(path: str | os.PathLike[str]) -> bool:
    """Whether the file is a whole archive with the version of Stable-Baselines3."""
    try:
        with zipfile.ZipFile(path) as archive:
            return "_stable_baselines3_version" in archive.namelist()
    except zipfile.BadZipFile:
        return False


def _check_finite(observations: Array, rows: Array | None = None) -> None:
    """Raises an error for observations, [n, size], that are not finite.  rows: bool [n], which of them count."""
    finite = np.isfinite(observations)
    if finite.all():
        return
    wrong = np.argwhere(~finite if rows is None else ~finite & rows[:, None])
    if len(wrong):
        agent, element = wrong[0]
        raise HearthError(f"agent {agent} observes {observations[agent, element]} as element {element}, expected "
                          "finite numbers; check what computes it", -1, "HEARTH_ERROR_INVALID_ARGUMENT")


ALGORITHMS: dict[str, type[Algorithm]] = {"ppo": PPO, "dqn": DQN, "sac": SAC}


class _Run:
    """What goes on beside a run of `learn`: logs, evaluation, checkpoints, callbacks."""

    def __init__(self, model: Algorithm, callback: Callback | Sequence[Callback] | None, log_interval: int | None,
                 progress_bar: bool, log: str | os.PathLike[str] | None,
                 checkpoint: str | os.PathLike[str] | None, checkpoint_freq: int, eval_env: Any, eval_freq: int,
                 n_eval_episodes: int, best_model_path: str | os.PathLike[str] | None) -> None:
        for name, file in (("checkpoint", checkpoint), ("best_model_path", best_model_path)):
            if file is not None:
                check_writable(name, file)
        for name, number, least in (("log_interval", 1 if log_interval is None else log_interval, 1),
                                    ("eval_freq", eval_freq, 0), ("checkpoint_freq", checkpoint_freq, 0),
                                    ("n_eval_episodes", n_eval_episodes, 1)):
            check_whole(name, number, least)
        if best_model_path is not None and eval_env is None:
            raise invalid("best_model_path needs eval_env, whose returns say which model is best")
        self._model = model
        self._callbacks: list[Callback] = [] if callback is None else list(
            callback) if isinstance(callback, (list, tuple)) else [callback]  # type: ignore[list-item]
        for each in self._callbacks:
            if not callable(each):
                raise invalid(f"callback is {each!r}, expected a function of the model, or a list of them")
        self._log_interval = log_interval or (1 if model.KIND == "ppo" else 4)
        self._logged = self._log_count()
        self._checkpoint, self._checkpoint_freq = checkpoint, checkpoint_freq
        self._eval_env = None if eval_env is None else _check_spaces(make_batch(eval_env, 1, model.seed + 1_000_003),
                                                                     model)
        self._closes_eval_env = _is_maker(eval_env)
        self._eval_freq, self._n_eval_episodes = eval_freq, n_eval_episodes
        self._best_model_path = best_model_path
        self._begin, self._start = model.num_timesteps, time.monotonic()
        self._last = model.num_timesteps
        self._was_asked_to_freeze = False
        self._logs = None if log is None else Logs(log, model.KIND, model.seed, model.num_timesteps)
        self._bar = ProgressBar(f"{model._name} {model.KIND.upper()}", model.num_timesteps,
                                model._total_timesteps) if progress_bar else None

    def _log_count(self) -> int:
        """What log_interval counts: rollouts or episodes."""
        model = self._model
        return int(model.agents._status().rollouts) if model.KIND == "ppo" else model._episode_count

    def _is_due(self, freq: int) -> bool:
        """Whether a multiple of `freq` steps lies in the last step of the environments."""
        return freq > 0 and self._model.num_timesteps // freq > self._last // freq

    def after_step(self) -> bool:
        """Returns whether training goes on."""
        model = self._model
        if self._eval_env is not None and self._is_due(self._eval_freq):
            self._evaluate()
        count, goes_on = self._log_count(), True
        # Frozen agents of PPO finish no rollouts.
        is_frozen_due = model.is_frozen and self._is_due(1000)
        if is_frozen_due or count // self._log_interval > self._logged // self._log_interval:
            self._write_log()
            goes_on = self._follow_requests()
        self._logged = count
        if self._bar is not None:
            self._bar.update(model.num_timesteps, self._note())
        if self._checkpoint is not None and self._is_due(self._checkpoint_freq):
            model.save(self._checkpoint, exact=True)
        self._last = model.num_timesteps
        return not any([is_no(callback(model)) for callback in self._callbacks]) and goes_on

    def _follow_requests(self) -> bool:
        """Does what `hearth watch` asks for; returns whether training goes on."""
        if self._logs is None:
            return True
        goes_on = not self._logs.waits_or_stops()
        if self._logs.asks_to_freeze() != self._was_asked_to_freeze:
            self._was_asked_to_freeze = not self._was_asked_to_freeze
            self._model.freeze(self._was_asked_to_freeze)
        return goes_on

    def _note(self) -> str:
        returns = self._model.episode_returns
        return f"return {np.mean(returns):.1f}" if returns else ""

    def _evaluate(self) -> None:
        model = self._model
        assert self._eval_env is not None
        self._eval_env.restart()  # equal episodes each time, whether the run was resumed or not
        mean, std = evaluate_policy(model, self._eval_env, self._n_eval_episodes)
        model._evaluated = {"eval/mean_reward": mean, "eval/std_reward": std}
        if mean > model._best_mean_reward:
            model._best_mean_reward = mean
            if self._best_model_path is not None:
                model.save(self._best_model_path)
        if self._logs is not None:
            self._logs.write(model.num_timesteps, model._evaluated)

    def _write_log(self) -> None:
        model = self._model
        if self._logs is None and not model.verbose:
            return
        values = {**model.metrics(), "time/fps": (model.num_timesteps - self._begin)
                  / max(1e-9, time.monotonic() - self._start)}
        if self._logs is not None:
            self._logs.write(model.num_timesteps, values)
        if model.verbose:
            print(f"{model.num_timesteps:>10,}  " + "  ".join(f"{name.split('/')[1]} {value:.4g}"
                                                             for name, value in values.items()))

    def finish(self) -> None:
        """At the end of training."""
        if self._checkpoint is not None:
            self._model.save(self._checkpoint, exact=True)
        if self._bar is not None:
            self._bar.update(self._model.num_timesteps, self._note(), is_last=True)

    def close(self) -> None:
        if self._logs is not None:
            self._logs.close()
        if self._eval_env is not None and self._closes_eval_env:
            self._eval_env.close()


def evaluate_policy(model: Algorithm, env: Any, n_eval_episodes: int = 10, *, deterministic: bool = True,
                    seed: int = 0) -> tuple[float, float]:
    """Plays episodes and returns mean and standard deviation of their returns.

    env: as for the algorithms.  With many agents, each plays its share of the episodes, so that short ones do not
    count more.  The brain is that of the model at the beginning.
    """
    if n_eval_episodes < 1:
        raise HearthError(f"n_eval_episodes is {n_eval_episodes}, expected at least 1", -1,
                          "HEARTH_ERROR_INVALID_ARGUMENT")
    envs = make_batch(env, 1, seed)
    try:
        found = _play(model, _check_spaces(envs, model), n_eval_episodes, deterministic)
    finally:
        if _is_maker(env):
            envs.close()
    return float(np.mean(found)), float(np.std(found))


def _is_maker(env: Any) -> bool:
    """Whether it is an id or a function, whose environment nobody else closes."""
    return isinstance(env, str) or (callable(env) and not hasattr(env, "reset"))


def _play(model: Algorithm, envs: Batch, n_eval_episodes: int, deterministic: bool) -> list[float]:
    """Returns of the episodes."""
    policy = model._policy()
    n = envs.n_agents
    target = np.array([(n_eval_episodes + i) // n for i in range(n)])
    returns, count = np.zeros(n), np.zeros(n, np.int64)
    found: list[float] = []
    starts = np.ones(n, bool)
    outcome = envs.outcome
    while (count < target).any():
        acted = outcome.present
        actions = policy.act(outcome.observations, starts, outcome.masks, model._exploration_of(deterministic))
        outcome = envs.step(actions)
        returns[acted] += outcome.rewards[acted]
        starts = (outcome.terminated | outcome.truncated) | ~acted
        for i in np.flatnonzero((outcome.terminated | outcome.truncated) & acted):
            if count[i] < target[i]:
                found.append(float(returns[i]))
                count[i] += 1
            returns[i] = 0
    return found


def _resumed(kind: type[Algorithm], checkpoint: str | os.PathLike[str], env: Any, n_envs: int, seed: int | None,
             device: Device | str | int, options: Mapping[str, Any]) -> Algorithm:
    """Loads a checkpoint, which has the settings that are given."""
    schedules = {name: value for name, value in options.items() if callable(value)}
    model = kind.load(checkpoint, env, n_envs=n_envs, device=device, **schedules)
    expected = {name: value for name, value in options.items() if not callable(value)}
    model.verbose, model._log_folder = expected.pop("verbose", 0), expected.pop("tensorboard_log", None)
    expected.pop("curriculum", None)
    if (network := expected.pop("network", None)) is not None:
        shape = getattr(model._observation.space, "shape", None)
        expected["network"] = json.loads(json.dumps(hyper.network(kind.KIND, network, shape)))
    if seed is not None:
        expected["seed"] = seed
    found = {**model.hyperparameters, "network": model.network, "seed": model.seed}
    for name, value in expected.items():
        if name not in found or found[name] != value:
            has = f"{name} = {found[name]}" if name in found else f"no {name}"
            raise HearthError(f"{checkpoint} has {has}, expected {value}: train with its settings, or with another "
                              "checkpoint", -15, "HEARTH_ERROR_INCOMPATIBLE")
    return model


def learn(env: Any, algorithm: str = "ppo", steps: int = 100_000, *, seed: int | None = None, n_envs: int = 1,
          resume: bool = False, progress_bar: bool | None = None, checkpoint: str | os.PathLike[str] | None = None,
          device: Device | str | int = "cpu", callback: Callback | Sequence[Callback] | None = None,
          log: str | os.PathLike[str] | None = None, eval_env: Any = None, **options: Any) -> Algorithm:
    """Makes an algorithm ("ppo", "dqn" or "sac"), learns for this many steps, and returns it.

    resume: goes on from `checkpoint`, if the file exists.  progress_bar: None: on a terminal.
    options: those of `Algorithm.learn` and hyperparameters, by name; all others as there.

        model = hearth.learn("LunarLander-v3", "ppo", steps=200_000, seed=0)
    """
    if algorithm not in ALGORITHMS:
        raise HearthError(f"algorithm is '{algorithm}', expected one of {', '.join(ALGORITHMS)}", -2,
                          "HEARTH_ERROR_NOT_FOUND")
    _check_steps("steps", steps)
    if checkpoint is not None:
        check_writable("checkpoint", checkpoint)
    kind = ALGORITHMS[algorithm]
    of_learn = {name: options.pop(name) for name in
                ("log_interval", "eval_freq", "n_eval_episodes", "best_model_path", "checkpoint_freq")
                if name in options}
    if resume and checkpoint is None:
        raise HearthError("resume needs checkpoint, the file to go on from", -1, "HEARTH_ERROR_INVALID_ARGUMENT")
    if resume and checkpoint is not None and Path(checkpoint).exists():
        model = _resumed(kind, checkpoint, env, n_envs, seed, device, options)
    else:
        model = kind(env, n_envs=n_envs, seed=seed, device=device, **options)
    return model.learn(max(0, steps - model.num_timesteps), callback, log=log, eval_env=eval_env,
                       checkpoint=checkpoint, reset_num_timesteps=False,
                       progress_bar=sys.stderr.isatty() if progress_bar is None else progress_bar, **of_learn)
