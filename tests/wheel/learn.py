# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Trains with the installed wheel, on the CPU device: the pole stands twice as long as at first."""

import hearth

model = hearth.PPO("CartPole-v1", n_envs=8, n_steps=32, batch_size=256, n_epochs=20, gamma=0.98, gae_lambda=0.8,
                   learning_rate=1e-3, seed=0)
first, _ = hearth.evaluate_policy(model, "CartPole-v1", n_eval_episodes=10)
model.learn(20_000)
last, _ = hearth.evaluate_policy(model, "CartPole-v1", n_eval_episodes=10)
print(f"returns of CartPole: {first:.0f} before, {last:.0f} after 20,000 steps")
if last < max(2 * first, 100):
    raise SystemExit(f"expected a return of at least {max(2 * first, 100):.0f}")
