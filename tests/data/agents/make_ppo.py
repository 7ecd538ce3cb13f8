#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes ppo.json: a rollout, and the weights after PPO learned from it, by PyTorch.

    apt-get install python3-torch && /usr/bin/python3 tests/data/agents/make_ppo.py

Written from the papers, apart from Hearth: a policy over a choice of 3 and two numbers, 4 agents x 8
decisions, episodes that end and are cut off, 4 minibatches, 2 epochs, Adam, gradient norm clipped.
All in f32, as on a device.
"""

import json
import pathlib

import torch
from torch import nn
from torch.distributions import Categorical, Normal

torch.manual_seed(5)
AGENTS, HORIZON, WIDTH, HIDDEN = 4, 8, 5, 8
GAMMA, LAMBDA, CLIP, ENTROPY, VALUE, NORM, RATE = 0.97, 0.95, 0.2, 0.01, 0.5, 0.5, 3e-3
MINIBATCHES, EPOCHS = 4, 2


def layer(inputs, outputs, gain):
    made = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(made.weight, gain)
    nn.init.zeros_(made.bias)
    return made


def net(outputs, gain):
    root = 2**0.5
    return nn.Sequential(
        layer(WIDTH, HIDDEN, root), nn.Tanh(), layer(HIDDEN, HIDDEN, root), nn.Tanh(),
        layer(HIDDEN, outputs, gain),
    )  # fmt: skip


# The head starts larger than PPO's usual 0.01, so that its gradients matter.
actor, critic = net(5, 0.5), net(1, 1.0)
log_deviation = nn.Parameter(torch.full((2,), -0.5))


def policy(seen):
    head = actor(seen)
    return Categorical(logits=head[:, :3]), Normal(head[:, 3:], log_deviation.exp())


def log_probability(parts, action):
    return parts[0].log_prob(action[:, 0]) + parts[1].log_prob(action[:, 1:]).sum(1)


def weights():
    named = {}
    for name, module in (("actor", actor), ("critic", critic)):
        for index, place in ((0, "0"), (2, "1"), (4, "head")):
            for what in ("weight", "bias"):
                named[f"{name}.{place}.{what}"] = getattr(module[index], what)
    named["actor.log_std"] = log_deviation
    return {k: v.detach().flatten().tolist() for k, v in named.items()}


def main():
    data = {"torch": torch.__version__, "first": weights()}
    observations = torch.randn(HORIZON, AGENTS, WIDTH)
    following = torch.randn(HORIZON, AGENTS, WIDTH)
    rewards = torch.randn(HORIZON, AGENTS)
    ends = torch.zeros(HORIZON, AGENTS)
    ends[2, 0], ends[5, 1], ends[4, 2], ends[7, 3] = 1, 2, 1, 1
    # What follows is the next observation, unless the episode ended there.
    for t in range(HORIZON - 1):
        for n in range(AGENTS):
            if ends[t, n] == 0:
                following[t, n] = observations[t + 1, n]

    flat = observations.reshape(-1, WIDTH)
    with torch.no_grad():
        parts = policy(flat)
        actions = torch.cat([parts[0].sample()[:, None].float(), parts[1].sample()], 1)
        # As of an older policy, so that ratios are not one and some are clipped.
        old = log_probability(parts, actions) + 0.15 * torch.randn(HORIZON * AGENTS)
        values = critic(flat).reshape(HORIZON, AGENTS)
        next_values = critic(following.reshape(-1, WIDTH)).reshape(HORIZON, AGENTS)
        advantages = torch.zeros(HORIZON, AGENTS)
        for n in range(AGENTS):
            running = 0.0
            for t in reversed(range(HORIZON)):
                bootstrap = 0.0 if ends[t, n] == 1 else next_values[t, n]
                delta = rewards[t, n] + GAMMA * bootstrap - values[t, n]
                running = delta + (GAMMA * LAMBDA * running if ends[t, n] == 0 else 0.0)
                advantages[t, n] = running
        returns = advantages + values

    data |= {
        "observation": observations, "next_observation": following, "reward": rewards, "done_kind": ends,
        "decision": actions, "log_prob": old, "advantage": advantages, "returns": returns,
    }  # fmt: skip
    order = torch.cat([torch.randperm(HORIZON * AGENTS) for _ in range(EPOCHS)])
    data["order"] = order
    params = [*actor.parameters(), *critic.parameters(), log_deviation]
    optimizer = torch.optim.Adam(params, lr=RATE, eps=1e-5)
    diagnostics = []
    count = HORIZON * AGENTS // MINIBATCHES
    for epoch in range(EPOCHS):
        for m in range(MINIBATCHES):
            at = (epoch * MINIBATCHES + m) * count
            pick = order[at : at + count]
            parts = policy(flat[pick])
            advantage = advantages.flatten()[pick]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            log_ratio = log_probability(parts, actions[pick]) - old[pick]
            ratio = log_ratio.exp()
            losses = torch.max(-advantage * ratio, -advantage * ratio.clamp(1 - CLIP, 1 + CLIP))
            entropy = (parts[0].entropy() + parts[1].entropy().sum(1)).mean()
            error = 0.5 * (critic(flat[pick])[:, 0] - returns.flatten()[pick]).pow(2).mean()
            loss = losses.mean() - ENTROPY * entropy + VALUE * error
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(params, NORM)
            optimizer.step()
            with torch.no_grad():
                kl = (ratio - 1 - log_ratio).mean()
                clipped = ((ratio - 1).abs() > CLIP).float().mean()
            diagnostics.append([float(x) for x in (loss, losses.mean(), error, entropy, kl, clipped, norm)])
        data[f"after_epoch_{epoch + 1}"] = weights()
    data["diagnostics"] = torch.tensor(diagnostics)
    listed = {k: v.flatten().tolist() if torch.is_tensor(v) else v for k, v in data.items()}
    path = pathlib.Path(__file__).with_name("ppo.json")
    rounded = json.loads(json.dumps(listed), parse_float=lambda s: float(f"{float(s):.9g}"))
    path.write_text(json.dumps(rounded) + "\n")


main()
