#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PPO on CartPole in JAX with everything on the device, beside `hearth gates --gate 10cart,10gpu`.

    perf/peers/jax_ppo.py --seeds 3

The environments are JAX as well, so that a whole iteration (8 x 32 steps, 20 epochs of one batch) is one
compiled call: what a GPU can do where a game's simulation runs on it, too. The dynamics are Gymnasium's
CartPole-v1, the settings rl-zoo's. One line for each run: seconds to compile, steps and seconds to a mean
return of 475 over 20 episodes. Needs jax 0.4, and nothing else.
"""

import argparse
import functools
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

AGENTS, HORIZON, EPOCHS = 8, 32, 20
STEPS, WINDOW, BAR = 100_000, 20, 475.0
GAMMA, LAMBDA, RATE, CLIP, VALUE_WEIGHT, NORM = 0.98, 0.8, 1e-3, 0.2, 0.5, 0.5


class Carts(NamedTuple):
    state: jnp.ndarray  # [agents, 4]: place, speed, angle, turning
    age: jnp.ndarray
    ages: jnp.ndarray  # of the last WINDOW episodes, 0: there was none
    episodes: jnp.ndarray


def fresh_states(key):
    return jax.random.uniform(key, (AGENTS, 4), minval=-0.05, maxval=0.05)


def step(carts, action, key):
    """One step of all; ended ones begin anew. Also: what was seen last, whether it ended, and how."""
    place, speed, angle, turning = carts.state.T
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * turning**2 * jnp.sin(angle)) / 1.1
    turn = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    pull = push - 0.05 * turn * jnp.cos(angle) / 1.1
    state = jnp.stack([place + 0.02 * speed, speed + 0.02 * pull, angle + 0.02 * turning, turning + 0.02 * turn], 1)
    age = carts.age + 1
    falls = (jnp.abs(state[:, 0]) > 2.4) | (jnp.abs(state[:, 2]) > 12 * jnp.pi / 180)
    ends = falls | (age >= 500)

    def remember(carry, one):
        ages, episodes = carry
        ended, its_age = one
        ages = jnp.where(ended, ages.at[episodes % WINDOW].set(its_age), ages)
        return (ages, episodes + ended), None

    (ages, episodes), _ = jax.lax.scan(remember, (carts.ages, carts.episodes), (ends, age))
    after = jnp.where(ends[:, None], fresh_states(key), state)
    return Carts(after, jnp.where(ends, 0, age), ages, episodes), state, ends, falls


def network(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def fresh_network(key, widths, last_gain):
    layers = []
    for i, (fan_in, fan_out) in enumerate(zip(widths, widths[1:])):
        gain = last_gain if i == len(widths) - 2 else 2**0.5
        key, one = jax.random.split(key)
        layers.append((jax.nn.initializers.orthogonal(gain)(one, (fan_in, fan_out)), jnp.zeros(fan_out)))
    return layers


def loss_of(params, batch, clip):
    seen, action, log_before, advantage, target = batch
    log_all = jax.nn.log_softmax(network(params["actor"], seen))
    log_now = jnp.take_along_axis(log_all, action[:, None], 1)[:, 0]
    advantage = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)
    ratio = jnp.exp(log_now - log_before)
    policy = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage).mean()
    value = ((network(params["critic"], seen)[:, 0] - target) ** 2).mean()
    return policy + VALUE_WEIGHT * value


def adam(params, moments, gradients, rate, count):
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree_util.tree_leaves(gradients)))
    gradients = jax.tree_util.tree_map(lambda g: g * jnp.minimum(1.0, NORM / (norm + 1e-6)), gradients)
    first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradients)
    params = jax.tree_util.tree_map(
        lambda p, m, v: p - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-5),
        params, first, second)
    return params, (first, second)


@functools.partial(jax.jit, donate_argnums=(0,))
def iterate(run):
    carts, params, moments, updates, key, steps = run
    left = 1 - steps / STEPS

    def act(carry, key):
        carts = carry
        choice, again = jax.random.split(key)
        logits = network(params["actor"], carts.state)
        action = jax.random.categorical(choice, logits)
        log = jnp.take_along_axis(jax.nn.log_softmax(logits), action[:, None], 1)[:, 0]
        after, last, ends, falls = step(carts, action, again)
        # What was cut off counts on with the value of what was seen last.
        reward = 1 + GAMMA * jnp.where(ends & ~falls, network(params["critic"], last)[:, 0], 0)
        value = network(params["critic"], carts.state)[:, 0]
        return after, (carts.state, action, log, reward, value, ends)

    key, one = jax.random.split(key)
    carts, (seen, action, log, reward, value, ends) = jax.lax.scan(act, carts, jax.random.split(one, HORIZON))

    def backwards(carry, one):
        advantage, next_value = carry
        reward, value, end = one
        delta = reward + GAMMA * next_value * (1 - end) - value
        advantage = delta + GAMMA * LAMBDA * (1 - end) * advantage
        return (advantage, value), advantage

    last_value = network(params["critic"], carts.state)[:, 0]
    _, advantage = jax.lax.scan(backwards, (jnp.zeros(AGENTS), last_value),
                                (reward, value, ends.astype(jnp.float32)), reverse=True)
    batch = jax.tree_util.tree_map(lambda x: x.reshape((AGENTS * HORIZON,) + x.shape[2:]),
                                   (seen, action, log, advantage, advantage + value))

    def learn(carry, _):
        params, moments, updates = carry
        gradients = jax.grad(loss_of)(params, batch, CLIP * left)
        params, moments = adam(params, moments, gradients, RATE * left, updates + 1)
        return (params, moments, updates + 1), None

    (params, moments, updates), _ = jax.lax.scan(learn, (params, moments, updates), None, EPOCHS)
    return carts, params, moments, updates, key, steps + AGENTS * HORIZON


def begin(seed):
    key = jax.random.PRNGKey(seed)
    key, a, b, c = jax.random.split(key, 4)
    params = {"actor": fresh_network(a, (4, 64, 64, 2), 0.01), "critic": fresh_network(b, (4, 64, 64, 1), 1.0)}
    zeros = jax.tree_util.tree_map(jnp.zeros_like, params)
    carts = Carts(fresh_states(c), jnp.zeros(AGENTS, jnp.int32), jnp.zeros(WINDOW), jnp.int32(0))
    return carts, params, (zeros, jax.tree_util.tree_map(jnp.zeros_like, params)), jnp.int32(0), key, jnp.int32(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    print(f"jax {jax.__version__} on {jax.devices()[0]}")
    before = time.perf_counter()
    jax.block_until_ready(iterate(begin(0)))
    print(f"compiled, with one run, in {time.perf_counter() - before:.1f} s")
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        run = begin(seed)
        started, cpu, bar = time.perf_counter(), time.process_time(), "-"
        while int(run[5]) < STEPS:
            run = iterate(run)
            carts = run[0]
            if int(carts.episodes) >= WINDOW and float(carts.ages.mean()) >= BAR:
                bar = int(run[5])
                break
        seconds = time.perf_counter() - started
        print(f"cart seed {seed}: bar at {bar} steps, {int(run[5])} steps in {seconds:.2f} s, "
              f"{time.process_time() - cpu:.1f} CPU s, {int(run[5]) / seconds:.0f} steps a second", flush=True)


if __name__ == "__main__":
    main()
