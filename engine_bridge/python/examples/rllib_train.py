#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Train a game with Ray RLlib, for those who outgrow one machine: worlds in workers, one learner.

    HEARTH_ENVIRONMENTS=build/release/lib python rllib_train.py --environment CartPole --workers 2 --iterations 20

Here the cluster is this machine; `ray.init(address="auto")` joins one of many, on each of which the environment's shared
library must lie where HEARTH_ENVIRONMENTS says.  Needs the packages ray[rllib] and torch.
"""

import argparse

import ray
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.tune.registry import register_env

from hearth import env


def make_algorithm(environment: str, workers: int, *, samples: int = 2000, seed: int = 0) -> PPO:
    """PPO over `workers` processes that step worlds of this environment; samples: of an iteration."""
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
    """Of the episodes that ended in an iteration, by RLlib's new API or its old one."""
    runners = result.get("env_runners", {})
    mean = runners.get("episode_return_mean", runners.get("episode_reward_mean"))
    if mean is None:
        raise RuntimeError("expected the mean return of the episodes that ended, found none: no worker answered within "
                           "sample_timeout_s, or no episode ended (a larger train_batch_size lets more end)")
    return float(mean)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--environment", default="CartPole")
    arguments.add_argument("--workers", type=int, default=2)
    arguments.add_argument("--iterations", type=int, default=20)
    asked = arguments.parse_args()
    ray.init(num_cpus=asked.workers + 1, include_dashboard=False)
    algorithm = make_algorithm(asked.environment, asked.workers)
    for i in range(asked.iterations):
        print(f"iteration {i}: mean return {mean_return(algorithm.train()):.1f}", flush=True)
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
