# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Self-play: one agent of each world learns against earlier brains of its own.

    games = hearth.SelfPlay(make_game, n_envs=8)
    model = hearth.PPO(games).learn(500_000)
    print(games.elo)

Settings have the names and defaults of ML-Agents' self_play.  Ratings are Elo's (1978), with a factor of 32.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ._environments import Outcome, Parallels, Rows, make_batch
from ._library import check_whole, invalid
from ._model import Model
from ._policy import Policy

if TYPE_CHECKING:
    from ._algorithms import Algorithm

Array = np.ndarray[Any, Any]

_FACTOR = 32.0  # of a rating's change


class SelfPlay(Rows):
    """Worlds of a pettingzoo.ParallelEnv in which one agent learns; the others are an earlier brain of it.

    env: a function that makes the environment, whose agents have equal spaces.  In world w the agent with index
    w modulo the number of agents learns.
    save_steps: steps of learning between brains that are kept, of which there are at most `window`.  swap_steps: steps
    between opponents: the newest brain with a probability of play_against_latest_model_ratio, else any.
    """

    def __init__(self, env: Callable[[], Any], n_envs: int = 1, *, save_steps: int = 20_000, swap_steps: int = 10_000,
                 window: int = 10, play_against_latest_model_ratio: float = 0.5, initial_elo: float = 1200.0,
                 seed: int = 0) -> None:
        for name, value in (("n_envs", n_envs), ("save_steps", save_steps), ("swap_steps", swap_steps),
                            ("window", window)):
            check_whole(name, value, 1)
        if not 0 <= play_against_latest_model_ratio <= 1:
            raise invalid(f"play_against_latest_model_ratio is {play_against_latest_model_ratio}, expected a number from "
                          "0 to 1")
        inner = make_batch(env, n_envs, check_whole("seed", seed, 0)) if callable(env) else None
        if not isinstance(inner, Parallels) or inner.n_agents == n_envs:
            raise invalid(f"SelfPlay of {env!r}, expected a function that makes a pettingzoo.ParallelEnv of at least two "
                          "agents")
        self._inner = inner
        per_world = self._inner.n_agents // n_envs
        super().__init__(self._inner, np.array([w * per_world + w % per_world for w in range(n_envs)]))
        self._others = np.setdiff1d(np.arange(self._inner.n_agents), self._rows)
        self._save_steps, self._swap_steps, self._window = save_steps, swap_steps, window
        self._latest_ratio = play_against_latest_model_ratio
        self._random = np.random.default_rng(seed)
        self.elo = initial_elo  #: rating of the brain that learns
        self.opponent_elo = initial_elo  #: rating of the brain that it plays against
        self._pool: list[tuple[float, bytes]] = []
        self._returns = np.zeros(self._inner.n_agents)
        self._starts = np.ones(self._inner.n_agents, bool)
        self._opponent: Policy | None = None

    # --- Opponents ---

    def begin(self, model: Algorithm) -> None:
        if self._opponent is None:
            self._model = Model(model._package, model._device)
            self._opponent = Policy(self._model)
            self._keep(model)
            self._swap()

    def after_step(self, model: Algorithm, before: int) -> None:
        if model.num_timesteps // self._save_steps > before // self._save_steps:
            self._keep(model)
        if model.num_timesteps // self._swap_steps > before // self._swap_steps:
            self._swap()

    def _keep(self, model: Algorithm) -> None:
        self._pool = [*self._pool, (self.elo, model.brain())][-self._window:]

    def _swap(self) -> None:
        is_latest = self._random.random() < self._latest_ratio
        index = len(self._pool) - 1 if is_latest else int(self._random.integers(len(self._pool)))
        self.opponent_elo, brain = self._pool[index]
        self._model.load_brain(brain)
        self._starts[:] = True

    # --- Playing ---

    def step(self, actions: Array) -> Outcome:
        assert self._opponent is not None, "a model learns in these environments first"
        before = self._inner.outcome
        every = np.zeros((self._inner.n_agents, self.action.size), np.float32)
        every[self._rows] = actions
        masks = None if before.masks is None else before.masks[self._others]
        every[self._others] = self._opponent.act(before.observations[self._others], self._starts[self._others], masks,
                                                 exploration=1.0)
        episodes = self._inner._episodes.copy()
        outcome = self._inner.step(every)
        self._starts = outcome.terminated | outcome.truncated | ~before.present
        self._returns += outcome.rewards
        for world in np.flatnonzero(self._inner._episodes != episodes):
            self._rate(int(world))
        return self._take()

    def _rate(self, world: int) -> None:
        """A world's game has ended: who returned more has won."""
        per_world = self._inner.n_agents // self._inner.n_worlds
        rows = slice(world * per_world, (world + 1) * per_world)
        own = self._returns[self._rows[world]]
        others = (self._returns[rows].sum() - own) / max(1, per_world - 1)
        score = 1.0 if own > others else 0.0 if own < others else 0.5
        expected = 1 / (1 + 10 ** ((self.opponent_elo - self.elo) / 400))
        self.elo += _FACTOR * (score - expected)
        self._returns[rows] = 0

    def metrics(self) -> dict[str, float]:
        return {"self_play/elo": self.elo, "self_play/opponent_elo": self.opponent_elo}

    # --- Checkpoints ---

    def state(self) -> dict[str, Array]:
        state = {f"brain{i}": np.frombuffer(brain, np.uint8) for i, (_, brain) in enumerate(self._pool)}
        state.update({"inner." + name: value for name, value in self._inner.state().items()})
        state.update(elos=np.array([elo for elo, _ in self._pool]), ratings=np.array([self.elo, self.opponent_elo]),
                     returns=self._returns, starts=self._starts,
                     random=np.array([json.dumps(self._random.bit_generator.state)]),
                     **{"opponent." + name: self._model.read(name) for name, variable in
                        self._model.variables.items() if variable.kind in ("param", "state")})
        return state

    def restore(self, state: dict[str, Array], model: Algorithm) -> bool:
        if "elos" not in state:  # a run without opponents
            return False
        self._pool = [(float(elo), state[f"brain{i}"].tobytes()) for i, elo in enumerate(state["elos"])]
        self._model = Model(model._package, model._device)
        self._opponent = Policy(self._model)
        self._model.write({name[9:]: value for name, value in state.items() if name.startswith("opponent.")})
        self.elo, self.opponent_elo = map(float, state["ratings"])
        self._returns, self._starts = state["returns"], state["starts"]
        self._random.bit_generator.state = json.loads(str(state["random"][0]))
        is_restored = self._inner.restore({name[6:]: value for name, value in state.items()
                                           if name.startswith("inner.")}, model)
        self._take()
        return is_restored

    def close(self) -> None:
        if self._opponent is not None:
            self._model.close()
            self._opponent = None
        self._inner.close()
