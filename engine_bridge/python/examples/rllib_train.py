#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trains a game with Ray RLlib on several machines: workers step worlds, one learner trains.

    HEARTH_ENVIRONMENTS=build/release/lib python rllib_train.py --environment CartPole --workers 2 --iterations 20

By default the cluster is this machine; `ray.init(address="auto")` joins another one.  HEARTH_ENVIRONMENTS must name the
folder of the environment's shared library on each of its machines.  Needs the packages ray[rllib] and torch.
"""

import argparse

import ray
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.tune.registry import register_env

from hearth import env


def make_algorithm(environment: str, workers: int, *, samples: int = 2000, seed: int = 0) -> PPO:
    """Creates PPO with `workers` processes that step worlds of this environment; samples: per iteration."""
    register_env(f"hearth-{environment}", lambda _: env.make(environment))
    config = (PPOConfig()
              .environment(f"hearth-{environment}")
              # RLlib drops workers that take longer; 60 seconds are too few on a busy machine.
              .env_runners(num_env_runners=workers, num_envs_per_env_runner=4, rollout_fragment_length="auto",
                           sample_timeout_s=600)
              .training(train_batch_size=samples, lr=1e-3, gamma=0.98)
              .debugging(seed=seed))
    return config.build_algo() if hasattr(config, "build_algo") else config.build()


def mean_return(result: dict) -> float:
    """Returns the mean return of the episodes that ended in an iteration, from RLlib's new API or its old one."""
    runners = result.get("env_runners", {})
    mean = runners.get("episode_return_mean", runners.get("episode_reward_mean"))
    if mean is None:
        raise RuntimeError("found no mean return of ended episodes: no worker answered within sample_timeout_s, or no "
                           "episode ended (increase train_batch_size)")
    return float(mean)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--environment", default="CartPole")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--iterations", type=int, default=20)
    options = arguments.parse_args()
    ray.init(num_cpus=options.workers + 1, include_dashboard=False)
    algorithm = make_algorithm(options.environment, options.workers)
    for i in range(options.iterations):
        print(f"iteration {i}: mean return {mean_return(algorithm.train()):.1f}", flush=True)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
