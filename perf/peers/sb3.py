#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Stable-Baselines3 on the tasks of `hearth gates --gate 10cart,10gpuacrobot,10sac,10ppo`, with the same settings.

    perf/peers/sb3.py --task cart --seeds 3      PPO on CartPole until 475
    perf/peers/sb3.py --task acrobot             PPO on Acrobot until -100
    perf/peers/sb3.py --task sac                 SAC on Pendulum, 10,000 steps
    perf/peers/sb3.py --task ppo                 PPO on Pendulum, 300,000 steps; with --bar -200 until then

One line for each run: steps, seconds by the clock, CPU seconds of the process, mean return of the last
episodes. Needs stable-baselines3 2.3 and gymnasium 0.29 (`pip install stable-baselines3==2.3.2`); one
thread, as more make networks of this size slower.
"""

import argparse
import collections
import time

import torch
from stable_baselines3 import PPO, SAC
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env


class Returns(BaseCallback):
    """Averages the return of the last episodes; stops training at the bar, if there is one."""

    def __init__(self, window, bar=None):
        super().__init__()
        self.returns = collections.deque(maxlen=window)
        self.bar = bar
        self.steps_to_bar = None

    def mean(self):
        full = len(self.returns) == self.returns.maxlen
        return sum(self.returns) / len(self.returns) if full else float("-inf")

    def _on_step(self):
        for info in self.locals["infos"]:
            if "episode" in info:
                self.returns.append(info["episode"]["r"])
        if self.bar is None or self.mean() < self.bar:
            return True
        self.steps_to_bar = self.num_timesteps
        return False


def linear(value):
    return lambda left: left * value


def cart(seed, device):
    """rl-zoo's tuned settings."""
    env = make_vec_env("CartPole-v1", n_envs=8, seed=seed)
    model = PPO("MlpPolicy", env, n_steps=32, batch_size=256, gae_lambda=0.8, gamma=0.98, n_epochs=20,
                ent_coef=0.0, learning_rate=linear(1e-3), clip_range=linear(0.2), seed=seed, device=device)
    return model, 100_000, Returns(20, 475)


def acrobot(seed, device):
    """Gate5's settings."""
    env = make_vec_env("Acrobot-v1", n_envs=16, seed=seed)
    model = PPO("MlpPolicy", env, n_steps=128, batch_size=256, n_epochs=4, gamma=0.99, gae_lambda=0.94, ent_coef=0.0,
                learning_rate=1e-3, seed=seed, device=device)
    return model, 200_000, Returns(20, -100)


def sac(seed, device):
    """rl_tools' settings."""
    env = make_vec_env("Pendulum-v1", n_envs=1, seed=seed)
    model = SAC("MlpPolicy", env, learning_rate=1e-3, batch_size=100, learning_starts=100, gamma=0.99,
                tau=0.005, policy_kwargs={"net_arch": [64, 64]}, seed=seed, device=device)
    return model, 10_000, Returns(10)


def ppo(seed, device):
    """rl_tools' settings."""
    env = make_vec_env("Pendulum-v1", n_envs=4, seed=seed)
    model = PPO("MlpPolicy", env, n_steps=1024, batch_size=64, n_epochs=10, gamma=0.9, gae_lambda=0.95,
                ent_coef=0.0, learning_rate=1e-3, seed=seed, device=device)
    return model, 300_000, Returns(20)


TASKS = {"cart": cart, "acrobot": acrobot, "sac": sac, "ppo": ppo}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, default="cart")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, help="fewer steps than the task has")
    parser.add_argument("--bar", type=float, help="stop at this mean return of the last 20 (sac: 10) episodes")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        model, steps, returns = TASKS[arguments.task](seed, arguments.device)
        returns.bar = returns.bar if arguments.bar is None else arguments.bar
        begin, cpu_begin = time.perf_counter(), time.process_time()
        model.learn(arguments.steps or steps, callback=returns)
        seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
        print(f"{arguments.task} seed {seed}: bar at {returns.steps_to_bar or '-'} steps, "
              f"{model.num_timesteps} steps in {seconds:.1f} s, {cpu:.1f} CPU s, "
              f"{model.num_timesteps / seconds:.0f} steps a second, score {returns.mean():.1f}", flush=True)


if __name__ == "__main__":
    main()
