# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trains with the installed wheel, on the CPU device, without a C compiler: the pole stands twice as long as at first.

Writes CartPole's learning curve to curve.csv beside this file: seconds after the start of the program, steps, mean return
of the last 20 episodes.
"""

import shutil
import time
from pathlib import Path

import hearth

begin = time.monotonic()
if shutil.which("cc") or shutil.which("gcc"):
    raise SystemExit("expected no C compiler in this root")
for kind, task, steps in [("ppo", "CartPole-v1", 4096), ("dqn", "Acrobot-v1", 1000), ("sac", "Pendulum-v1", 300)]:
    updates = hearth.learn(task, kind, steps=steps, seed=0).agents.status["gradient_steps"]
    print(f"{kind} learns {task} with its defaults: {updates} updates, {time.monotonic() - begin:.1f} s after the start")
    if updates < 100:
        raise SystemExit(f"expected at least 100 updates, found {updates}")
model = hearth.PPO("CartPole-v1", n_envs=8, n_steps=32, batch_size=256, n_epochs=20, gamma=0.98, gae_lambda=0.8,
                   learning_rate=1e-3, seed=0)
first, _ = hearth.evaluate_policy(model, "CartPole-v1", n_eval_episodes=10)
curve = []


def watch(model):
    if model.num_timesteps % 2048 == 0:
        returns = model.episode_returns[-20:]
        curve.append(f"{time.monotonic() - begin:.2f},{model.num_timesteps},{sum(returns) / len(returns):.1f}\n")


model.learn(20_480, watch)
Path(__file__).with_name("curve.csv").write_text("".join(curve))
last, _ = hearth.evaluate_policy(model, "CartPole-v1", n_eval_episodes=10)
print(f"returns of CartPole: {first:.0f} before, {last:.0f} after 20,480 steps")
if last < max(2 * first, 100):
    raise SystemExit(f"expected a return of at least {max(2 * first, 100):.0f}")
other = hearth.PPO("CartPole-v1", network={"kind": "mlp", "hidden_sizes": [24]}, n_steps=64, seed=0)
if other.learn(256).agents.status["gradient_steps"] < 1:  # its kernels are interpreted
    raise SystemExit("expected an update of a network whose kernels are not compiled")
