#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Hearth's Python package beside Stable-Baselines3 on seven tasks, with equal settings and seeds.

    perf/peers/python_tasks.py --library hearth --task all --seeds 3 > hearth.csv
    perf/peers/python_tasks.py --library sb3 --task sparse,masked --seeds 3
    perf/peers/python_tasks.py --table hearth.csv sb3.csv

One line for each run: steps until the mean return of the last 20 episodes reaches the task's bar (empty: never),
the mean at the end, and CPU seconds of the process until the bar or the last step, without compiling.  A run ends at the
bar, with --whole at its last step, so that its return is the final one.
Both need gymnasium 1, with box2d for lunar and mujoco for pendulum; minatar needs the package minatar; sb3 needs
stable-baselines3, and sb3-contrib for masked and memory.  One thread each.
"""

import argparse
import collections
import csv
import statistics
import sys
import time

import gymnasium
import numpy as np
from gymnasium import spaces

EPISODES = 20


class Maze(gymnasium.Env):
    """A T-maze: the side of the reward is shown in the first step alone, `length` steps before the turn."""

    def __init__(self, length=8):
        self.observation_space = spaces.Box(-1, 1, (3,), np.float32)  # cue, at the turn, bias
        self.action_space = spaces.Discrete(3)  # forward, left, right
        self.length = length

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.side, self.place = int(self.np_random.integers(2)), 0
        return self._seen(2 * self.side - 1), {}

    def _seen(self, cue=0):
        return np.array([cue, self.place == self.length, 1], np.float32)

    def step(self, action):
        if self.place == self.length and action != 0:
            return self._seen(), 1.0 if action == 1 + self.side else -1.0, True, False, {}
        self.place += action == 0 and self.place < self.length
        return self._seen(), -0.02, False, False, {}


class Masked(gymnasium.Env):
    """Ten of twenty actions are available; the reward is for the first of them in an order that must be learned."""

    def __init__(self):
        self.observation_space = spaces.Box(0, 1, (20,), np.float32)
        self.action_space = spaces.Discrete(20)
        self.order = np.random.default_rng(1).permutation(20)

    def action_masks(self):
        return self.available

    def _draw(self):
        self.available = np.zeros(20, bool)
        self.available[self.np_random.permutation(20)[:10]] = True
        return self.available.astype(np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self._draw(), {}

    def step(self, action):
        best = min(np.flatnonzero(self.available), key=lambda each: self.order[each])
        self.steps += 1
        return self._draw(), float(action == best), False, self.steps == 10, {}


class Switches(gymnasium.Env):
    """Four switches of three settings, each rewarded by a function of two of eight bits."""

    def __init__(self):
        self.observation_space = spaces.MultiBinary(8)
        self.action_space = spaces.MultiDiscrete([3, 3, 3, 3])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps, self.bits = 0, self.np_random.integers(0, 2, 8, dtype=np.int8)
        return self.bits, {}

    def step(self, action):
        right = (np.asarray(action) == self.bits[:4] + self.bits[4:]).mean()
        self.steps, self.bits = self.steps + 1, self.np_random.integers(0, 2, 8, dtype=np.int8)
        return self.bits, float(right), False, self.steps == 10, {}


def minatar():
    from minatar.gym import BaseEnv
    return BaseEnv("breakout", use_minimal_action_set=True)  # MinAtar/Breakout-v1


#: Environment, algorithm, environments, steps at most, bar, hyperparameters by the names of Stable-Baselines3, which
#: has nothing like memory_gru and sparse_curious.
TASKS = {
    "lunar": (lambda: gymnasium.make("LunarLander-v3"), "ppo", 16, 1_000_000, 200, {"n_steps": 1024, "batch_size": 64, "n_epochs": 4, "gamma": 0.999,
                                                 "gae_lambda": 0.98, "ent_coef": 0.01}),
    "minatar": (minatar, "ppo", 8, 500_000, 5, {"n_steps": 128, "batch_size": 256, "n_epochs": 4, "learning_rate": 1e-3,
                                                "ent_coef": 0.01, "network": "minatar_cnn"}),
    "memory": (Maze, "ppo", 8, 200_000, 0.8, {"n_steps": 128, "batch_size": 128, "n_epochs": 10, "ent_coef": 0.01,
                                              "network": {"kind": "lstm", "hidden_size": 64}}),
    "memory_gru": (Maze, "ppo", 8, 200_000, 0.8, {"n_steps": 128, "batch_size": 128, "n_epochs": 10, "ent_coef": 0.01,
                                                  "normalize_observations": True,
                                                  "network": {"kind": "gru", "hidden_size": 64}}),
    "masked": (Masked, "ppo", 8, 200_000, 8, {"n_steps": 128, "batch_size": 256, "gamma": 0.9}),
    "switches": (Switches, "ppo", 8, 200_000, 9, {"n_steps": 128, "batch_size": 256, "gamma": 0.9}),
    "pendulum": (lambda: gymnasium.make("InvertedDoublePendulum-v5"), "sac", 1, 40_000, 9000, {}),
    "sparse": (lambda: gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False), "ppo", 8, 200_000, 0.9,
               {"n_steps": 128, "batch_size": 256, "ent_coef": 0.05}),
    "sparse_curious": (lambda: gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False), "ppo", 8, 200_000, 0.9,
                       {"n_steps": 128, "batch_size": 256, "ent_coef": 0.05, "rnd_coef": 0.5}),
}
HEARTH_ALONE = ("memory_gru", "sparse_curious")


class Progress:
    """Returns of the last episodes, and the step at which they reach the bar."""

    is_whole = False

    def __init__(self, bar):
        self.bar, self.steps, self.returns = bar, None, collections.deque(maxlen=EPISODES)
        self.begin = self.seconds = None

    def start(self):
        self.begin = time.process_time()

    def cpu_seconds(self):
        return time.process_time() - self.begin if self.seconds is None else self.seconds

    def mean(self):
        return float(np.mean(self.returns)) if self.returns else float("nan")

    def goes_on(self, step):
        if self.steps is None and len(self.returns) == EPISODES and self.mean() >= self.bar:
            self.steps, self.seconds = step, self.cpu_seconds()
        return self.is_whole or self.steps is None


def with_hearth(task, seed):
    import hearth
    make, kind, n_envs, steps, bar, given = TASKS[task]
    settings = dict(given)
    if settings.get("network", {}) and settings["network"] != "minatar_cnn":
        settings["bptt_length"] = 16
    progress = Progress(bar)
    model = {"ppo": hearth.PPO, "sac": hearth.SAC}[kind](make, n_envs=n_envs, seed=seed, **settings)
    model.agents  # compiles
    counted = 0

    def callback(model):
        nonlocal counted
        new = model._episode_count - counted
        counted = model._episode_count
        progress.returns.extend(model.episode_returns[-new:] if new else [])
        return progress.goes_on(model.num_timesteps)

    progress.start()
    model.learn(steps, callback)
    return progress


def with_sb3(task, seed):
    import torch
    from stable_baselines3 import PPO, SAC
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env
    torch.set_num_threads(1)
    make, kind, n_envs, steps, bar, given = TASKS[task]
    settings = {name: value for name, value in given.items() if name != "network"}
    progress = Progress(bar)

    class Callback(BaseCallback):
        def _on_step(self):
            progress.returns.extend(info["episode"]["r"] for info in self.locals["infos"] if "episode" in info)
            return progress.goes_on(self.num_timesteps)

    policy, algorithm = "MlpPolicy", {"ppo": PPO, "sac": SAC}[kind]
    if task == "masked":
        from sb3_contrib import MaskablePPO as algorithm
    elif task == "memory":
        from sb3_contrib import RecurrentPPO as algorithm
        policy = "MlpLstmPolicy"
        settings["policy_kwargs"] = {"lstm_hidden_size": 64, "net_arch": []}
    elif task == "minatar":
        from stable_baselines3.common.torch_layers import BaseFeaturesExtractor

        class Cnn(BaseFeaturesExtractor):
            def __init__(self, space):
                super().__init__(space, 128)
                self.net = torch.nn.Sequential(torch.nn.Conv2d(space.shape[2], 16, 3), torch.nn.ReLU(), torch.nn.Flatten(),
                                               torch.nn.Linear(16 * 64, 128), torch.nn.ReLU())

            def forward(self, x):
                return self.net(x.float().permute(0, 3, 1, 2))

        settings["policy_kwargs"] = {"features_extractor_class": Cnn, "net_arch": [], "normalize_images": False,
                                     "share_features_extractor": False}
    model = algorithm(policy, make_vec_env(make, n_envs=n_envs, seed=seed), seed=seed, device="cpu", **settings)
    progress.start()
    model.learn(steps, callback=Callback())
    return progress


def cells(runs):
    """Seeds that reached the bar; medians of their steps, of returns at the end, and of CPU seconds."""
    if not runs:
        return " | | "
    steps = [int(run["steps"]) for run in runs if run["steps"]]
    middle = [statistics.median(float(run[name]) for run in runs) for name in ("return", "cpu_seconds")]
    return (f"{len(steps)} of {len(runs)}, {f'{statistics.median(steps):,.0f}' if steps else 'none'} | "
            f"{middle[0]:,.4g} | {middle[1]:.1f}")


def table(paths):
    """A line of Markdown for each task, as in docs/how-to/python_training.md."""
    rows = collections.defaultdict(list)
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.DictReader(file):
                rows[row["task"], row["library"]].append(row)
    print("| task | bar | Hearth: seeds, steps | return | CPU s | Stable-Baselines3: seeds, steps | return | CPU s |")
    print("|---|---|---|---|---|---|---|---|")
    for task, (_, _, _, _, bar, _) in TASKS.items():
        print(f"| {task} | {bar:,} | {cells(rows[task, 'hearth'])} | {cells(rows[task, 'sb3'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", choices=["hearth", "sb3"], default="hearth")
    parser.add_argument("--task", default="all", help=f"all, or some of {','.join(TASKS)}")
    parser.add_argument("--seeds", type=int, default=3, help="as many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="at most so many, in place of the task's own")
    parser.add_argument("--whole", action="store_true", help="goes on beyond the bar")
    parser.add_argument("--table", nargs="+", metavar="CSV")
    arguments = parser.parse_args()
    if arguments.table:
        return table(arguments.table)
    Progress.is_whole = arguments.whole
    names = [name for name in TASKS if arguments.library == "hearth" or name not in HEARTH_ALONE] if arguments.task == "all" else arguments.task.split(",")
    if unknown := set(names) - set(TASKS):
        parser.error(f"there is no task '{min(unknown)}'; expected some of {', '.join(TASKS)}")
    print("task,library,seed,steps,return,cpu_seconds", flush=True)
    for name in names:
        if arguments.steps:
            make, kind, n_envs, _, bar, given = TASKS[name]
            TASKS[name] = make, kind, n_envs, arguments.steps, bar, given
        for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
            progress = (with_hearth if arguments.library == "hearth" else with_sb3)(name, seed)
            print(f"{name},{arguments.library},{seed},{progress.steps or ''},{progress.mean():.4f},"
                  f"{progress.cpu_seconds():.1f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
