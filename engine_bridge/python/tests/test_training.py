# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stable-Baselines3 trains through an environment; its policy becomes a brain that acts and continues to learn."""

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the package torch")
sb3 = pytest.importorskip("stable_baselines3", reason="needs the package stable-baselines3")
pytest.importorskip("gymnasium", reason="needs the package gymnasium")
from stable_baselines3.common.callbacks import BaseCallback  # noqa: E402
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor  # noqa: E402

import hearth  # noqa: E402
from hearth import checkpoints  # noqa: E402
from hearth import env as henv  # noqa: E402

WORLDS = 8


class StopWhenLearned(BaseCallback):
    """Ends training once the last 20 episodes have this mean return."""

    def __init__(self, threshold):
        super().__init__()
        self.threshold = threshold

    def _on_step(self):
        last = [e["r"] for e in self.model.ep_info_buffer]
        return len(last) < 20 or np.mean(last[-20:]) < self.threshold


def test_stable_baselines3_trains_cart_pole_and_its_brain_continues_to_learn(tmp_path):
    torch.set_num_threads(1)
    envs = VecMonitor(DummyVecEnv([lambda: henv.make("CartPole")] * WORLDS))
    # Hyperparameters of RL Baselines3 Zoo for the task.
    model = sb3.PPO("MlpPolicy", envs, n_steps=32, batch_size=256, n_epochs=20, gamma=0.98, gae_lambda=0.8,
                    ent_coef=0.0, learning_rate=lambda left: 1e-3 * left, clip_range=lambda left: 0.2 * left, seed=1,
                    device="cpu")
    model.learn(100_000, callback=StopWhenLearned(450))
    assert np.mean([e["r"] for e in model.ep_info_buffer][-20:]) >= 450
    model.save(tmp_path / "cart_pole.zip")

    task = henv.find("CartPole")
    checkpoint = checkpoints.load(tmp_path / "cart_pole.zip", actions=task.actions)
    package = checkpoint.cook(n_agents=WORLDS, learner={"n_steps": 32, "n_minibatches": 1, "n_epochs": 20,
                                                        "gamma": 0.98, "gae_lambda": 0.8, "ent_coef": 0.0,
                                                        "learning_rate": 2e-5, "target_kl": 0.02})
    brain = checkpoint.brain(package)
    assert checkpoint.verify(package, brain) <= 1e-5

    # Both act in the same episode: equal actions throughout.
    env = henv.make("CartPole")
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        for episode in range(2):
            seen, _ = env.reset(seed=1000 + episode)
            terminated = truncated = False
            while not (terminated or truncated):
                action = int(ours.run("act", observation=seen[None], exploration=0.0)["action"][0, 0])
                assert action == model.predict(seen, deterministic=True)[0]
                seen, _, terminated, truncated, _ = env.step(action)

    with hearth.Agents(package, WORLDS) as agents:
        agents.load_brain(brain)
        worlds = henv.Worlds(task, WORLDS)
        played = henv.play(agents, worlds, 500, seed=7, exploration=0.0)
        assert np.mean(played.returns) > 400
        before = agents.status["gradient_steps"]
        learned = henv.play(agents, worlds, 1500, seed=8, learning_budget_us=1e6)
        assert agents.status["gradient_steps"] > before + 100
        # Further training does not break the policy, whose samples still explore. At a learning
        # rate of 2e-4 it might: all episodes are full, so advantages are noise. Means of four seeds
        # were 150 to 444, of Stable-Baselines3 itself 148 to 438.
        assert np.mean(learned.returns) > 200
        back = agents.save_brain()
    returned = checkpoint.export(package, back)
    assert any(not np.array_equal(returned[name], value) for name, value in checkpoint.state.items())
    checkpoint.save(tmp_path / "back.zip", returned)
    again = sb3.PPO.load(tmp_path / "back.zip", device="cpu")
    with hearth.Model(package) as ours:
        ours.load_brain(back)
        seen = np.random.default_rng(0).normal(size=(WORLDS, 4)).astype(np.float32)
        our_head = ours.run("policy", observation=seen)["logits_and_means"]
        with torch.no_grad():
            logits = again.policy.get_distribution(torch.from_numpy(seen)).distribution.logits.numpy()
    assert np.abs(our_head - np.log(np.exp(our_head).sum(1, keepdims=True)) - logits).max() <= 1e-5


def write_safetensors(path, tensors):
    """The format of huggingface/safetensors: a length, a JSON header, the bytes."""
    header, data = {}, b""
    for name, value in tensors.items():
        value = np.ascontiguousarray(value, np.float32)
        header[name] = {"dtype": "F32", "shape": list(value.shape),
                        "data_offsets": [len(data), len(data) + value.nbytes]}
        data += value.tobytes()
    head = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(head)) + head + data)


def test_stable_baselines3_trains_hatchlings_whose_brain_continues_to_learn_in_the_game(tmp_path):
    torch.set_num_threads(1)
    task = henv.find("Hatchlings")
    envs = DummyVecEnv([lambda: henv.make("Hatchlings")] * 16)
    model = sb3.PPO("MlpPolicy", envs, n_steps=64, batch_size=256, n_epochs=4, gamma=0.97, learning_rate=1e-3, seed=1,
                    device="cpu")
    model.learn(16 * 64 * 48)  # rollouts: after 12 it forages, but loses half of it to exploration
                               # in the game
    seen, rewards = envs.reset(), 0.0
    for _ in range(300):
        seen, reward, _, _ = envs.step(model.predict(seen, deterministic=True)[0])
        rewards += reward.sum()
    assert rewards / 16 / 300 * 900 > 20  # per minute; untrained ones find one or two
    model.save(tmp_path / "hatchlings.zip")

    checkpoint = checkpoints.load(tmp_path / "hatchlings.zip", actions=task.actions)
    package = checkpoint.cook(n_agents=16)
    brain = checkpoint.brain(package)
    assert checkpoint.verify(package, brain) <= 1e-5

    # The game's own network has these names and shapes.
    game = Path(os.environ.get("HEARTH_LIBRARY", "")).parents[1] / "bin" / "hatchlings"
    if not game.exists():
        pytest.skip(f"needs {game}, built with the demos")
    with hearth.Model(package) as ours:
        ours.load_brain(brain)
        names = [f"{net}.{layer}.{part}" for net in ("actor", "critic") for layer in ("0", "1", "head")
                 for part in ("weight", "bias")] + ["actor.log_std"]
        write_safetensors(tmp_path / "weights.safetensors", {name: ours.read(name) for name in names})
    subprocess.run([game, "--headless", "--turbo", "--draw-every", "100000", "--frames", "1800", "--weights",
                    tmp_path / "weights.safetensors", "--screenshots", tmp_path, "--out", tmp_path / "log.jsonl"],
                   check=True, capture_output=True)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    bars = [line["embers"] for line in lines if "embers" in line]
    # With exploration, and with other rules of learning; untrained ones find two to four.
    assert len(bars) == 2 and min(bars) > 15, lines
    assert max(line.get("learn_steps", 0) for line in lines) > 50
