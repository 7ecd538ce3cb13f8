#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gate4 in JAX: DQN on CartPole with the settings of CleanRL's dqn.py, many seeds at a time.

    perf/peers/jax_dqn.py --seeds 256

Five runs cannot tell what fraction of seeds passes with a correct implementation: here the environments, replay
buffers and networks of all seeds are one compiled loop. A seed passes as in Gate4: a mean of 20 episodes at 475 within
350,000 steps, and the mean of the last 100 at 475 after 500,000. Needs jax 0.4, and nothing else.
"""

import argparse
import functools
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

STEPS, BUFFER_SIZE, LEARNING_STARTS, BATCH_SIZE, TRAIN_FREQUENCY = 500_000, 10_000, 10_000, 128, 10
SIZES = (4, 120, 84, 2)


class Run(NamedTuple):
    """State of one seed."""
    state: jnp.ndarray
    age: jnp.ndarray
    total: jnp.ndarray    # of the current episode
    returns: jnp.ndarray  # of the last 100 episodes
    episodes: jnp.ndarray
    bar: jnp.ndarray      # steps; 0: not reached yet
    observations: jnp.ndarray       # replay buffer: [BUFFER_SIZE, 4]
    next_observations: jnp.ndarray
    actions_and_dones: jnp.ndarray  # [BUFFER_SIZE, 2]: action, and whether the episode terminated
    params: Any
    target: Any
    moments: Any
    key: jnp.ndarray


def cart_step(state, action):
    position, velocity, angle, angular_velocity = state
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * angular_velocity**2 * jnp.sin(angle)) / 1.1
    angular_acceleration = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (
        0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    acceleration = push - 0.05 * angular_acceleration * jnp.cos(angle) / 1.1
    state = jnp.stack([position + 0.02 * velocity, velocity + 0.02 * acceleration, angle + 0.02 * angular_velocity,
                       angular_velocity + 0.02 * angular_acceleration])
    return state, (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 12 * jnp.pi / 180)


def cart_reset(key):
    return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)


def network(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def init_network(key):
    """Initialized like torch.nn.Linear."""
    layers = []
    for fan_in, fan_out in zip(SIZES, SIZES[1:]):
        key, a, b = jax.random.split(key, 3)
        limit = fan_in**-0.5
        layers.append((jax.random.uniform(a, (fan_in, fan_out), minval=-limit, maxval=limit),
                       jax.random.uniform(b, (fan_out,), minval=-limit, maxval=limit)))
    return layers


def begin(seed):
    key, a, b = jax.random.split(jax.random.PRNGKey(seed), 3)
    params = init_network(a)
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    buffer = jnp.zeros((BUFFER_SIZE, 4))
    return Run(cart_reset(b), jnp.int32(0), jnp.float32(0), jnp.zeros(100), jnp.int32(0), jnp.int32(0), buffer, buffer,
               jnp.zeros((BUFFER_SIZE, 2)), params, params, (zeros, zeros), key)


def step(run, at):
    """Decision number `at`."""
    key, chance, choice, anew = jax.random.split(run.key, 4)
    epsilon = jnp.maximum(0.05, 1 - 0.95 * at / (0.5 * STEPS))
    best = network(run.params, run.state).argmax()
    action = jnp.where(jax.random.uniform(chance) < epsilon, jax.random.randint(choice, (), 0, 2), best)
    after, terminated = cart_step(run.state, action)
    age, total = run.age + 1, run.total + 1
    ends = terminated | (age >= 500)
    returns = jnp.where(ends, run.returns.at[run.episodes % 100].set(total), run.returns)
    episodes = run.episodes + ends
    last = jnp.where((episodes - 1 - jnp.arange(100)) % 100 < 20, returns, 0).sum() / 20
    reached = ends & (episodes >= 20) & (last >= 475) & (run.bar == 0)
    sample = (run.state, after, jnp.stack([action.astype(jnp.float32), terminated.astype(jnp.float32)]))
    return run._replace(state=jnp.where(ends, cart_reset(anew), after), age=jnp.where(ends, 0, age),
                        total=jnp.where(ends, 0.0, total), returns=returns, episodes=episodes,
                        bar=jnp.where(reached, at + 1, run.bar), key=key), sample


def loss_of(params, target, observations, next_observations, actions_and_dones):
    q_target = 1 + 0.99 * network(target, next_observations).max(axis=1) * (1 - actions_and_dones[:, 1])
    value = jnp.take_along_axis(network(params, observations), actions_and_dones[:, :1].astype(jnp.int32), 1)[:, 0]
    return ((value - jax.lax.stop_gradient(q_target)) ** 2).mean()


def learn(run, count):
    """Adam step number `count`, from 1."""
    key, draw = jax.random.split(run.key)
    batch = jax.random.randint(draw, (BATCH_SIZE,), 0, BUFFER_SIZE)
    gradients = jax.grad(loss_of)(run.params, run.target, run.observations[batch], run.next_observations[batch],
                                  run.actions_and_dones[batch])
    of = jax.tree_util.tree_map
    first = of(lambda m, g: 0.9 * m + 0.1 * g, run.moments[0], gradients)
    second = of(lambda v, g: 0.999 * v + 0.001 * g * g, run.moments[1], gradients)
    params = of(lambda p, m, v: p - 2.5e-4 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8),
                run.params, first, second)
    return run._replace(params=params, moments=(first, second), key=key,
                        target=of(lambda t, p: jnp.where(count % 50 == 0, p, t), run.target, params))


@functools.partial(jax.jit, static_argnums=(1, 2), donate_argnums=(0,))
def advance(runs, blocks, learns, begins_at):
    """Runs `blocks` times TRAIN_FREQUENCY decisions, each followed by one step of Adam."""
    def block(i, runs):
        at = begins_at + i * TRAIN_FREQUENCY
        samples = []
        for j in range(TRAIN_FREQUENCY):
            runs, sample = jax.vmap(step, in_axes=(0, None))(runs, at + j)
            samples.append(sample)
        columns = [jnp.stack(column, 1) for column in zip(*samples)]
        buffer = [jax.lax.dynamic_update_slice(old, new, (0, at % BUFFER_SIZE, 0))
                for old, new in zip((runs.observations, runs.next_observations, runs.actions_and_dones), columns)]
        runs = runs._replace(observations=buffer[0], next_observations=buffer[1], actions_and_dones=buffer[2])
        if not learns:
            return runs
        return jax.vmap(learn, in_axes=(0, None))(runs, (at - LEARNING_STARTS) // TRAIN_FREQUENCY + 1)
    return jax.lax.fori_loop(0, blocks, block, runs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=256)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS)
    arguments = parser.parse_args()
    jax.config.update("jax_default_matmul_precision", "highest")
    print(f"jax {jax.__version__} on {jax.devices()[0]}")
    began = time.perf_counter()
    runs = jax.vmap(begin)(jnp.arange(arguments.first, arguments.first + arguments.seeds))
    runs = jax.tree_util.tree_map(jnp.copy, runs)  # distinct buffers: advance() donates them
    runs = advance(runs, LEARNING_STARTS // TRAIN_FREQUENCY, False, 0)
    every = 10_000
    for at in range(LEARNING_STARTS, arguments.steps, every):
        runs = advance(runs, every // TRAIN_FREQUENCY, True, at)
        if (at + every) % 50_000 == 0:
            mean = runs.returns.mean(axis=1)
            print(f"{at + every} steps: mean of 100 episodes {float(mean.mean()):.1f}, at 475 with "
                  f"{int((mean >= 475).sum())}; {int((runs.bar > 0).sum())} had 20 at 475; "
                  f"{time.perf_counter() - began:.0f} s", flush=True)
    score = runs.returns.mean(axis=1)
    is_passed = (runs.bar > 0) & (runs.bar <= 350_000) & (score >= 475)
    print("last 100:", " ".join(f"{s:.0f}" for s in sorted(score.tolist())))
    print(f"{int(is_passed.sum())} of {arguments.seeds} seeds")


if __name__ == "__main__":
    main()
