# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""What was trained in Python goes into a game, and what has learned there comes back; networks of images."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")
from gymnasium import spaces  # noqa: E402

import hearth  # noqa: E402
from hearth import checkpoints  # noqa: E402

TASKS = {"ppo": ("CartPole-v1", {"n_steps": 64}), "dqn": ("CartPole-v1", {"buffer_size": 500}),
         "sac": ("Pendulum-v1", {"buffer_size": 500, "network": {"kind": "mlp", "hidden_sizes": [16, 16],
                                                                 "activation": "relu"}})}


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device


@pytest.mark.parametrize("kind", ["ppo", "dqn", "sac"])
def test_a_trained_policy_acts_in_a_game_without_a_brain_and_comes_back(kind, device, tmp_path):
    task, settings = TASKS[kind]
    model = hearth.learn(task, kind, steps=300, seed=1, device=device, **settings)
    seen = np.random.default_rng(0).normal(size=(6, model._observation.size)).astype(np.float32)
    expected = np.array([model._action.encode(model.predict(o, deterministic=True)[0]) for o in seen])
    model.export(tmp_path / "guard.hearth", n_agents=6)
    with hearth.Agents(tmp_path / "guard.hearth", 6, device) as guards:
        # The CPU's kernels and those of another batch size round differently.
        assert np.allclose(guards.decide(seen, exploration=0.0), expected, atol=1e-5)
        for _ in range(300):  # they learn on in the game
            guards.decide(seen, rewards=np.arange(6), learning_budget_us=np.inf)
        brain = guards.save_brain()
        after = guards.decide(seen, exploration=0.0, learning_budget_us=0)
        guards.export(tmp_path / "again.hearth")
    model.load_brain(brain)
    back = np.array([model._action.encode(model.predict(o, deterministic=True)[0]) for o in seen])
    assert np.allclose(back, after, atol=1e-5)
    with hearth.Agents(tmp_path / "again.hearth", 6, device) as guards:
        assert np.allclose(guards.decide(seen, exploration=0.0), after, atol=1e-5)
    model.learn(100, reset_num_timesteps=False)
    model.close()


def test_weights_for_shipping_become_a_packages_own(device):
    """save_weights holds the copies that act, under names of their own."""
    model = hearth.DQN("CartPole-v1", device=device, seed=1, buffer_size=500).learn(300)
    weights = model.agents.save_weights()
    package = hearth.cook_package(model._package, device=device, weights=weights)
    with hearth.Model(package, device) as own:
        assert np.array_equal(own.read("q.0.weight"), model.agents.read("published.param.q.0.weight"))
        assert np.array_equal(own.read("published.param.q.0.weight"), own.read("q.0.weight"))
    with hearth.Model(model._package, device) as initial:
        assert not np.array_equal(initial.read("q.0.weight"), model.agents.read("published.param.q.0.weight"))
    other = hearth.PPO("Acrobot-v1", device=device, seed=1, n_steps=64)
    with pytest.raises(hearth.HearthError, match="no param of the package"):
        hearth.cook_package(other._package, device=device, weights=weights)
    wider = hearth.DQN("CartPole-v1", device=device, buffer_size=500, network={"kind": "mlp", "hidden_sizes": [8]})
    with pytest.raises(hearth.HearthError, match=r"'q.0.weight' is f32 \[64, 4\], the package's f32 \[8, 4\]"):
        hearth.cook_package(wider._package, device=device, weights=weights)
    for each in (model, other, wider):
        each.close()


class Dot(gymnasium.Env):
    """An image with one bright pixel; the action names its quadrant."""

    SIZE = 6

    def __init__(self, channels_first=False):
        shape = (2, self.SIZE, self.SIZE) if channels_first else (self.SIZE, self.SIZE, 2)
        self._channels_first = channels_first
        self.observation_space = spaces.Box(0, 255, shape, np.uint8)
        self.action_space = spaces.Discrete(4)

    def _seen(self):
        image = np.zeros((self.SIZE, self.SIZE, 2), np.uint8)
        self._quadrant = int(self.np_random.integers(4))
        y, x = self.np_random.integers(self.SIZE // 2, size=2)
        image[self._quadrant // 2 * self.SIZE // 2 + y, self._quadrant % 2 * self.SIZE // 2 + x, 0] = 255
        return image.transpose(2, 0, 1) if self._channels_first else image

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._t = 0
        return self._seen(), {}

    def step(self, action):
        reward = float(action == self._quadrant)
        self._t += 1
        return self._seen(), reward, self._t == 10, False, {}


NETWORK = {"kind": "cnn", "convolutions": [{"channels": 4, "kernel_size": 3}, {"channels": 5, "kernel_size": 2,
                                                                             "stride": 2}], "hidden_sizes": [7]}


def convolved(x, weight, bias, stride):
    """x: [channels, height, width], by the definition."""
    k = weight.shape[-1]
    size = (x.shape[1] - k) // stride + 1
    out = np.zeros((len(weight), size, size))
    for i in range(size):
        for j in range(size):
            window = x[:, i * stride:i * stride + k, j * stride:j * stride + k]
            out[:, i, j] = (weight * window).sum((1, 2, 3)) + bias
    return np.maximum(out, 0)


@pytest.mark.parametrize("channels_first", [False, True])
def test_a_convolutional_network_computes_its_definition(channels_first, device):
    env = Dot(channels_first)
    model = hearth.DQN(env, device=device, seed=3, network=NETWORK, buffer_size=200)
    assert model.network["channels_last"] != channels_first
    env.reset(seed=5)
    image = env._seen()
    with hearth.Model(model._package, device) as own:
        floats = np.empty((1, model._observation.size), np.float32)
        model._observation.encode(image, floats[0])
        found = own.run("policy", observation=floats)["q_values"][0]
        p = {name: own.read(name).astype(float) for name, v in own.variables.items() if v.kind == "param"}
    x = (image if channels_first else image.transpose(2, 0, 1)) / 255.0
    x = convolved(x, p["q.0.weight"], p["q.0.bias"], 1)
    x = convolved(x, p["q.1.weight"], p["q.1.bias"], 2)
    x = np.maximum(p["q.2.weight"] @ x.reshape(-1) + p["q.2.bias"], 0)
    expected = p["q.choices.action.weight"] @ x + p["q.choices.action.bias"]
    assert np.abs(found - expected).max() < 1e-5
    model.close()


def test_images_are_learned_with_convolutions(device):
    model = hearth.learn(Dot, "dqn", steps=4000, seed=0, device=device, network="minatar_cnn", buffer_size=4000,
                         learning_rate=1e-3, learning_starts=400, gamma=0.5, target_update_interval=400)
    assert hearth.evaluate_policy(model, Dot(), 20)[0] > 9  # of 10; 2.5 by chance
    model.close()


def test_errors_of_convolutional_networks_name_what_was_expected(device):
    with pytest.raises(hearth.HearthError, match="needs a Box of three extents as observation, found extents"):
        hearth.PPO("CartPole-v1", device=device, network="nature_cnn")
    with pytest.raises(hearth.HearthError, match="network is 'cnn', expected a dictionary, or one of nature_cnn"):
        hearth.PPO(Dot(), device=device, network="cnn")
    with pytest.raises(hearth.HearthError, match="shape: expected the three extents .* has 72 floats; found 3"):
        hearth.PPO(Dot(), device=device, network={**NETWORK, "shape": [6, 6, 3]})


def test_a_checkpoint_prints_as_one_line():
    state = {"mlp_extractor.policy_net.0.weight": np.zeros((64, 4)), "action_net.weight": np.zeros((2, 64))}
    checkpoint = checkpoints.Checkpoint(
        "stable-baselines3", "ppo", [{"name": "observation", "kind": "box", "size": 4}],
        [{"name": "action", "kind": "discrete", "n": 2}], {"kind": "mlp", "hidden_sizes": [64]}, state)
    assert str(checkpoint) == ("<PPO of stable-baselines3: 4 observations, action (discrete 2), "
                               "mlp {'hidden_sizes': [64]}, 384 weights>")
