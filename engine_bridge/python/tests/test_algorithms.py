# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PPO, DQN and SAC over environments of Gymnasium: learning, acting, files, logs."""

import csv
import inspect
import io
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import zipfile

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="needs the package gymnasium")

import hearth  # noqa: E402
from hearth import _hyperparameters as hyper  # noqa: E402
from hearth._logs import ProgressBar  # noqa: E402

#: Small enough that a run takes a second.
SMALL = {"ppo": {"n_steps": 64, "batch_size": 32, "n_epochs": 2},
         "dqn": {"buffer_size": 500, "learning_starts": 100, "learning_rate": 1e-3},
         "sac": {"buffer_size": 300, "network": {"kind": "mlp", "hidden_sizes": [8, 8], "activation": "relu",
                                                 "init": "pytorch_default"}}}
TASKS = {"ppo": "CartPole-v1", "dqn": "CartPole-v1", "sac": "Pendulum-v1"}


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device


def test_cart_pole_is_learned_in_three_lines():
    model = hearth.learn("CartPole-v1", "ppo", steps=60_000, seed=0, n_envs=8, n_steps=32, batch_size=256, n_epochs=20,
                         gamma=0.98, gae_lambda=0.8, learning_rate=lambda left: 1e-3 * left,
                         clip_range=lambda left: 0.2 * left)
    assert np.mean(model.episode_returns[-20:]) >= 475
    assert hearth.evaluate_policy(model, "CartPole-v1", n_eval_episodes=20)[0] >= 475
    model.close()


def test_curiosity_finds_a_goal_that_chance_does_not():
    def grid():
        return gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False)

    def goes_on(model):
        return len(model.episode_returns) < 20 or np.mean(model.episode_returns[-20:]) < 0.9

    # Without, this seed has found nothing after 200,000 steps.
    model = hearth.PPO(grid, n_envs=8, n_steps=128, batch_size=256, ent_coef=0.05, rnd_coef=0.5, seed=2)
    model.learn(70_000, goes_on)
    assert model.num_timesteps < 70_000
    model.close()


RUN = """
import sys, gymnasium, hearth
kind, task, checkpoint, settings, mode = sys.argv[1], sys.argv[2], sys.argv[3], eval(sys.argv[4]), sys.argv[5]
def report(model):
    print(model.num_timesteps, flush=True)
env = task if not mode else gymnasium.make_vec(
    task, 2, vectorization_mode="sync", vector_kwargs={"autoreset_mode": gymnasium.vector.AutoresetMode[mode]})
model = hearth.learn(env, kind, steps=1000, seed=5, checkpoint=checkpoint, checkpoint_freq=150, resume=True,
                     callback=report, log=checkpoint + ".log", eval_env=task, eval_freq=200, n_eval_episodes=2,
                     **settings)
open(checkpoint + ".brain", "wb").write(model.brain())
open(checkpoint + ".game", "wb").write(model.agents.save_game())
"""


@pytest.mark.parametrize(("kind", "vector"), [
    ("dqn", ""), ("sac", ""), ("ppo", ""), ("dqn", "NEXT_STEP"), ("sac", "SAME_STEP"), ("ppo", "NEXT_STEP")])
def test_a_run_that_is_killed_ends_with_the_same_bytes(kind, vector, tmp_path):
    """vector: autoreset mode of a VectorEnv; "": one environment."""
    def start(name):
        return subprocess.Popen([sys.executable, "-c", RUN, kind, TASKS[kind], str(tmp_path / name),
                                 repr(SMALL[kind]), vector], stdout=subprocess.PIPE, text=True)

    whole = start("whole")
    whole.communicate(timeout=600)
    assert whole.returncode == 0
    killed = start("killed")
    for line in killed.stdout:
        if int(line) >= 500:  # beyond a checkpoint: what follows it is done again
            break
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL and not (tmp_path / "killed.brain").exists()
    resumed = start("killed")
    reported = resumed.communicate(timeout=600)[0].split()
    assert resumed.returncode == 0 and 151 <= int(reported[0]) <= 500
    for suffix in (".brain", ".game"):  # the saved game holds the replay buffer, or the rollout
        assert (tmp_path / ("killed" + suffix)).read_bytes() == (tmp_path / ("whole" + suffix)).read_bytes()
    tables = []
    for name in ("whole", "killed"):
        with open(tmp_path / (name + ".log") / "progress.csv", newline="") as file:
            tables.append([{k: v for k, v in row.items() if k != "time/fps"} for row in csv.DictReader(file)])
    assert tables[0] and tables[0] == tables[1]


def test_a_model_that_is_saved_and_loaded_acts_and_learns_on(device, tmp_path):
    model = hearth.DQN("CartPole-v1", device=device, seed=2, **SMALL["dqn"]).learn(300)
    model.save(tmp_path / "model.zip")
    loaded = hearth.DQN.load(tmp_path / "model.zip", device=device)
    seen = np.random.default_rng(0).normal(size=(20, 4)).astype(np.float32)
    assert np.array_equal(model.predict(seen, deterministic=True)[0], loaded.predict(seen, deterministic=True)[0])
    assert loaded.brain() == model.brain() and repr(loaded) == repr(model)
    with pytest.raises(hearth.HearthError, match="loaded without an environment: pass env"):
        loaded.learn(10)
    with pytest.raises(hearth.HearthError, match="a run that has begun, .*: call learn first"):
        loaded.save(tmp_path / "exact.zip", exact=True)
    assert not (tmp_path / "exact.zip").exists()
    again = hearth.DQN.load(tmp_path / "model.zip", "CartPole-v1", device=device).learn(200, reset_num_timesteps=False)
    assert again.num_timesteps == 500
    with pytest.raises(hearth.HearthError, match="is of DQN, format 1; expected PPO"):
        hearth.PPO.load(tmp_path / "model.zip")
    with pytest.raises(hearth.HearthError, match="is of agents"):
        hearth.DQN.load(tmp_path / "model.zip", "Acrobot-v1", device=device)
    for each in (model, loaded, again):
        each.close()


def test_a_resumed_run_has_the_settings_of_its_checkpoint(device, tmp_path):
    settings = {"device": device, "checkpoint": tmp_path / "run.zip", "resume": True, **SMALL["ppo"]}
    hearth.learn("CartPole-v1", "ppo", 64, gamma=0.9, **settings).close()
    with pytest.raises(hearth.HearthError, match="has gamma = 0.9, expected 0.95: train with its settings"):
        hearth.learn("CartPole-v1", "ppo", 128, gamma=0.95, **settings)
    with pytest.raises(hearth.HearthError, match=r"has network = .*'hidden_sizes': \[64, 64\].*, expected .*\[9\]"):
        hearth.learn("CartPole-v1", "ppo", 128, **{**settings, "network": {"kind": "mlp", "hidden_sizes": [9]}})
    with pytest.raises(hearth.HearthError, match="has seed = [0-9]+, expected 1"):
        hearth.learn("CartPole-v1", "ppo", 128, seed=1, **settings)
    with pytest.raises(hearth.HearthError, match="has no gama"):
        hearth.learn("CartPole-v1", "ppo", 128, gama=0.9, **settings)
    with pytest.raises(hearth.HearthError, match="is of agents"):
        hearth.learn("CartPole-v1", "ppo", 128, n_envs=2, **settings)


def test_damaged_checkpoints_are_named(device, tmp_path):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    model.save(tmp_path / "whole.zip")
    model.close()
    whole = (tmp_path / "whole.zip").read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xff
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("policy.pth", "")
    other = (tmp_path / "other.zip").read_bytes()
    for content in (b"", whole[:10], whole[:-1], whole[:len(whole) // 2], bytes(flipped), other):
        (tmp_path / "run.zip").write_bytes(content)
        with pytest.raises(hearth.HearthError, match="run.zip is damaged, or not a file of save: .*; train anew"):
            hearth.PPO.load(tmp_path / "run.zip", "CartPole-v1", device=device)


def test_a_run_of_a_vector_goes_on_in_single_environments(device, tmp_path):
    envs = gymnasium.make_vec("CartPole-v1", 2, vectorization_mode="sync")
    model = hearth.PPO(envs, device=device, seed=0, **SMALL["ppo"])
    model.learn(128, checkpoint=tmp_path / "run.zip")
    with pytest.warns(UserWarning, match="begin new episodes"):
        again = hearth.PPO.load(tmp_path / "run.zip", "CartPole-v1", device=device)
    assert again.learn(128, reset_num_timesteps=False).num_timesteps >= 256
    model.close(), again.close()


def test_steps_are_a_number(device):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    for steps in (-1, float("nan"), math.inf, "100", None):
        with pytest.raises(hearth.HearthError, match="total_timesteps is .*, expected a number of steps"):
            model.learn(steps)
    assert model.learn(0).num_timesteps == 0
    with pytest.raises(hearth.HearthError, match="n_eval_episodes is 0, expected at least 1"):
        hearth.evaluate_policy(model, "CartPole-v1", 0)
    with pytest.raises(hearth.HearthError, match="observes nan as element 3"):
        model.predict(np.array([0, 0, 0, np.nan]))
    model.close()


class Broken(gymnasium.Wrapper):
    """An environment that observes `value` from its third step on."""

    def __init__(self, value):
        super().__init__(gymnasium.make("CartPole-v1"))
        self._value, self._steps = value, 0

    def step(self, action):
        self._steps += 1
        observation, *rest = super().step(action)
        return (observation if self._steps < 3 else np.array(self._value, np.float32)), *rest


def test_observations_that_are_not_finite_or_of_another_shape_are_named(device):
    for value, message in [([0, np.nan, 0, 0], "agent 0 observes nan as element 1, expected finite numbers"),
                           ([0, 0, np.inf, 0], "agent 0 observes inf as element 2"),
                           ([0] * 5, r"observation has shape \[5\], expected \[4\]")]:
        model = hearth.PPO(Broken(value), device=device, seed=0, **SMALL["ppo"])
        with pytest.raises(hearth.HearthError, match=message):
            model.learn(64)
        model.close()


class Unseeded(gymnasium.Wrapper):
    """An environment whose episodes do not depend on its seed."""

    def reset(self, **arguments):
        return super().reset(seed=int.from_bytes(os.urandom(4), "big"))


def test_environments_that_cannot_be_played_again_begin_new_episodes(device, tmp_path):
    def make():
        return gymnasium.vector.SyncVectorEnv([lambda: Unseeded(gymnasium.make("CartPole-v1"))] * 2)
    envs = make()
    model = hearth.DQN(envs, device=device, seed=2, **SMALL["dqn"])
    model.learn(200, checkpoint=tmp_path / "run.zip")
    with pytest.warns(UserWarning, match="begin new episodes"):
        again = hearth.DQN.load(tmp_path / "run.zip", make(), device=device)
    again.learn(200, reset_num_timesteps=False)
    assert 400 <= again.num_timesteps <= 402
    assert int(again.agents.read("replay.size")) >= 398
    model.close(), again.close()


def test_predict_takes_one_observation_or_a_batch(device):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, n_envs=2, **SMALL["ppo"])
    seen = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    together, state = model.predict(seen, deterministic=True)
    assert together.shape == (5,) and together.dtype == np.int64 and state is None
    assert [model.predict(one, deterministic=True)[0] for one in seen] == together.tolist()
    sampled = [int(model.predict(seen[0])[0]) for _ in range(40)]
    assert set(sampled) == {0, 1}
    with pytest.raises(hearth.HearthError, match=r"shape \[3\], expected \[4\], or a batch"):
        model.predict(np.zeros(3))
    model.close()


def test_a_recurrent_policy_keeps_its_state_until_an_episode_begins(device):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, n_envs=2, network={"kind": "gru", "hidden_size": 8},
                       bptt_length=8, **SMALL["ppo"]).learn(256)
    policy_input = np.random.default_rng(0).normal(size=(2, 4)).astype(np.float32)

    def head(state, starts):
        # Actions are discrete, so the state is compared by what the entry leaves behind.
        actions, next_state = model.predict(policy_input, state, starts, deterministic=True)
        return model._policy_model.read("recurrent_state").copy(), next_state

    first, state = head(None, None)
    assert state is not None
    second, state = head(state, None)
    assert not np.array_equal(first, second)
    half, _ = head(state, [True, False])
    assert np.array_equal(half[0], first[0]) and not np.array_equal(half[1], first[1])
    model.close()


def test_dqn_never_acts_randomly_by_accident(device):
    model = hearth.DQN("CartPole-v1", device=device, seed=1, **SMALL["dqn"])
    rates = []
    model.learn(1000, callback=lambda m: rates.append(m.exploration_rate))
    # As Stable-Baselines3: from 1 to 0.05 over the first tenth.
    assert rates[0] > 0.9 and rates[49] == pytest.approx(0.525, abs=0.01) and rates[100:] == pytest.approx([0.05] * 900)
    seen = np.tile(np.array([0.1, 0.2, -0.05, 0.3], np.float32), (600, 1))
    actions = model.predict(seen)[0]
    rare = min(np.mean(actions == 0), np.mean(actions == 1))
    assert 0 < rare < 0.07  # half of the 5 % random ones
    # Agents of their own explore as little unless they are asked to.
    package = hearth.cook_agents([{"name": "x", "kind": "box", "size": 4}], [{"name": "a", "kind": "discrete", "n": 2}],
                                 n_agents=200, learner={"kind": "dqn", "learning_rate": 0.0}, device=device)
    with hearth.Agents(package, 200, device) as agents:
        chosen = np.concatenate([agents.decide(seen[:200])[:, 0] for _ in range(10)])
        assert 0 < min(np.mean(chosen == 0), np.mean(chosen == 1)) < 0.07
        chosen = np.concatenate([agents.decide(seen[:200], exploration=1.0)[:, 0] for _ in range(10)])
        assert min(np.mean(chosen == 0), np.mean(chosen == 1)) > 0.4
    model.close()


def test_gradient_steps_follow_samples_as_in_stable_baselines3(device):
    """train_freq counts steps of all environments; gradient_steps = -1 is as many as there were samples."""
    for settings, expected in [({"train_freq": 4, "gradient_steps": 2}, 2 * (400 - 100) // 8),
                               ({"train_freq": 2, "gradient_steps": -1}, 400 - 100)]:
        model = hearth.DQN("CartPole-v1", device=device, seed=1, n_envs=2, buffer_size=500, learning_starts=100,
                           **settings)
        model.learn(400)
        model.agents.decide(np.zeros((2, 4)))  # counters are those of the last decision
        assert abs(model.agents.status["gradient_steps"] - expected) <= 4
        assert model.agents.status["owed_gradient_steps"] == 0
        model.close()


def test_callbacks_evaluation_and_logs(device, tmp_path):
    calls = []
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    model.learn(256, [lambda m: calls.append(m.num_timesteps)], log=tmp_path / "log", eval_env="CartPole-v1",
                eval_freq=100, n_eval_episodes=3, best_model_path=tmp_path / "best.zip")
    assert calls == list(range(1, 257))
    with open(tmp_path / "log" / "progress.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    steps = [int(row["time/total_timesteps"]) for row in rows]
    assert steps == [64, 100, 128, 192, 200, 256]
    evaluated = [float(row["eval/mean_reward"]) for row in rows if row["eval/mean_reward"]]
    assert len(evaluated) == 2 and min(evaluated) > 5
    best = hearth.PPO.load(tmp_path / "best.zip", device=device)
    assert best.num_timesteps == (100 if evaluated[0] >= evaluated[1] else 200)
    assert hearth.evaluate_policy(best, "CartPole-v1", 3, seed=1_000_003)[0] == max(evaluated)
    names = {"rollout/ep_rew_mean", "train/policy_gradient_loss", "train/value_loss", "train/entropy_loss",
             "train/approx_kl", "train/clip_fraction", "train/explained_variance", "train/learning_rate", "time/fps"}
    assert names <= set(rows[0])
    lines = [json.loads(line) for line in (tmp_path / "log" / "run.jsonl").read_text().splitlines()]
    assert lines[0]["type"] == "run" and [line["at"] for line in lines[1:]] == steps
    model.learn(10**6, lambda m: m.num_timesteps < 10)
    assert model.num_timesteps == 10
    model.close(), best.close()


def test_hearth_watch_stops_a_run(device, tmp_path):
    def ask(model):  # as `hearth watch run.jsonl --control stop` does
        if model.num_timesteps == 100:
            (tmp_path / "run.jsonl.stop").touch()
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"]).learn(10**6, ask, log=tmp_path)
    assert model.num_timesteps == 128 and not (tmp_path / "run.jsonl.stop").exists()
    model.close()


def test_hearth_watch_pauses_a_run(device, tmp_path):
    pause = tmp_path / "run.jsonl.pause"
    waited = []

    def ask(model):  # as `hearth watch run.jsonl --control pause` does, and half a second later `resume`
        if model.num_timesteps == 100:
            pause.touch()
            threading.Timer(0.5, pause.unlink).start()
            waited.append(time.monotonic())
        if model.num_timesteps == 132:
            waited.append(time.monotonic())
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"]).learn(192, ask, log=tmp_path)
    assert waited[1] - waited[0] > 0.4 and model.num_timesteps == 192 and not pause.exists()
    assert json.loads((tmp_path / "run.jsonl").read_text().splitlines()[0])["listens"] == [
        "stop", "pause", "freeze"]
    model.close()


def test_hearth_watch_freezes_a_run(device, tmp_path):
    freeze = tmp_path / "run.jsonl.freeze"
    updates = {}

    def ask(model):  # as `hearth watch run.jsonl --control freeze` does, and `learn` later
        if model.num_timesteps == 100:
            freeze.touch()
        if model.num_timesteps == 2_000:
            freeze.unlink()
        updates[model.num_timesteps] = model.agents.status["gradient_steps"]
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"]).learn(4_096, ask, log=tmp_path)
    assert 0 < updates[300] == updates[1_900] < updates[max(updates)] and not model.is_frozen
    model.freeze()
    model.learn(64)  # an update that has begun is completed
    before = model.agents.status["gradient_steps"]
    model.learn(256)  # ends without a rollout
    assert model.num_timesteps == 256 and model.agents.status["gradient_steps"] == before
    model.close()


def test_two_runs_do_not_write_one_log(device, tmp_path):
    def begin_another(model):
        with pytest.raises(hearth.HearthError, match="another program is writing the run log"):
            other.learn(64, log=tmp_path)
    other = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"]).learn(4, begin_another, log=tmp_path)
    other.learn(64, log=tmp_path)  # the log is free again
    other.close(), model.close()


def test_tensorboard_reads_the_event_file(device, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator",
                                      reason="needs the package tensorboard")
    model = hearth.PPO("CartPole-v1", device=device, seed=0, tensorboard_log=tmp_path, **SMALL["ppo"]).learn(192)
    events = accumulator.EventAccumulator(str(tmp_path)).Reload()
    scalars = events.Scalars("train/learning_rate")
    assert [s.step for s in scalars] == [64, 128, 192] and scalars[0].value == pytest.approx(3e-4)
    model.close()


def test_event_files_are_records_with_checksums(tmp_path):
    """TFRecord: length, CRC-32C of the length, data, CRC-32C of the data; RFC 3720 has the check value."""
    from hearth._logs import TensorBoardLog, _masked_crc
    crc = (_masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFFFFFF
    assert (crc << 15 | crc >> 17) & 0xFFFFFFFF == 0xE3069283
    log = TensorBoardLog(tmp_path)
    log.write(300, {"a/b": 1.5})
    log.close()
    data, = (path.read_bytes() for path in tmp_path.iterdir())
    events = []
    while data:
        length = int.from_bytes(data[:8], "little")
        assert int.from_bytes(data[8:12], "little") == _masked_crc(data[:8])
        events.append(data[12:12 + length])
        assert int.from_bytes(data[12 + length:16 + length], "little") == _masked_crc(events[-1])
        data = data[16 + length:]
    assert len(events) == 2 and b"brain.Event:2" in events[0]
    # step (field 2): varint 300; summary (5) of value (1) with tag (1) and simple_value (2) 1.5
    assert events[1][9:] == bytes([0x10, 0xAC, 0x02, 0x2A, 12, 0x0A, 10, 0x0A, 3]) + b"a/b" + b"\x15\x00\x00\xc0\x3f"


def test_the_progress_bar_is_one_line():
    out = io.StringIO()
    bar = ProgressBar("CartPole-v1 PPO", 0, 1000, out)
    bar.update(500, "return 20.0", is_last=True)
    text = out.getvalue()
    assert text.count("\n") == 1 and "500 of 1,000" in text and "return 20.0" in text
    assert text.count("#") == ProgressBar.WIDTH // 2


def test_a_policy_obeys_masks(device):
    from scripted import Scripted
    model = hearth.PPO(Scripted(0, "method"), device=device, seed=0, **SMALL["ppo"]).learn(128)  # it asserts them
    seen = np.zeros((300, 3), np.float32)
    masks = np.tile([0, 1, 1], (300, 1))
    assert set(model.predict(seen, action_masks=masks)[0].tolist()) == {1, 2}
    assert model.predict(seen[0], action_masks=[0, 0, 1], deterministic=True)[0] == 2
    assert hearth.evaluate_policy(model, Scripted(1, "method"), 4)[0] > 0
    model.close()


def test_predict_takes_the_mask_of_an_observation(device):
    from scripted import Scripted
    env = Scripted(0, "key")
    model = hearth.PPO(env, device=device, seed=0, **SMALL["ppo"]).learn(128)
    observation, _ = env.reset()
    for mask in ([0, 1, 0], [0, 0, 1]):
        assert model.predict({**observation, "action_mask": np.array(mask, np.int8)})[0] == mask.index(1)
    model.close()


def test_a_vulkan_device_learns_and_goes_on_to_the_bit(tmp_path):
    """The default device: a GPU, or a software driver."""
    if not hearth.devices():
        pytest.skip("needs a Vulkan driver")
    with hearth.Device() as device:
        model = hearth.PPO("CartPole-v1", device=device, seed=0, n_steps=16, batch_size=16, n_epochs=1,
                           network={"kind": "mlp", "hidden_sizes": [8]}).learn(24)
        model.save(tmp_path / "model.zip", exact=True)
        again = hearth.PPO.load(tmp_path / "model.zip", "CartPole-v1", device=device)
        for each in (model, again):
            each.learn(32, reset_num_timesteps=False)
        assert again.brain() == model.brain() and model.agents.status["gradient_steps"] >= 3
        on_cpu = hearth.PPO.load(tmp_path / "model.zip", device="cpu")
        assert on_cpu.predict(np.zeros(4))[0] in (0, 1)
        model.close(), again.close(), on_cpu.close()


def test_agents_join_and_leave(device):
    package = hearth.cook_agents([{"name": "x", "kind": "box", "size": 2}], [{"name": "a", "kind": "discrete", "n": 2}],
                                 n_agents=3, learner={"kind": "dqn", "buffer_size": 64, "learning_starts": 64},
                                 device=device)
    with hearth.Agents(package, 3, device) as agents:
        def seen(t):
            return np.array([[row, t] for row in range(3)], np.float32)

        agents.decide(seen(0))
        actions = agents.decide(seen(1), rewards=[1, 2, 3], present=[True, False, True])
        assert agents.present.tolist() == [True, False, True] and actions[1, 0] == 0
        agents.decide(seen(2), rewards=[4, 99, 6])  # nobody is there to take the 99
        agents.add(1)
        agents.decide(seen(3), rewards=[7, 99, 9])  # it has not decided yet, so the 99 is dropped
        agents.remove(0)
        agents.decide(seen(4), rewards=[99, 8, 5], learning_budget_us=np.inf)
        count = int(agents.read("replay.size"))
        found = sorted(zip(agents.read("replay.observation")[:count].tolist(),
                           agents.read("replay.reward")[:count].tolist()))
        assert found == [([0, 0], 1), ([0, 1], 4), ([0, 2], 7), ([0, 3], 0), ([1, 0], 2), ([1, 3], 8), ([2, 0], 3),
                         ([2, 1], 6), ([2, 2], 9), ([2, 3], 5)]
        with pytest.raises(hearth.HearthError, match="agent 0 is not present"):
            agents.remove(0)
        with pytest.raises(hearth.HearthError, match="agent 1 is present already"):
            agents.add(1)


def test_agents_tell_what_they_see_and_expect(device):
    observations = [{"name": "speed", "size": 2, "low": -3, "high": 3}, {"name": "gear", "kind": "discrete", "n": 3}]
    package = hearth.cook_agents(observations, [{"name": "steer", "kind": "continuous", "low": -2, "high": 2}], n_agents=2,
                                 learner={"kind": "ppo", "n_steps": 8, "report_values": True}, device=device)
    with hearth.Agents(package, 2, device) as agents:
        fields = [(field["name"], field["kind"], field["size"], field["low"]) for field in agents.fields]
        assert fields[0] == ("speed", "box", 2, -3.0) and fields[1][:2] == ("gear", "discrete")
        assert fields[2][:2] == ("steer", "continuous_action") and fields[2][3] == -2.0
        with pytest.raises(hearth.HearthError, match="NOT_FOUND"):
            agents.values
        agents.decide(np.array([[1, 2, 0], [-1, 2.5, 2]], np.float32))
        assert np.isfinite(agents.values).all()
        agents.remove(0)
        assert np.isnan(agents.values[0])
        assert list(agents.observation_ranges.values())[:2] == [(-1.0, 1.0), (2.0, 2.5)]
        agents.log("catches", 1), agents.log("catches", 4)
        assert agents.custom_metrics == {"catches": 2.5}
        agents.restart_custom_metrics()
        assert agents.schema_hash != 0


def test_demonstrations_of_several_people_and_a_games_own_score(device):
    package = hearth.cook_agents([{"name": "x", "kind": "box", "size": 1}], [{"name": "a", "kind": "discrete", "n": 2}],
                                 n_agents=2, device=device, learner={
                                     "kind": "behavior_cloning", "buffer_size": 256, "learning_starts": 16,
                                     "max_demonstrator_fraction": 0.5, "learning_rate": 0.01})
    with hearth.Agents(package, 2, device) as agents:
        random = np.random.default_rng(0)
        for _ in range(300):
            seen = random.uniform(-1, 1, size=(2, 1))
            agents.decide(seen, demonstrations=(seen > 0).astype(float), demonstrators=[1, 2], learning_budget_us=1e6)
            agents.report_score(2.0)
        seen = np.array([[-0.5], [0.5]])
        assert agents.decide(seen, exploration=0.0)[:, 0].tolist() == [0, 1]
        assert agents.status["score"] == pytest.approx(1.0)  # of each agent and decision
        with pytest.raises(hearth.HearthError, match="score is NaN"):
            agents.report_score(float("nan"))


def test_praise_teaches_which_choice_is_liked(device):
    package = hearth.cook_agents([{"name": "x", "kind": "box", "size": 2}], [{"name": "a", "kind": "discrete", "n": 3}],
                                 n_agents=4, learner={"kind": "tamer", "credit_window": [1.0]}, device=device)
    rng = np.random.default_rng(0)

    def liked(seen):
        return np.where(seen[:, 0] > 0, 2, 0)

    with hearth.Agents(package, 4, device) as agents:
        seen = rng.choice([-1, 1], (4, 2)).astype(np.float32)
        actions = agents.decide(seen, exploration=0.3)
        for _ in range(300):
            praise = np.where(actions[:, 0] == liked(seen), 1.0, -1.0)
            seen = rng.choice([-1, 1], (4, 2)).astype(np.float32)
            actions = agents.decide(seen, rewards=praise, exploration=0.3, learning_budget_us=np.inf)
        seen = np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]], np.float32)
        assert agents.decide(seen, exploration=0)[:, 0].tolist() == [0, 0, 2, 2]


def test_snapshots_are_restored_and_loaded_by_opponents(device):
    package = hearth.cook_agents([{"name": "x", "kind": "box", "size": 2}], [{"name": "a", "kind": "discrete", "n": 2}],
                                 n_agents=2, learner={"kind": "ppo", "n_steps": 4, "n_minibatches": 1}, device=device)
    with hearth.Agents(package, 2, device, max_snapshots=2) as agents, hearth.Agents(package, 2, device) as others:
        def play(steps):
            for _ in range(steps):
                agents.decide(np.ones((2, 2)), rewards=[1, -1], learning_budget_us=np.inf)
            return agents.read("published.param.actor.0.weight")

        others.decide(np.ones((2, 2)))
        initial = others.read("published.param.actor.0.weight")
        weights = []
        for _ in range(3):
            weights.append(play(20))
            agents.take_snapshot()
        assert agents.snapshot_count == 2 and not np.array_equal(weights[1], weights[2])
        others.load_snapshot(agents, 1)
        assert np.array_equal(others.read("published.param.actor.0.weight"), weights[1])
        assert np.array_equal(agents.read("published.param.actor.0.weight"), weights[2])
        agents.restore_snapshot(1)
        assert np.array_equal(agents.read("published.param.actor.0.weight"), weights[1])
        with pytest.raises(hearth.HearthError, match="NOT_FOUND"):
            agents.restore_snapshot(2)
        agents.restore_snapshot(None)
        assert np.array_equal(agents.read("published.param.actor.0.weight"), initial)
        play(20)
        agents.reset_brain()
        assert np.array_equal(agents.read("published.param.actor.0.weight"), initial) and agents.snapshot_count == 0


@pytest.mark.parametrize(("settings", "expected"), [
    ({}, (2500, 1.0, 4, 1)),  # 10,000 samples, one gradient step for four
    ({"train_freq": 256, "gradient_steps": 128, "target_update_interval": 10}, (128, 1.0, 256, 128)),
    ({"train_freq": 1, "target_update_interval": 1, "tau": 0.005}, (1, 0.005, 1, 1)),
    ({"train_freq": 4, "target_update_interval": 1, "tau": 0.01}, (1, 1 - 0.99**4, 4, 1)),
    ({"train_freq": 8, "gradient_steps": -1, "target_update_interval": 64}, (64, 1.0, 8, 8)),
])
def test_target_networks_are_updated_as_often_as_in_stable_baselines3(settings, expected):
    """There between updates alone: with RL Zoo's settings for CartPole (the second), an update of the target after
    every fifth gradient step in place of every 128th let values diverge."""
    found = hyper.learner("dqn", hyper.merged("dqn", settings), 1)
    names = ("target_update_interval", "tau", "train_freq", "gradient_steps")
    assert [found[name] for name in names] == pytest.approx(list(expected))


@pytest.mark.parametrize("kind", ["ppo", "dqn", "sac"])
def test_defaults_are_those_of_stable_baselines3(kind):
    sb3 = pytest.importorskip("stable_baselines3", reason="needs the package stable-baselines3")
    theirs = {name: p.default for name, p in
              inspect.signature({"ppo": sb3.PPO, "dqn": sb3.DQN, "sac": sb3.SAC}[kind].__init__).parameters.items()}
    ours = hyper.DEFAULTS[kind]
    shared = set(theirs) & set(ours)
    assert {name: ours[name] for name in shared} == {name: theirs[name] for name in shared}
    # What they have and this has not is in the table of docs/how-to/python_training.md.
    assert set(theirs) - set(ours) - {"self", "policy", "env", "seed", "device", "verbose", "tensorboard_log",
                                      "policy_kwargs", "_init_setup_model"} <= {
        "use_sde", "sde_sample_freq", "use_sde_at_warmup", "stats_window_size", "rollout_buffer_class",
        "rollout_buffer_kwargs", "replay_buffer_class", "replay_buffer_kwargs", "optimize_memory_usage",
        "action_noise", "target_update_interval", "n_steps"}


def test_errors_of_hyperparameters_name_what_was_expected(device):
    for kind, settings, message in [
        (hearth.PPO, {"n_steps": 100, "batch_size": 64}, "batch_size is 64, expected a divisor .* such as 50 or 100"),
        (hearth.PPO, {"exploration_fraction": 0.1}, "exploration_fraction is of DQN"),
        (hearth.PPO, {"learningrate": 1}, "learningrate"),
        (hearth.DQN, {"n_epochs": 3}, "n_epochs"),
        (hearth.PPO, {"learning_rate": math.nan}, "learning_rate is nan, expected a finite number"),
        (hearth.PPO, {"learning_rate": lambda remaining: math.nan}, "learning_rate is nan, expected a finite number"),
        (hearth.PPO, {"learning_rate": -1}, "learning_rate is -1, expected at least 0"),
        (hearth.SAC, {"tau": math.inf}, "tau is inf, expected a finite number"),
        (hearth.PPO, {"n_steps": "64"}, "n_steps is '64', expected a whole number, at least 1"),
        (hearth.PPO, {"batch_size": 0}, "batch_size is 0, expected a whole number, at least 1"),
        (hearth.PPO, {"gamma": lambda remaining: 0.9}, "gamma is a function, expected a number; functions .* may be"),
        (hearth.PPO, {"learning_rate": lambda remaining: None}, r"learning_rate\(1.0\) is None, expected a number"),
        (hearth.PPO, {"network": [64, 64]}, r"network is \[64, 64\], expected a dictionary such as"),
        (hearth.DQN, {"train_freq": (1, "episode")}, r"train_freq is \(1, 'episode'\), expected a whole number"),
        (hearth.DQN, {"target_update_interval": 0}, "target_update_interval is 0, expected"),
        (hearth.DQN, {"exploration_final_eps": 3}, "exploration_final_eps is 3, expected a number, at least 0 and at most 1"),
        (hearth.SAC, {"ent_coef": "auto_x"}, "ent_coef is auto_x .*, expected 'auto', 'auto_0.1'"),
    ]:
        with pytest.raises(hearth.HearthError, match=message):
            kind("CartPole-v1", device=device, **settings)
    with pytest.raises(hearth.HearthError, match="ent_coef is 0.1, expected 'auto'"):
        hearth.SAC("Pendulum-v1", device=device, ent_coef=0.1)
    with pytest.raises(hearth.HearthError, match="algorithm is 'a2c', expected one of ppo, dqn, sac"):
        hearth.learn("CartPole-v1", "a2c")


def test_calls_as_of_stable_baselines3_say_what_to_write(device):
    for make, message in [
        (lambda: hearth.PPO("MlpPolicy", "CartPole-v1", verbose=1), r"'MlpPolicy' is a policy of .*; write PPO\(env\);"),
        (lambda: hearth.PPO("CnnPolicy", "CartPole-v1"), r'write PPO\(env, network="nature_cnn"\);'),
        (lambda: hearth.SAC("MultiInputPolicy"), r"'MultiInputPolicy' is a policy of .*; write SAC\(env\);"),
        (lambda: hearth.learn("MlpPolicy"), "'MlpPolicy' is a policy of"),
        (lambda: hearth.PPO("CartPole-v1", 4), "PPO takes the environment, and all else by name, found 4"),
        (lambda: hearth.PPO("CartPole-v1", policy="MlpPolicy"), "policy .*: leave it out"),
        (lambda: hearth.PPO("CartPole-v1", policy_kwargs={"net_arch": [8]}), "policy_kwargs .* network="),
        (lambda: hearth.PPO("CartPole-v1", use_sde=True), "use_sde .*: leave it out"),
        (lambda: hearth.SAC("Pendulum-v1", action_noise=None), "action_noise .*: leave it out"),
        (lambda: hearth.DQN("CartPole-v1", replay_buffer_class=list), "replay_buffer_class .*prioritized_alpha"),
    ]:
        with pytest.raises(hearth.HearthError, match=message):
            make()


def test_a_file_of_stable_baselines3_is_named_as_such(device, tmp_path):
    with zipfile.ZipFile(tmp_path / "cart.zip", "w") as archive:
        for name in ("data", "policy.pth", "_stable_baselines3_version"):
            archive.writestr(name, "")
    with pytest.raises(hearth.HearthError, match="cart.zip is a file of Stable-Baselines3.*hearth.checkpoints.load"):
        hearth.PPO.load(tmp_path / "cart.zip", device=device)


def test_seeds_and_numbers_of_environments_are_checked(device):
    for arguments, message in [({"seed": -1}, "seed is -1, expected a whole number from 0 to [0-9]+, or None"),
                               ({"seed": 2**63}, "seed is 9223372036854775808, expected"),
                               ({"seed": 0.5}, "seed is 0.5, expected"), ({"seed": "a"}, "seed is 'a', expected"),
                               ({"n_envs": 0}, "n_envs is 0, expected a whole number, at least 1"),
                               ({"n_envs": -2}, "n_envs is -2, expected"), ({"n_envs": 1.5}, "n_envs is 1.5, expected"),
                               ({"n_envs": "8"}, "n_envs is '8', expected")]:
        with pytest.raises(hearth.HearthError, match=message):
            hearth.PPO("CartPole-v1", device=device, **arguments)
    with pytest.raises(hearth.HearthError, match="a list of no environments, expected at least one"):
        hearth.PPO([], device=device)


def test_arguments_of_learn_are_checked_before_the_first_step(device):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    for arguments, message in [({"callback": 5}, "callback is 5, expected a function"),
                               ({"log_interval": 0}, "log_interval is 0, expected"),
                               ({"eval_freq": -1}, "eval_freq is -1, expected a whole number, at least 0"),
                               ({"checkpoint_freq": 0.5}, "checkpoint_freq is 0.5, expected"),
                               ({"eval_env": "CartPole-v1", "n_eval_episodes": 0}, "n_eval_episodes is 0, expected"),
                               ({"best_model_path": "best.zip"}, "best_model_path needs eval_env"),
                               ({"eval_env": "Pendulum-v1"}, "the environment has the observations and actions")]:
        with pytest.raises(hearth.HearthError, match=message):
            model.learn(64, **arguments)
        assert model.num_timesteps == 0
    with pytest.raises(hearth.HearthError, match="the environment has the observations and actions .* expected .*"):
        hearth.evaluate_policy(model, "Pendulum-v1")
    model.close()


def test_load_takes_functions_alone(device, tmp_path):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    model.save(tmp_path / "run.zip")
    model.close()
    for name in ("gamma", "gama"):
        with pytest.raises(hearth.HearthError, match=f"{name} is 0.5, expected functions .* has all other"):
            hearth.PPO.load(tmp_path / "run.zip", "CartPole-v1", device=device, **{name: 0.5})


def test_files_that_cannot_be_written_are_refused_before_the_first_step(device, tmp_path):
    model = hearth.PPO("CartPole-v1", device=device, seed=0, **SMALL["ppo"])
    (tmp_path / "file").write_text("")
    for arguments, message in [({"checkpoint": tmp_path / "file/run.zip"}, "checkpoint: cannot write .*file/run.zip'"),
                               ({"checkpoint": tmp_path}, "checkpoint: cannot write '.*': it is a folder"),
                               ({"eval_env": "CartPole-v1", "best_model_path": tmp_path / "file/best.zip"},
                                "best_model_path: cannot write .*best.zip'"),
                               ({"log": tmp_path / "file"}, "log: cannot write .*file/run.jsonl'")]:
        with pytest.raises(hearth.HearthError, match=message):
            model.learn(64, **arguments)
        assert model.num_timesteps == 0
    model.learn(64, checkpoint=tmp_path / "new/folder/run.zip")
    assert [path.name for path in (tmp_path / "new/folder").iterdir()] == ["run.zip"]
    model.close()


def test_gymnasium_is_named_if_it_is_missing():
    code = textwrap.dedent("""
        import sys
        sys.modules["gymnasium"] = None
        import hearth
        try:
            hearth.learn("CartPole-v1")
        except hearth.HearthError as error:
            print(error)
    """)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install 'gymnasium>=1.0'" in out.stdout, out
