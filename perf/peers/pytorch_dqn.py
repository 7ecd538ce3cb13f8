# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gate4 by PyTorch: DQN on CartPole with the settings of CleanRL's dqn.py, written anew.

    pytorch_dqn.py [--seeds N] [--first SEED]

Prints for each seed after how many steps the mean return of 20 episodes was 475, and that of the last 100 episodes
after 500,000 steps.  Needs torch, numpy and gymnasium.
"""

import argparse
import collections
import time

import gymnasium
import numpy
import torch

STEPS, CAPACITY, WARMUP, BATCH = 500_000, 10_000, 10_000, 128


def network():
    return torch.nn.Sequential(torch.nn.Linear(4, 120), torch.nn.ReLU(), torch.nn.Linear(120, 84), torch.nn.ReLU(),
                               torch.nn.Linear(84, 2))


def run(seed):
    torch.manual_seed(seed)
    random = numpy.random.default_rng(seed)
    env = gymnasium.make("CartPole-v1")
    q, target = network(), network()
    target.load_state_dict(q.state_dict())
    optimizer = torch.optim.Adam(q.parameters(), lr=2.5e-4)
    observations = numpy.zeros((CAPACITY, 4), numpy.float32)
    following = numpy.zeros((CAPACITY, 4), numpy.float32)
    actions = numpy.zeros(CAPACITY, numpy.int64)
    rewards = numpy.zeros(CAPACITY, numpy.float32)
    ends = numpy.zeros(CAPACITY, numpy.float32)
    returns, steps_to_bar, total = collections.deque(maxlen=100), None, 0.0
    observation, _ = env.reset(seed=seed)
    for step in range(STEPS):
        explore = max(0.05, 1 - 0.95 * step / (0.5 * STEPS))
        if random.random() < explore:
            action = int(random.integers(2))
        else:
            with torch.no_grad():
                action = int(q(torch.from_numpy(observation)).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        at = step % CAPACITY
        observations[at], following[at] = observation, after
        actions[at], rewards[at], ends[at] = action, reward, terminated  # an episode cut off goes on in the value
        total += reward
        observation = after
        if terminated or truncated:
            returns.append(total)
            total = 0.0
            observation, _ = env.reset()
            last = list(returns)[-20:]
            if steps_to_bar is None and len(last) == 20 and numpy.mean(last) >= 475:
                steps_to_bar = step + 1
        if step <= WARMUP or step % 10:
            continue
        rows = random.integers(min(step + 1, CAPACITY), size=BATCH)
        with torch.no_grad():
            best = target(torch.from_numpy(following[rows])).max(dim=1).values
            wanted = torch.from_numpy(rewards[rows]) + 0.99 * best * (1 - torch.from_numpy(ends[rows]))
        value = q(torch.from_numpy(observations[rows])).gather(1, torch.from_numpy(actions[rows])[:, None])[:, 0]
        loss = torch.nn.functional.mse_loss(value, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 500 == 0:
            target.load_state_dict(q.state_dict())
    return steps_to_bar, float(numpy.mean(returns))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    passed = 0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        begun = time.process_time()
        steps_to_bar, score = run(seed)
        is_passed = steps_to_bar is not None and steps_to_bar <= 350_000 and score >= 475
        passed += is_passed
        print(f"seed {seed}  {'pass' if is_passed else 'FAIL'}  bar at {steps_to_bar} steps  score {score:.1f}  "
              f"{time.process_time() - begun:.0f} CPU seconds", flush=True)
    print(f"{passed} of {arguments.seeds} seeds")


main()
