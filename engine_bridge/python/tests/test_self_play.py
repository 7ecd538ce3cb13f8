# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Self-play in a game of PettingZoo."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")
pettingzoo = pytest.importorskip("pettingzoo", reason="needs the package pettingzoo")
from gymnasium import spaces  # noqa: E402
from pettingzoo.test import parallel_api_test  # noqa: E402
from pettingzoo.utils import parallel_to_aec  # noqa: E402

import hearth  # noqa: E402

ROUNDS = 8


class Duel(pettingzoo.ParallelEnv):
    """Both see a number of their own below 4; who answers it alone wins the round."""

    metadata = {"name": "duel_v0"}

    def __init__(self):
        self.possible_agents, self.agents = ["left", "right"], []
        self._observed, self._acts = spaces.Discrete(4), spaces.Discrete(4)

    def observation_space(self, agent):
        return self._observed

    def action_space(self, agent):
        return self._acts

    def _seen(self):
        self._asked = dict(zip(self.possible_agents, self._random.integers(4, size=2).tolist()))
        return {name: np.int64(self._asked[name]) for name in self.agents}

    def reset(self, seed=None, options=None):
        self._random = np.random.default_rng(seed)
        self.agents, self._round = list(self.possible_agents), 0
        return self._seen(), {name: {} for name in self.agents}

    def step(self, actions):
        right = {name: int(actions[name] == self._asked[name]) for name in self.agents}
        rewards = {"left": float(right["left"] - right["right"]), "right": float(right["right"] - right["left"])}
        self._round += 1
        is_over = self._round == ROUNDS
        results = (self._seen(), rewards, dict.fromkeys(self.agents, is_over), dict.fromkeys(self.agents, False),
                   {name: {} for name in self.agents})
        if is_over:
            self.agents = []
        return results


SETTINGS = {"n_steps": 64, "batch_size": 64, "n_epochs": 4, "learning_rate": 3e-3, "gamma": 0.5, "ent_coef": 0.01}


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device


def test_the_duel_passes_pettingzoos_check():
    parallel_api_test(Duel(), num_cycles=30)


def test_a_game_is_learned_by_self_play_with_a_rising_rating(device):
    games = hearth.SelfPlay(Duel, n_envs=4, save_steps=1024, swap_steps=512, window=4)
    model = hearth.PPO(games, device=device, seed=0, **SETTINGS)
    ratings, opponents = [], set()

    def watch(model):
        opponents.add(games.opponent_elo)
        if model.num_timesteps % 1024 == 0:
            ratings.append(games.elo)

    model.learn(8192, callback=watch)
    assert ratings[-1] > 1200 + 150 and ratings[-1] > ratings[0]
    assert len(opponents) >= 4 and games.metrics()["self_play/elo"] == games.elo
    # Against the brain that it began with: three of four answers are wrong there, none here.
    answers = [int(model.predict(np.int64(asked), deterministic=True)[0]) for asked in range(4)]
    assert answers == [0, 1, 2, 3]
    model.close()


def test_all_agents_of_a_parallel_environment_share_a_brain(device):
    model = hearth.PPO([Duel(), Duel()], device=device, seed=0, **SETTINGS)
    assert model.n_agents == 4
    model.learn(6000)
    assert [int(model.predict(np.int64(n), deterministic=True)[0]) for n in range(4)] == [0, 1, 2, 3]
    model.close()


def test_self_play_goes_on_to_the_bit(device, tmp_path):
    def games():
        return hearth.SelfPlay(Duel, n_envs=2, save_steps=256, swap_steps=128, window=3, seed=7)

    def save(model):
        if model.num_timesteps == 300:
            model.save(tmp_path / "games.zip", exact=True)

    whole = games()
    model = hearth.PPO(whole, device=device, seed=1, **SETTINGS).learn(1024, callback=save)
    again = games()
    resumed = hearth.PPO.load(tmp_path / "games.zip", again, device=device)
    assert resumed.num_timesteps == 300
    resumed.learn(1024 - 300, reset_num_timesteps=False)
    assert resumed.brain() == model.brain() and again.elo == whole.elo
    model.close(), resumed.close()


def test_connect_four_is_learned_by_self_play(device):
    pytest.importorskip("pygame", reason="needs the package pygame-ce")
    spec = importlib.util.spec_from_file_location("connect_four",
                                                  Path(__file__).parents[1] / "examples/connect_four.py")
    four = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(four)
    parallel_api_test(four.make_game(), num_cycles=50)
    games = hearth.SelfPlay(four.make_game, n_envs=16, save_steps=5_000, swap_steps=2_000)
    model = hearth.PPO(games, device=device, seed=0, **four.SETTINGS)
    before = four.play(model, 50)
    ratings = []
    model.learn(50_000, callback=lambda model: ratings.append(games.elo))
    middle = len(ratings) // 2
    assert ratings[middle] > 1200 + 50 and ratings[-1] > ratings[middle] + 50, ratings[::100]
    after = four.play(model, 50)
    assert after[0] >= 40 > before[0], (before, after)  # of 50 games against random moves
    model.close()


def test_errors_of_self_play_name_what_was_expected(device):
    for arguments, message in [({"n_envs": 0}, "n_envs is 0, expected"), ({"window": 0}, "window is 0, expected"),
                               ({"save_steps": 0}, "save_steps is 0"), ({"swap_steps": -1}, "swap_steps is -1"),
                               ({"seed": -1}, "seed is -1, expected"),
                               ({"play_against_latest_model_ratio": 3}, "ratio is 3, expected a number from 0 to 1")]:
        with pytest.raises(hearth.HearthError, match=message):
            hearth.SelfPlay(Duel, **arguments)
    for env in (Duel(), "CartPole-v1", lambda: gymnasium.make("CartPole-v1")):
        with pytest.raises(hearth.HearthError, match="expected a function that makes a pettingzoo.ParallelEnv of at"):
            hearth.SelfPlay(env)
    with pytest.raises(hearth.HearthError, match="is an AECEnv .*: convert it by turn_based_aec_to_parallel"):
        hearth.SelfPlay(lambda: parallel_to_aec(Duel()))
    with pytest.raises(hearth.HearthError, match="n_envs is 4 for one environment"):
        hearth.PPO(hearth.SelfPlay(Duel), n_envs=4, device=device, **SETTINGS)
