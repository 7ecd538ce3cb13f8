#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Gate4 in JAX: DQN on CartPole with the settings of CleanRL's dqn.py, many seeds at a time.

    perf/peers/jax_dqn.py --seeds 256

How many of a sound implementation's seeds pass is a number that five runs cannot tell: here the environment, the ring
and the network of all seeds are one compiled loop. A seed passes as in Gate4: a mean of 20 episodes at 475 within
350,000 steps, and the mean of the last 100 at 475 after 500,000. Needs jax 0.4, and nothing else.
"""

import argparse
import functools
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

STEPS, CAPACITY, WARMUP, BATCH, PERIOD = 500_000, 10_000, 10_000, 128, 10
WIDTHS = (4, 120, 84, 2)


class Run(NamedTuple):
    """Of one seed."""
    state: jnp.ndarray
    age: jnp.ndarray
    total: jnp.ndarray    # of the episode under way
    returns: jnp.ndarray  # of the last 100 episodes
    episodes: jnp.ndarray
    bar: jnp.ndarray      # steps; 0: not reached yet
    seen: jnp.ndarray     # the ring: [CAPACITY, 4]
    following: jnp.ndarray
    said: jnp.ndarray     # [CAPACITY, 2]: action, and whether the episode was over
    params: Any
    target: Any
    moments: Any
    key: jnp.ndarray


def cart_step(state, action):
    place, speed, angle, turning = state
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * turning**2 * jnp.sin(angle)) / 1.1
    turn = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    pull = push - 0.05 * turn * jnp.cos(angle) / 1.1
    state = jnp.stack([place + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turning, turning + 0.02 * turn])
    return state, (jnp.abs(state[0]) > 2.4) | (jnp.abs(state[2]) > 12 * jnp.pi / 180)


def cart_begin(key):
    return jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05)


def network(params, x):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def fresh_network(key):
    """As torch.nn.Linear begins."""
    layers = []
    for fan_in, fan_out in zip(WIDTHS, WIDTHS[1:]):
        key, a, b = jax.random.split(key, 3)
        most = fan_in**-0.5
        layers.append((jax.random.uniform(a, (fan_in, fan_out), minval=-most, maxval=most),
                       jax.random.uniform(b, (fan_out,), minval=-most, maxval=most)))
    return layers


def begin(seed):
    key, a, b = jax.random.split(jax.random.PRNGKey(seed), 3)
    params = fresh_network(a)
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    ring = jnp.zeros((CAPACITY, 4))
    return Run(cart_begin(b), jnp.int32(0), jnp.float32(0), jnp.zeros(100), jnp.int32(0), jnp.int32(0), ring, ring,
               jnp.zeros((CAPACITY, 2)), params, params, (zeros, zeros), key)


def step(run, at):
    """One decision, the `at`-th."""
    key, chance, choice, anew = jax.random.split(run.key, 4)
    explore = jnp.maximum(0.05, 1 - 0.95 * at / (0.5 * STEPS))
    best = network(run.params, run.state).argmax()
    action = jnp.where(jax.random.uniform(chance) < explore, jax.random.randint(choice, (), 0, 2), best)
    after, over = cart_step(run.state, action)
    age, total = run.age + 1, run.total + 1
    ends = over | (age >= 500)
    returns = jnp.where(ends, run.returns.at[run.episodes % 100].set(total), run.returns)
    episodes = run.episodes + ends
    last = jnp.where((episodes - 1 - jnp.arange(100)) % 100 < 20, returns, 0).sum() / 20
    reached = ends & (episodes >= 20) & (last >= 475) & (run.bar == 0)
    sample = (run.state, after, jnp.stack([action.astype(jnp.float32), over.astype(jnp.float32)]))
    return run._replace(state=jnp.where(ends, cart_begin(anew), after), age=jnp.where(ends, 0, age),
                        total=jnp.where(ends, 0.0, total), returns=returns, episodes=episodes,
                        bar=jnp.where(reached, at + 1, run.bar), key=key), sample


def loss_of(params, target, seen, following, said):
    wanted = 1 + 0.99 * network(target, following).max(axis=1) * (1 - said[:, 1])
    value = jnp.take_along_axis(network(params, seen), said[:, :1].astype(jnp.int32), 1)[:, 0]
    return ((value - jax.lax.stop_gradient(wanted)) ** 2).mean()


def learn(run, count):
    """The `count`-th step of Adam, from 1."""
    key, draw = jax.random.split(run.key)
    rows = jax.random.randint(draw, (BATCH,), 0, CAPACITY)
    gradients = jax.grad(loss_of)(run.params, run.target, run.seen[rows], run.following[rows], run.said[rows])
    of = jax.tree_util.tree_map
    first = of(lambda m, g: 0.9 * m + 0.1 * g, run.moments[0], gradients)
    second = of(lambda v, g: 0.999 * v + 0.001 * g * g, run.moments[1], gradients)
    params = of(lambda p, m, v: p - 2.5e-4 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8),
                run.params, first, second)
    return run._replace(params=params, moments=(first, second), key=key,
                        target=of(lambda t, p: jnp.where(count % 50 == 0, p, t), run.target, params))


@functools.partial(jax.jit, static_argnums=(1, 2), donate_argnums=(0,))
def advance(runs, blocks, learns, begins_at):
    """So many times PERIOD decisions, each followed by one step of Adam."""
    def block(i, runs):
        at = begins_at + i * PERIOD
        samples = []
        for j in range(PERIOD):
            runs, sample = jax.vmap(step, in_axes=(0, None))(runs, at + j)
            samples.append(sample)
        columns = [jnp.stack(column, 1) for column in zip(*samples)]
        ring = [jax.lax.dynamic_update_slice(old, new, (0, at % CAPACITY, 0))
                for old, new in zip((runs.seen, runs.following, runs.said), columns)]
        runs = runs._replace(seen=ring[0], following=ring[1], said=ring[2])
        if not learns:
            return runs
        return jax.vmap(learn, in_axes=(0, None))(runs, (at - WARMUP) // PERIOD + 1)
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
    runs = jax.tree_util.tree_map(jnp.copy, runs)  # nothing twice: advance() takes all of it
    runs = advance(runs, WARMUP // PERIOD, False, 0)
    every = 10_000
    for at in range(WARMUP, arguments.steps, every):
        runs = advance(runs, every // PERIOD, True, at)
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
