#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PettingZoo's Connect Four, learned by self-play; beside the rating, games against a player that moves at random.

    pip install pettingzoo pygame-ce
    python connect_four.py --steps 1000000 --log runs/four
    hearth watch runs/four/run.jsonl
"""

import argparse

import numpy as np
from pettingzoo.classic import connect_four_v3
from pettingzoo.utils.conversions import turn_based_aec_to_parallel

import hearth

#: Of PPO.  Games are short and their reward comes at the end.
SETTINGS = {"n_steps": 128, "batch_size": 512, "n_epochs": 4, "learning_rate": 1e-3, "gamma": 0.99, "ent_coef": 0.01,
            "network": {"kind": "mlp", "hidden_sizes": [128, 128]}}


def make_game():
    # Both agents are asked in each turn; the one that waits has a mask that allows nothing.
    return turn_based_aec_to_parallel(connect_four_v3.env())


def play(model, n_games, seed=0):
    """Games against random moves, each side first in half of them; returns wins, draws and losses."""
    env, random = connect_four_v3.env(), np.random.default_rng(seed)
    results = {1: 0, 0: 0, -1: 0}
    for game in range(n_games):
        env.reset(seed=seed + game)
        own = env.possible_agents[game % 2]
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if agent == own and (terminated or truncated):
                results[int(np.sign(reward))] += 1
            if terminated or truncated:
                env.step(None)
            elif agent == own:
                env.step(int(model.predict(observation, deterministic=True)[0]))
            else:
                env.step(int(random.choice(np.flatnonzero(observation["action_mask"]))))
    return results[1], results[0], results[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", help="a folder")
    arguments = parser.parse_args()

    games = hearth.SelfPlay(make_game, n_envs=16, save_steps=50_000, swap_steps=10_000, seed=arguments.seed)
    model = hearth.PPO(games, seed=arguments.seed, **SETTINGS)
    print("steps,elo,wins,draws,losses of 200 games")

    def report(model):
        if model.num_timesteps % 102_400 == 0:
            print(model.num_timesteps, f"{games.elo:.0f}", *play(model, 200), sep=",", flush=True)

    model.learn(arguments.steps, report, log=arguments.log)


if __name__ == "__main__":
    main()
