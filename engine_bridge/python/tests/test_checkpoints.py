# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Checkpoints of Stable-Baselines3 and CleanRL: imported, compared with torch, exported back."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the package torch")
from torch import nn  # noqa: E402

import hearth  # noqa: E402
from hearth import checkpoints  # noqa: E402

PASSES = 1000


def perturbed(module):
    """Returns the module with larger weights, like those of a trained policy."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in module.parameters():
            p += 0.1 * torch.randn(p.shape, generator=generator)
    return module


def observations(size, batch_size=PASSES):
    return np.random.default_rng(3).normal(size=(batch_size, size)).astype(np.float32)


def brain_of(checkpoint, n_agents=50):
    package = checkpoint.cook(n_agents=n_agents)
    brain = checkpoint.brain(package)
    assert checkpoint.verify(package, brain, passes=PASSES) <= 1e-5
    return package, brain


def run_in_batches(model, entry, seen, **inputs):
    size = model.max_batch_size
    results = [model.run(entry, observation=seen[i:i + size], **inputs) for i in range(0, len(seen), size)]
    return {name: np.concatenate([r[name] for r in results]) for name in results[0] if results[0][name].ndim}


def is_exported_unchanged(checkpoint, package, brain):
    back = checkpoint.export(package, brain)
    assert set(back) == set(checkpoint.state)
    for name, value in checkpoint.state.items():
        assert np.allclose(back[name], value, rtol=0, atol=1e-6), name


# --- Stable-Baselines3 ---

def sb3_policy(algorithm, name, task, **arguments):
    sb3 = pytest.importorskip(algorithm, reason=f"needs the package {algorithm}")
    model = getattr(sb3, name)(arguments.pop("policy", "MlpPolicy"), task, device="cpu", seed=0, **arguments)
    perturbed(model.policy)
    return model


@pytest.mark.parametrize("algorithm", ["PPO", "A2C"])
def test_sb3_mlp_acts_identically(algorithm, tmp_path):
    model = sb3_policy("stable_baselines3", algorithm, "CartPole-v1")
    model.save(tmp_path / "model.zip")
    checkpoint = checkpoints.load(tmp_path / "model.zip")
    package, brain = brain_of(checkpoint)
    seen = observations(4)
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        outputs, acts = run_in_batches(ours, "policy", seen), run_in_batches(ours, "act", seen, exploration=0.0)
    with torch.no_grad():
        distribution = model.policy.get_distribution(torch.from_numpy(seen)).distribution
        values = model.policy.predict_values(torch.from_numpy(seen))[:, 0].numpy()
    logits = outputs["logits_and_means"] - np.log(np.exp(outputs["logits_and_means"]).sum(1, keepdims=True))
    assert np.abs(logits - distribution.logits.numpy()).max() <= 1e-5
    assert np.abs(outputs["value"] - values).max() <= 1e-5
    assert np.array_equal(acts["action"][:, 0], model.predict(seen, deterministic=True)[0])
    is_exported_unchanged(checkpoint, package, brain)


def test_sb3_continuous_actions_in_the_games_units_act_identically(tmp_path):
    model = sb3_policy("stable_baselines3", "PPO", "Pendulum-v1",
                       policy_kwargs={"activation_fn": nn.ReLU, "net_arch": [32, 16]})
    model.save(tmp_path / "model.zip")
    torque = [{"name": "torque", "kind": "continuous", "size": 1, "low": -2, "high": 2}]
    checkpoint = checkpoints.load(tmp_path / "model.zip", actions=torque)
    assert checkpoint.network == {"kind": "mlp", "hidden_sizes": [32, 16], "activation": "relu"}
    package, brain = brain_of(checkpoint)
    seen = observations(3)
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        acts = run_in_batches(ours, "act", seen, exploration=0.0)["action"]
        std = np.exp(ours.read("actor.log_std")) * 2
    theirs, _ = model.predict(seen, deterministic=True)
    assert np.abs(acts - theirs).max() <= 1e-5
    assert std == pytest.approx(model.policy.log_std.exp().detach().numpy(), rel=1e-6)
    is_exported_unchanged(checkpoint, package, brain)


def test_sb3_dqn_chooses_identically(tmp_path):
    model = sb3_policy("stable_baselines3", "DQN", "CartPole-v1", buffer_size=100)
    model.save(tmp_path / "model.zip")
    checkpoint = checkpoints.load(tmp_path / "model.zip")
    package, brain = brain_of(checkpoint)
    seen = observations(4)
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        values = run_in_batches(ours, "policy", seen)["q_values"]
        acts = run_in_batches(ours, "act", seen, exploration=0.0)["action"][:, 0]
        target = ours.read("target.q.0.weight")
    with torch.no_grad():
        assert np.abs(values - model.q_net(torch.from_numpy(seen)).numpy()).max() <= 1e-5
    assert np.array_equal(acts, model.predict(seen, deterministic=True)[0])
    assert np.array_equal(target, model.q_net_target.q_net[0].weight.detach().numpy())
    is_exported_unchanged(checkpoint, package, brain)


def test_sb3_recurrent_policy_acts_identically_through_an_episode(tmp_path):
    model = sb3_policy("sb3_contrib", "RecurrentPPO", "CartPole-v1", policy="MlpLstmPolicy",
                       policy_kwargs={"lstm_hidden_size": 32, "net_arch": [16]})
    model.save(tmp_path / "model.zip")
    checkpoint = checkpoints.load(tmp_path / "model.zip")
    assert checkpoint.network["kind"] == "lstm" and checkpoint.network["after"] == [16]
    package, brain = brain_of(checkpoint)
    seen = observations(4)
    state, recurrent_state = None, np.zeros((1, 128), np.float32)
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        for i in range(PASSES):
            row = seen[i:i + 1]
            start = np.array([i % 200 == 0])
            if start[0]:
                state, recurrent_state = None, np.zeros((1, 128), np.float32)
            theirs, state = model.predict(row, state=state, episode_start=start, deterministic=True)
            result = ours.run("policy", observation=row, recurrent_state=recurrent_state)
            recurrent_state = result["next_recurrent_state"]
            assert np.abs(recurrent_state[:, :32] - state[0][0]).max() <= 1e-5
            assert result["logits_and_means"].argmax() == theirs[0]
    is_exported_unchanged(checkpoint, package, brain)


# --- CleanRL: its scripts' agents, as the scripts save them ---

class CleanRlPpo(nn.Module):
    def __init__(self, observation_size, n_actions):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(observation_size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                                    nn.Linear(64, 1))
        self.actor = nn.Sequential(nn.Linear(observation_size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                                   nn.Linear(64, n_actions))


class CleanRlContinuous(nn.Module):
    def __init__(self, observation_size, action_size):
        super().__init__()
        self.critic = nn.Sequential(nn.Linear(observation_size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                                    nn.Linear(64, 1))
        self.actor_mean = nn.Sequential(nn.Linear(observation_size, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                                        nn.Linear(64, action_size))
        self.actor_logstd = nn.Parameter(torch.zeros(1, action_size))


class CleanRlDqn(nn.Module):
    def __init__(self, observation_size, n_actions):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(observation_size, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                                     nn.Linear(84, n_actions))


class CleanRlLstm(nn.Module):
    def __init__(self, observation_size, n_actions):
        super().__init__()
        self.network = nn.Sequential(nn.Linear(observation_size, 48), nn.ReLU())
        self.lstm = nn.LSTM(48, 32)
        self.actor = nn.Linear(32, n_actions)
        self.critic = nn.Linear(32, 1)


def saved(agent, folder):
    torch.save(agent.state_dict(), folder / "agent.cleanrl_model")
    return folder / "agent.cleanrl_model"


@pytest.mark.parametrize("kind", ["discrete", "continuous", "dqn"])
def test_cleanrl_agent_computes_the_same(kind, tmp_path):
    agent = perturbed({"discrete": CleanRlPpo, "continuous": CleanRlContinuous, "dqn": CleanRlDqn}[kind](6, 3))
    checkpoint = checkpoints.load(saved(agent, tmp_path))
    package, brain = brain_of(checkpoint)
    net = {"discrete": "actor", "continuous": "actor_mean", "dqn": "network"}[kind]
    head = "q_values" if kind == "dqn" else "logits_and_means"
    seen = observations(6)
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        outputs = run_in_batches(ours, "policy", seen)
    with torch.no_grad():
        assert np.abs(outputs[head] - getattr(agent, net)(torch.from_numpy(seen)).numpy()).max() <= 1e-5
        if kind != "dqn":
            assert np.abs(outputs["value"] - agent.critic(torch.from_numpy(seen))[:, 0].numpy()).max() <= 1e-5
    is_exported_unchanged(checkpoint, package, brain)


def test_cleanrl_lstm_computes_the_same_step_by_step(tmp_path):
    agent = perturbed(CleanRlLstm(5, 4))
    checkpoint = checkpoints.load(saved(agent, tmp_path), activation="relu")
    package, brain = brain_of(checkpoint)
    seen = observations(5)
    state = (torch.zeros(1, 1, 32), torch.zeros(1, 1, 32))
    recurrent_state = np.zeros((1, 128), np.float32)
    with hearth.Model(package) as ours, torch.no_grad():
        ours.load_brain(brain)
        for i in range(PASSES):
            hidden, state = agent.lstm(agent.network(torch.from_numpy(seen[i:i + 1]))[None], state)
            result = ours.run("policy", observation=seen[i:i + 1], recurrent_state=recurrent_state)
            recurrent_state = result["next_recurrent_state"]
            assert np.abs(result["logits_and_means"] - agent.actor(hidden[0]).numpy()).max() <= 1e-5
            assert abs(result["value"][0] - agent.critic(hidden[0])[0, 0].item()) <= 1e-5
    is_exported_unchanged(checkpoint, package, brain)


# --- Unsupported checkpoints ---

def test_errors_name_what_was_found():
    with pytest.raises(hearth.HearthError, match="policies with image observations"):
        checkpoints.from_state("cleanrl", {"network.0.weight": np.zeros((8, 4, 3, 3))})
    with pytest.raises(hearth.HearthError, match="its tensors are body.weight"):
        checkpoints.from_state("cleanrl", {"body.weight": np.zeros((2, 2))})
    state = CleanRlPpo(4, 2).state_dict()
    with pytest.raises(hearth.HearthError, match="the actions take 3 outputs, but 'actor.4' has 2"):
        checkpoints.from_state("cleanrl", state, actions=[{"name": "a", "kind": "discrete", "n": 3}])
    narrow = {name: value for name, value in state.items() if not name.startswith("critic")}
    narrow.update({name.replace("actor", "critic"): torch.zeros(7, 4) if name == "actor.0.weight" else value
                   for name, value in narrow.items()})
    with pytest.raises(hearth.HearthError, match="actor and critic differ"):
        checkpoints.from_state("cleanrl", narrow)


def test_verification_fails_for_another_brain():
    checkpoint = checkpoints.from_state("cleanrl", perturbed(CleanRlPpo(4, 2)).state_dict())
    package = checkpoint.cook()
    other = checkpoints.from_state("cleanrl", CleanRlPpo(4, 2).state_dict()).brain(package)
    with pytest.raises(hearth.HearthError, match="1000 forward passes differ"):
        checkpoint.verify(package, other)
