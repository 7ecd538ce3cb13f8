# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Online regression."""

import numpy as np
import pytest

import hearth


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device


def test_a_function_is_learned_from_samples_and_learned_again_when_it_changes(device):
    package = hearth.cook_regression(input_size=2, output_size=2, max_batch_size=64, device=device, buffer_size=1000,
                                     batch_size=64, learning_starts=200, learning_rate=1e-2, seed=1)
    r = hearth.Regression(package, device)
    random = np.random.default_rng(0)

    def samples(sign, n):
        x = random.uniform(-1, 1, (n, 2))
        return x, np.stack([x[:, 0] * x[:, 1], sign * x[:, 0]], 1)

    x, y = samples(1, 150)
    r.add(x, y)
    before = r.predict(x)
    r.learn(5)
    assert np.array_equal(r.predict(x), before)  # too few samples
    r.add(*samples(1, 850))
    r.learn(400)
    x, y = samples(1, 200)
    assert np.abs(r.predict(x) - y).max() < 0.1
    brain = r.save_brain()
    r.add(*samples(-1, 1000))  # replaces all that was stored
    r.learn(400)
    x, y = samples(-1, 200)
    assert np.abs(r.predict(x) - y).max() < 0.1
    r.load_brain(brain)
    x, y = samples(1, 200)
    assert np.abs(r.predict(x) - y).max() < 0.1
    r.close()


def test_errors_of_regression_name_what_was_expected(device):
    with pytest.raises(hearth.HearthError, match="has recurrent state; expected one without"):
        hearth.cook_regression(input_size=2, network={"kind": "gru"}, device=device)
    with pytest.raises(hearth.HearthError, match="learningrate"):
        hearth.cook_regression(input_size=2, learningrate=1, device=device)
