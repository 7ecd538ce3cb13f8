# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Curricula of agents."""

import json

import numpy as np
import pytest

import hearth

LESSONS = {"environment_parameters": {
    "gravity": 9.5,
    "wall": {"curriculum": [
        {"name": "low", "value": 1,
         "completion_criteria": {"measure": "reward", "min_lesson_length": 2, "threshold": 0.5}},
        {"name": "middle", "value": 2,
         "completion_criteria": {"measure": "success", "min_lesson_length": 1, "threshold": 0.5}},
        {"name": "high", "value": {"sampler_type": "uniform", "sampler_parameters": {"min_value": 3, "max_value": 4}}},
    ]}}}


@pytest.fixture(scope="module")
def package():
    return hearth.cook_agents([{"name": "place", "kind": "box", "size": 2}], [{"name": "move", "kind": "discrete", "n": 2}],
                              n_agents=2, network={"kind": "mlp", "hidden_sizes": [8]}, learner={"kind": "ppo", "n_steps": 8})


def test_lessons_follow_returns_and_metrics(package, tmp_path):
    path = tmp_path / "lessons.json"
    path.write_text(json.dumps(LESSONS))
    agents = hearth.Agents(package, 2, curriculum=path)
    observations = np.zeros((2, 2), np.float32)
    assert agents.parameter("gravity") == 9.5 and agents.parameter("wall") == 1
    agents.decide(observations)
    agents.decide(observations, rewards=[1, 1], terminated=[True, False])
    assert agents.lessons["wall"]["lesson"] == "low" and agents.lessons["wall"]["episodes"] == 1
    agents.decide(observations, rewards=[0, 1], terminated=[True, True])
    assert agents.lessons["wall"]["lesson"] == "middle" and agents.parameter("wall") == 2
    agents.log("success", 1)
    assert agents.lessons["wall"]["index"] == 2
    drawn = [agents.parameter("wall") for _ in range(8)]
    assert all(3 <= value < 4 for value in drawn) and len(set(drawn)) == 8
    again = hearth.Agents(package, 2, curriculum=LESSONS)
    for _ in range(2):
        again.log("success", 1)  # measured in another lesson
    assert again.lessons["wall"]["lesson"] == "low"


def test_what_is_wrong_is_named(package):
    with pytest.raises(hearth.HearthError, match="unknown key 'parameters'"):
        hearth.Agents(package, 2, curriculum={"parameters": {}})
    with pytest.raises(hearth.HearthError, match="no parameter 'wind'; there are 'gravity', 'wall'"):
        hearth.Agents(package, 2, curriculum=LESSONS).parameter("wind")


gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")


class Corridor(gymnasium.Env):
    """The goal is `distance` steps to the right; each step moves, and only the goal is rewarded."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self):
        self.distances = []

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left = self.distance = int((options or {}).get("distance", 12))
        self.distances.append(self.distance)
        self.age = 0
        return self._seen(), {}

    def step(self, action):
        self.left += -1 if action == 1 else 1
        self.age += 1
        done = self.left == 0
        return self._seen(), float(done), done, self.age >= 16, {}

    def _seen(self):
        return np.array([self.left / 32, self.distance / 32], np.float32)


NEAR_FIRST = {"environment_parameters": {"distance": {"curriculum": [
    {"name": "near", "value": 2, "completion_criteria": {"min_lesson_length": 20, "threshold": 0.8}},
    {"name": "far", "value": 12}]}}}


def make(curriculum, envs=None):
    envs = [] if envs is None else envs

    def one():
        envs.append(Corridor())
        return envs[-1]
    return hearth.PPO(one, n_envs=4, seed=1, n_steps=16, batch_size=32, curriculum=curriculum)


def test_environments_get_the_parameters_of_their_lesson():
    envs = []
    model = make(NEAR_FIRST, envs)
    model.learn(6_000)
    lesson = model.agents.lessons["distance"]
    assert lesson["lesson"] == "far" and model.metrics()["lesson/distance"] == 1
    for env in envs:
        own = env.distances[1:]  # the first reset finds out what an environment is like
        assert set(own) == {2, 12} and own == sorted(own)


def test_checkpoints_go_on_in_their_lesson_to_the_bit(tmp_path):
    whole, begun = make(NEAR_FIRST), make(NEAR_FIRST)
    whole.learn(2_048)
    begun.learn(1_024)
    begun.save(tmp_path / "half.zip", exact=True)
    resumed = hearth.PPO.load(tmp_path / "half.zip", lambda: Corridor(), n_envs=4)
    resumed.learn(1_024, reset_num_timesteps=False)
    assert resumed.agents.lessons == whole.agents.lessons
    assert resumed.brain() == whole.brain()


def make_vector(envs=None, mode=gymnasium.vector.AutoresetMode.DISABLED):
    envs = [] if envs is None else envs

    def one():
        envs.append(Corridor())
        return envs[-1]
    return gymnasium.vector.SyncVectorEnv([one] * 4, autoreset_mode=mode)


def vector_model(envs=None):
    return hearth.PPO(make_vector(envs), seed=1, n_steps=16, batch_size=32, curriculum=NEAR_FIRST)


def test_a_vector_env_passes_parameters_on():
    envs = []
    model = vector_model(envs)
    model.learn(6_000)
    assert model.agents.lessons["distance"]["lesson"] == "far"
    for env in envs[-4:]:
        own = env.distances[1:]  # the first reset finds out what an environment is like
        assert set(own) == {2, 12} and own == sorted(own)


def test_checkpoints_of_vector_envs_go_on_in_their_lesson_to_the_bit(tmp_path):
    whole, begun = vector_model(), vector_model()
    whole.learn(2_048)
    begun.learn(1_024)
    begun.save(tmp_path / "half.zip", exact=True)
    resumed = hearth.PPO.load(tmp_path / "half.zip", make_vector())
    resumed.learn(1_024, reset_num_timesteps=False)
    assert resumed.agents.lessons == whole.agents.lessons
    assert resumed.brain() == whole.brain()


@pytest.mark.parametrize("mode", ["NEXT_STEP", "SAME_STEP"])
def test_vector_envs_that_reset_themselves_are_refused(mode):
    with pytest.raises(hearth.HearthError, match="curriculum: this VectorEnv resets ended episodes itself.*DISABLED"):
        hearth.PPO(make_vector(mode=gymnasium.vector.AutoresetMode[mode]), n_steps=16, batch_size=32,
                   curriculum=NEAR_FIRST)
