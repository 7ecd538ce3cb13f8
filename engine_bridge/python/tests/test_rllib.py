# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The example for Ray RLlib, on a local cluster."""

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("gymnasium", reason="needs the package gymnasium")
pytest.importorskip("torch", reason="needs the package torch")
ray = pytest.importorskip("ray", reason="needs the package ray[rllib]")
pytest.importorskip("ray.rllib", reason="needs the package ray[rllib]", exc_type=ImportError)

EXAMPLE = Path(__file__).parents[1] / "examples" / "rllib_train.py"


def test_two_workers_train_a_game():
    spec = importlib.util.spec_from_file_location("rllib_train", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    try:
        algorithm = example.make_algorithm("CartPole", 2)
        returns = [example.mean_return(algorithm.train()) for _ in range(6)]
        algorithm.stop()
    finally:
        ray.shutdown()
    assert returns[-1] > 2 * returns[0] > 20  # by chance a pole stands for about twenty steps
