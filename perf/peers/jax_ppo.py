#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""PPO in JAX with everything on the device, beside `hearth gates --gate 10cart,10gpu,10gpuacrobot,10gpupendulum`.

    perf/peers/jax_ppo.py --seeds 3                    CartPole until 475
    perf/peers/jax_ppo.py --task acrobot --seeds 3     Acrobot until -100
    perf/peers/jax_ppo.py --task pendulum --seeds 3    Pendulum until -200

The environments are JAX as well, so that a whole iteration (rollout, advantages, all epochs) is one compiled call: the
best case for a game whose simulation runs on the GPU. The dynamics are Gymnasium's, the settings those of sb3.py. One
line for each run: steps and seconds until the mean return of 20 episodes is at the bar, without compilation. Needs jax
0.4, and nothing else.
"""

import argparse
import functools
import math
import time
from typing import Any, Callable, NamedTuple

import jax
import jax.numpy as jnp

EPISODES = 20  # over which returns are averaged
MAX_GRAD_NORM = 0.5


class Settings(NamedTuple):
    n_agents: int
    n_steps: int
    n_minibatches: int
    n_epochs: int
    gamma: float
    gae_lambda: float
    decays: bool  # learning rate and clip range decay linearly to 0
    vf_coef: float = 0.5  # of the squared error
    learning_rate: float = 1e-3
    clip_range: float = 0.2


class Task(NamedTuple):
    reset: Callable  # (key, n_agents) -> states [n_agents, n]
    step: Callable   # (states, actions) -> states, rewards, terminated: [n_agents, ...]
    observe: Callable
    observation_size: int
    n_actions: int   # discrete actions; 0: one continuous action
    max_episode_steps: int
    bar: float
    steps: int
    settings: Settings


# --- The tasks ---


def cart_step(state, action):
    position, velocity, angle, angular_velocity = state.T
    force = jnp.where(action == 1, 10.0, -10.0)
    push = (force + 0.05 * angular_velocity**2 * jnp.sin(angle)) / 1.1
    angular_acceleration = (9.8 * jnp.sin(angle) - jnp.cos(angle) * push) / (
        0.5 * (4 / 3 - 0.1 * jnp.cos(angle) ** 2 / 1.1))
    acceleration = push - 0.05 * angular_acceleration * jnp.cos(angle) / 1.1
    state = jnp.stack([position + 0.02 * velocity, velocity + 0.02 * acceleration, angle + 0.02 * angular_velocity,
                       angular_velocity + 0.02 * angular_acceleration], 1)
    falls = (jnp.abs(state[:, 0]) > 2.4) | (jnp.abs(state[:, 2]) > 12 * math.pi / 180)
    return state, jnp.ones(len(state)), falls


def wrapped(angle):
    return (angle + math.pi) % (2 * math.pi) - math.pi


def acrobot_derivatives(state, torque):
    """Links of length and mass 1, centres of mass in their middles, moments of inertia 1 ("book" dynamics)."""
    a, b, da, db = state.T
    d1 = 0.25 + (1 + 0.25 + jnp.cos(b)) + 2
    d2 = 0.25 + 0.5 * jnp.cos(b) + 1
    phi2 = 0.5 * 9.8 * jnp.cos(a + b - math.pi / 2)
    phi1 = (-0.5 * db**2 * jnp.sin(b) - db * da * jnp.sin(b) + 1.5 * 9.8 * jnp.cos(a - math.pi / 2) + phi2)
    ddb = (torque + d2 / d1 * phi1 - 0.5 * da**2 * jnp.sin(b) - phi2) / (0.25 + 1 - d2**2 / d1)
    return jnp.stack([da, db, -(d2 * ddb + phi1) / d1, ddb], 1)


def acrobot_step(state, action):
    torque, dt = action - 1.0, 0.2
    k1 = acrobot_derivatives(state, torque)
    k2 = acrobot_derivatives(state + dt / 2 * k1, torque)
    k3 = acrobot_derivatives(state + dt / 2 * k2, torque)
    k4 = acrobot_derivatives(state + dt * k3, torque)
    a, b, da, db = (state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)).T
    a, b = wrapped(a), wrapped(b)
    da, db = jnp.clip(da, -4 * math.pi, 4 * math.pi), jnp.clip(db, -9 * math.pi, 9 * math.pi)
    is_up = -jnp.cos(a) - jnp.cos(a + b) > 1
    return jnp.stack([a, b, da, db], 1), jnp.where(is_up, 0.0, -1.0), is_up


def observe_acrobot(state):
    a, b, da, db = state.T
    return jnp.stack([jnp.cos(a), jnp.sin(a), jnp.cos(b), jnp.sin(b), da, db], 1)


def reset_pendulum(key, n_agents):
    return jax.random.uniform(key, (n_agents, 2), minval=-1.0) * jnp.array([math.pi, 1.0])


def pendulum_step(state, action):
    angle, speed = state.T
    torque = jnp.clip(action, -2, 2)
    cost = wrapped(angle) ** 2 + 0.1 * speed**2 + 0.001 * torque**2
    speed = jnp.clip(speed + (15 * jnp.sin(angle) + 3 * torque) * 0.05, -8, 8)
    return jnp.stack([angle + 0.05 * speed, speed], 1), -cost, jnp.zeros(len(state), bool)


def observe_pendulum(state):
    angle, speed = state.T
    return jnp.stack([jnp.cos(angle), jnp.sin(angle), speed], 1)


def reset_near_zero(size):
    return lambda key, n_agents: jax.random.uniform(key, (n_agents, 4), minval=-size, maxval=size)


TASKS = {
    "cart": Task(reset_near_zero(0.05), cart_step, lambda s: s, 4, 2, 500, 475, 100_000,
                 Settings(8, 32, 1, 20, 0.98, 0.8, True)),
    "acrobot": Task(reset_near_zero(0.1), acrobot_step, observe_acrobot, 6, 3, 500, -100, 200_000,
                    Settings(16, 128, 8, 4, 0.99, 0.94, False)),
    "pendulum": Task(reset_pendulum, pendulum_step, observe_pendulum, 3, 0, 200, -200, 300_000,
                     Settings(4, 1024, 64, 10, 0.9, 0.95, False)),
}


# --- The learner ---


def network(params, x):
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def init_network(key, sizes, output_gain):
    layers = []
    for i, (fan_in, fan_out) in enumerate(zip(sizes, sizes[1:])):
        gain = output_gain if i == len(sizes) - 2 else 2**0.5
        key, one = jax.random.split(key)
        layers.append((jax.nn.initializers.orthogonal(gain)(one, (fan_in, fan_out)), jnp.zeros(fan_out)))
    return layers


def log_prob(task, params, observation, action):
    head = network(params["actor"], observation)
    if task.n_actions:
        return jnp.take_along_axis(jax.nn.log_softmax(head), action[:, None], 1)[:, 0]
    log_std = params["log_std"]
    return -0.5 * ((action - head[:, 0]) / jnp.exp(log_std)) ** 2 - log_std - 0.5 * math.log(2 * math.pi)


def sample(task, params, observation, key):
    head = network(params["actor"], observation)
    if task.n_actions:
        return jax.random.categorical(key, head)
    return head[:, 0] + jnp.exp(params["log_std"]) * jax.random.normal(key, (len(observation),))


def loss_of(params, batch, task, clip):
    observation, action, log_before, advantage, target = batch
    log_now = log_prob(task, params, observation, action)
    advantage = (advantage - advantage.mean()) / (advantage.std(ddof=1) + 1e-8)
    ratio = jnp.exp(log_now - log_before)
    policy = -jnp.minimum(ratio * advantage, jnp.clip(ratio, 1 - clip, 1 + clip) * advantage).mean()
    value = ((network(params["critic"], observation)[:, 0] - target) ** 2).mean()
    return policy + task.settings.vf_coef * value


def adam(params, moments, gradients, rate, count):
    norm = jnp.sqrt(sum((g**2).sum() for g in jax.tree_util.tree_leaves(gradients)))
    gradients = jax.tree_util.tree_map(lambda g: g * jnp.minimum(1.0, MAX_GRAD_NORM / (norm + 1e-6)), gradients)
    first = jax.tree_util.tree_map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], gradients)
    second = jax.tree_util.tree_map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], gradients)
    params = jax.tree_util.tree_map(
        lambda p, m, v: p - rate * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-5),
        params, first, second)
    return params, (first, second)


class Worlds(NamedTuple):
    state: jnp.ndarray  # [n_agents, n]
    age: jnp.ndarray
    sums: jnp.ndarray   # of rewards in the current episodes
    returns: jnp.ndarray  # of the last EPISODES episodes
    episodes: jnp.ndarray


class Run(NamedTuple):
    worlds: Worlds
    params: Any
    moments: Any
    updates: jnp.ndarray
    key: jnp.ndarray
    steps: jnp.ndarray


def step(task, worlds, action, key):
    """Steps all worlds and resets ended ones. Also returns reward, last observation, ended and terminated."""
    state, reward, terminated = task.step(worlds.state, action)
    age, sums = worlds.age + 1, worlds.sums + reward
    ends = terminated | (age >= task.max_episode_steps)

    def remember(carry, one):
        returns, episodes = carry
        ended, its_sum = one
        returns = jnp.where(ended, returns.at[episodes % EPISODES].set(its_sum), returns)
        return (returns, episodes + ended), None

    (returns, episodes), _ = jax.lax.scan(remember, (worlds.returns, worlds.episodes), (ends, sums))
    after = jnp.where(ends[:, None], task.reset(key, len(age)), state)
    worlds = Worlds(after, jnp.where(ends, 0, age), jnp.where(ends, 0.0, sums), returns, episodes)
    return worlds, reward, task.observe(state), ends, terminated


@functools.partial(jax.jit, static_argnums=(0,), donate_argnums=(1,))
def iterate(task, run):
    """One iteration: rollout, advantages, all epochs."""
    s = task.settings
    left = 1 - run.steps / task.steps if s.decays else 1.0
    params = run.params

    def value_of(observation):
        return network(params["critic"], observation)[:, 0]

    def act(worlds, key):
        choice, again = jax.random.split(key)
        observation = task.observe(worlds.state)
        action = sample(task, params, observation, choice)
        after, reward, last, ends, terminated = step(task, worlds, action, again)
        # Truncated episodes bootstrap with the value of their last observation.
        reward = reward + s.gamma * jnp.where(ends & ~terminated, value_of(last), 0)
        log = log_prob(task, params, observation, action)
        return after, (observation, action, log, reward, value_of(observation), ends)

    key, acts, shuffles = jax.random.split(run.key, 3)
    worlds, (observation, action, log, reward, value, ends) = jax.lax.scan(act, run.worlds,
                                                                           jax.random.split(acts, s.n_steps))

    def backwards(carry, one):
        advantage, next_value = carry
        reward, value, end = one
        delta = reward + s.gamma * next_value * (1 - end) - value
        advantage = delta + s.gamma * s.gae_lambda * (1 - end) * advantage
        return (advantage, value), advantage

    _, advantage = jax.lax.scan(backwards, (jnp.zeros(s.n_agents), value_of(task.observe(worlds.state))),
                                (reward, value, ends.astype(jnp.float32)), reverse=True)
    samples = s.n_agents * s.n_steps
    rollout = jax.tree_util.tree_map(lambda x: x.reshape((samples,) + x.shape[2:]),
                                    (observation, action, log, advantage, advantage + value))

    def learn(carry, indices):
        params, moments, updates = carry
        batch = jax.tree_util.tree_map(lambda x: x[indices], rollout)
        gradients = jax.grad(loss_of)(params, batch, task, s.clip_range * left)
        params, moments = adam(params, moments, gradients, s.learning_rate * left, updates + 1)
        return (params, moments, updates + 1), None

    orders = jax.vmap(lambda k: jax.random.permutation(k, samples))(jax.random.split(shuffles, s.n_epochs))
    (params, moments, updates), _ = jax.lax.scan(
        learn, (params, run.moments, run.updates),
        orders.reshape(s.n_epochs * s.n_minibatches, samples // s.n_minibatches))
    return Run(worlds, params, moments, updates, key, run.steps + samples)


def begin(task, seed):
    key, a, b, c = jax.random.split(jax.random.PRNGKey(seed), 4)
    params = {"actor": init_network(a, (task.observation_size, 64, 64, max(task.n_actions, 1)), 0.01),
              "critic": init_network(b, (task.observation_size, 64, 64, 1), 1.0)}
    if not task.n_actions:
        params["log_std"] = jnp.zeros(())
    n_agents = task.settings.n_agents
    worlds = Worlds(task.reset(c, n_agents), jnp.zeros(n_agents, jnp.int32), jnp.zeros(n_agents), jnp.zeros(EPISODES),
                    jnp.int32(0))
    zeros = [jax.tree_util.tree_map(jnp.zeros_like, params) for _ in range(2)]
    return Run(worlds, params, tuple(zeros), jnp.int32(0), key, jnp.int32(0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--task", choices=TASKS, default="cart")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    task = TASKS[arguments.task]
    print(f"jax {jax.__version__} on {jax.devices()[0]}")
    before = time.perf_counter()
    jax.block_until_ready(iterate(task, begin(task, 0)))
    print(f"compiled, with one run, in {time.perf_counter() - before:.1f} s")
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        run = begin(task, seed)
        started, cpu, bar = time.perf_counter(), time.process_time(), "-"
        while int(run.steps) < task.steps:
            run = iterate(task, run)
            if int(run.worlds.episodes) >= EPISODES and float(run.worlds.returns.mean()) >= task.bar:
                bar = int(run.steps)
                break
        seconds = time.perf_counter() - started
        print(f"{arguments.task} seed {seed}: bar at {bar} steps, {int(run.steps)} steps in {seconds:.2f} s, "
              f"{time.process_time() - cpu:.1f} CPU s, {int(run.steps) / seconds:.0f} steps a second", flush=True)


if __name__ == "__main__":
    main()
