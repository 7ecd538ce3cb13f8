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
