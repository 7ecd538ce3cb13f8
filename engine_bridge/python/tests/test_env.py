# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Games as Gymnasium environments."""

import math
import os
import warnings

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import hearth  # noqa: E402
from hearth import env as henv  # noqa: E402

NAMES = ["CartPole", "Acrobot", "MountainCar", "MountainCarContinuous", "Pendulum", "Hatchlings"]


def test_all_environments_are_found():
    assert sorted(d.name for d in henv.available()) == sorted(NAMES)


def test_what_lies_in_two_folders_is_listed_once(tmp_path, monkeypatch):
    library = henv.find("CartPole").library
    (tmp_path / library.name).write_bytes(library.read_bytes())
    folders = os.environ.get("HEARTH_ENVIRONMENTS", "")
    monkeypatch.setenv("HEARTH_ENVIRONMENTS", os.pathsep.join([str(tmp_path), folders, folders]))
    assert sorted(d.name for d in henv.available()) == sorted(NAMES)
    assert henv.find("CartPole").library.name == library.name


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_checks_pass(name):
    env = henv.make(name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Gymnasium prints these two warnings for its own environments, too.
        for allowed in (".*spec.*", ".*Box action space.*", ".*Box observation space m.*infinity.*"):
            warnings.filterwarnings("ignore", allowed)
        check_env(env, skip_render_check=True)
    env.close()


def test_pettingzoos_checks_pass():
    pettingzoo_test = pytest.importorskip("pettingzoo.test", reason="needs the package pettingzoo")
    for name, n_agents in [("Hatchlings", 3), ("CartPole", 1)]:
        env = henv.make_parallel(name, n_agents)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pettingzoo_test.parallel_api_test(env, num_cycles=950)  # beyond the end of an episode
            pettingzoo_test.parallel_seed_test(lambda: henv.make_parallel(name, n_agents))
        assert len(env.possible_agents) == n_agents
        env.close()


class SplitMix64:
    """The generator by which the tasks draw their first states (demos/scenes/classic/tasks.cpp)."""

    def __init__(self, seed):
        self.state = seed

    def uniform(self, low, high):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        z ^= z >> 31
        return low + (high - low) * (z >> 11) * 2.0**-53


def first_state(name, seed):
    random = SplitMix64(seed)
    if name == "CartPole":
        return np.array([random.uniform(-0.05, 0.05) for _ in range(4)])
    if name == "Acrobot":
        return np.array([np.float32(random.uniform(-0.1, 0.1)) for _ in range(4)], np.float64)
    if name == "MountainCar":
        return np.array([random.uniform(-0.6, -0.4), 0.0])
    if name == "MountainCarContinuous":
        return np.array([random.uniform(-0.6, -0.4), 0.0], np.float32)
    return np.array([random.uniform(-math.pi, math.pi), random.uniform(-1, 1)])


# Observations are bitwise equal if both sides compute in double and round once. Acrobot and
# Pendulum use NumPy's sines there and the C library's here. The torque is a float32 that NumPy 1
# converts to double, and a pendulum that swings randomly for 200 steps amplifies the difference a
# thousandfold.
PENDULUM_TOLERANCE = 1e-4 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 1e-3


@pytest.mark.parametrize(("name", "theirs", "tolerance"), [
    ("CartPole", "CartPole-v1", 0.0), ("MountainCar", "MountainCar-v0", 0.0),
    ("MountainCarContinuous", "MountainCarContinuous-v0", 1e-5), ("Pendulum", "Pendulum-v1", PENDULUM_TOLERANCE),
    ("Acrobot", "Acrobot-v1", 1e-3)])
def test_tasks_equal_gymnasiums_own_step_by_step(name, theirs, tolerance):
    ours, other = henv.make(name), gymnasium.make(theirs)
    assert ours.action_space == other.action_space
    assert ours.observation_space.shape == other.observation_space.shape
    random = np.random.default_rng(5)
    for episode in range(20):
        seen, _ = ours.reset(seed=episode)
        other.reset(seed=episode)
        other.unwrapped.state = first_state(name, episode)
        steps = 0
        while True:
            ours.action_space.seed(int(random.integers(2**31)))
            action = ours.action_space.sample()
            seen, reward, terminated, truncated, _ = ours.step(action)
            their_seen, their_reward, their_terminated, their_truncated, _ = other.step(action)
            steps += 1
            assert np.abs(seen - their_seen).max() <= tolerance, (episode, steps)
            assert reward == pytest.approx(their_reward, abs=max(tolerance, 1e-6))
            assert (terminated, truncated) == (their_terminated, their_truncated), (episode, steps)
            if terminated or truncated:
                break


def test_worlds_at_once_are_worlds_one_by_one():
    many = henv.make_vec("CartPole", 8, autoreset=AutoresetMode.SAME_STEP)
    seen, _ = many.reset(seed=100)
    single = [henv.make("CartPole") for _ in range(8)]
    for w, env in enumerate(single):
        assert np.array_equal(env.reset(seed=100 + w)[0], seen[w])
    random = np.random.default_rng(1)
    endings = 0
    for _ in range(200):
        actions = random.integers(2, size=8)
        seen, rewards, terminated, truncated, info = many.step(actions)
        for w, env in enumerate(single):
            own, reward, own_terminated, own_truncated, _ = env.step(actions[w])
            assert (reward, own_terminated, own_truncated) == (rewards[w], terminated[w], truncated[w])
            if own_terminated or own_truncated:
                assert np.array_equal(own, info["final_obs"][w]) and info["_final_obs"][w]
                own, _ = env.reset()
                endings += 1
            assert np.array_equal(own, seen[w])
    assert endings > 20


def test_next_step_autoreset_returns_the_first_observation_one_step_later():
    now = henv.make_vec("CartPole", 4, autoreset=AutoresetMode.SAME_STEP)
    later = henv.make_vec("CartPole", 4)
    now.reset(seed=3), later.reset(seed=3)
    waits = np.zeros(4, bool)
    for _ in range(300):
        a, _, terminated_a, _, info = now.step(np.ones(4, int))
        b, rewards, terminated_b, _, _ = later.step(np.ones(4, int))
        if terminated_a.any():
            assert np.array_equal(terminated_a, terminated_b)
            assert np.array_equal(b[terminated_b], info["final_obs"][terminated_a])
            waits = terminated_b
            c, rewards, terminated_c, _, _ = later.step(np.ones(4, int))
            assert not terminated_c[waits].any() and (rewards[waits] == 0).all()
            assert np.array_equal(c[waits], a[waits])
            return
    pytest.fail("no cart fell in 300 steps to the right")


def test_hatchlings_share_a_world_and_are_truncated_after_a_minute():
    envs = henv.make_vec("Hatchlings", n_worlds=2, n_agents=16)
    seen, _ = envs.reset(seed=1)
    assert seen.shape == (32, 27)
    again, _ = henv.make_vec("Hatchlings", n_worlds=2, n_agents=16).reset(seed=1)
    assert np.array_equal(seen, again)
    random, total = np.random.default_rng(2), 0.0
    for step in range(1, 901):
        seen, rewards, terminated, truncated, _ = envs.step(random.uniform(-1, 1, (32, 2)).astype(np.float32))
        total += abs(rewards).sum()
        assert not terminated.any() and truncated.all() == (step == 900) and truncated.any() == (step == 900)
    assert total > 0


def test_all_agents_of_a_world_end_with_the_first(monkeypatch):
    """A world is reset as a whole: the episodes of those who could go on are truncated, not joined with the next."""
    worlds = henv.Worlds(henv.find("Hatchlings"), n_worlds=2, n_agents=3)
    worlds.reset(seeds=[1, 2])

    def step(*unused):
        worlds.ends[:] = [0, 1, 0, 0, 0, 0]

    monkeypatch.setattr(worlds._library, "hearth_environment_step", step)
    _, _, ends = worlds.step(np.zeros((6, 2), np.float32))
    assert ends.tolist() == [2, 1, 2, 0, 0, 0]


def test_errors_name_what_was_expected(tmp_path):
    with pytest.raises(hearth.HearthError, match="CartPool.*there are: CartPole"):
        henv.make("CartPool")
    with pytest.raises(hearth.HearthError, match="2 agents, expected 1 or more of 1 to 1"):
        henv.make_vec("CartPole", 1, 2)
    env = henv.make("CartPole")
    env.reset(seed=1)
    with pytest.raises(hearth.HearthError, match="action 7 is not in Discrete"):
        env.step(7)
    worlds = henv.Worlds(henv.find("Pendulum"), 3)
    worlds.reset(seeds=[1, 2, 3])
    with pytest.raises(hearth.HearthError, match=r"\[2, 1\], expected \[3, 1\]"):
        worlds.step(np.zeros((2, 1), np.float32))
    with pytest.raises(hearth.HearthError, match="NaN"):
        worlds.step(np.full((3, 1), np.nan, np.float32))
