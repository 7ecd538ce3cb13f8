# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gate4 by PyTorch: DQN on CartPole with the hyperparameters of CleanRL's dqn.py.

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

STEPS, BUFFER_SIZE, LEARNING_STARTS, BATCH_SIZE = 500_000, 10_000, 10_000, 128


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
    observations = numpy.zeros((BUFFER_SIZE, 4), numpy.float32)
    next_observations = numpy.zeros((BUFFER_SIZE, 4), numpy.float32)
    actions = numpy.zeros(BUFFER_SIZE, numpy.int64)
    rewards = numpy.zeros(BUFFER_SIZE, numpy.float32)
    terminations = numpy.zeros(BUFFER_SIZE, numpy.float32)
    returns, steps_to_bar, total = collections.deque(maxlen=100), None, 0.0
    observation, _ = env.reset(seed=seed)
    for step in range(STEPS):
        epsilon = max(0.05, 1 - 0.95 * step / (0.5 * STEPS))
        if random.random() < epsilon:
            action = int(random.integers(2))
        else:
            with torch.no_grad():
                action = int(q(torch.from_numpy(observation)).argmax())
        after, reward, terminated, truncated, _ = env.step(action)
        at = step % BUFFER_SIZE
        observations[at], next_observations[at] = observation, after
        actions[at], rewards[at], terminations[at] = action, reward, terminated  # truncated episodes bootstrap
        total += reward
        observation = after
        if terminated or truncated:
            returns.append(total)
            total = 0.0
            observation, _ = env.reset()
            last = list(returns)[-20:]
            if steps_to_bar is None and len(last) == 20 and numpy.mean(last) >= 475:
                steps_to_bar = step + 1
        if step <= LEARNING_STARTS or step % 10:
            continue
        batch = random.integers(min(step + 1, BUFFER_SIZE), size=BATCH_SIZE)
        with torch.no_grad():
            best = target(torch.from_numpy(next_observations[batch])).max(dim=1).values
            q_target = torch.from_numpy(rewards[batch]) + 0.99 * best * (1 - torch.from_numpy(terminations[batch]))
        value = q(torch.from_numpy(observations[batch])).gather(1, torch.from_numpy(actions[batch])[:, None])[:, 0]
        loss = torch.nn.functional.mse_loss(value, q_target)
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
