#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes learners.json: samples, and the weights after SAC, DQN and cloning learned from them, by PyTorch.

    apt-get install python3-torch && /usr/bin/python3 tests/data/agents/make_learners.py

Written from the papers, apart from Hearth, in double. Only what is drawn at random is drawn as Hearth does it
(Philox, keyed by name; docs/explanation/determinism.md): which samples a minibatch has, and the noise of SAC's actions.
Gradients of the first step are there beside the weights, for Adam hides their size.
"""

import copy
import json
import math
import pathlib

import numpy as np
import torch
from torch import nn
from torch.nn import functional

torch.set_default_dtype(torch.float64)
torch.manual_seed(7)
SAMPLES, BATCH, WIDTH, HIDDEN, STEPS, SEED = 48, 16, 3, 8, 6, 9
MASK = (1 << 64) - 1


def key_of(name, base=0):
    """The stream that belongs to a name, and to the stream that it is part of: FNV-1a, then MurmurHash3's finalizer."""
    h = 0xCBF29CE484222325
    for byte in base.to_bytes(8, "little") + len(name).to_bytes(8, "little") + name.encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        h = (h ^ h >> 33) * factor & MASK
    return h ^ h >> 33


def second_key(key):
    key = (key + 0x9E3779B97F4A7C15) & MASK
    key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9 & MASK
    return key ^ key >> 27


def uniform(key, step, count):
    """Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011): multiples of 2^-24. A seed is a place among the counters."""
    drawn = []
    counter = (step + SEED * 2654435769) & 0xFFFFFFFF
    for index in range(count):
        c, k = [index, counter, 0, 0], [key & 0xFFFFFFFF, key >> 32]
        for _ in range(10):
            p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [q >> 32 ^ c[1] ^ k[0], q & 0xFFFFFFFF, p >> 32 ^ c[3] ^ k[1], p & 0xFFFFFFFF]
            k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
        drawn.append((c[0] >> 8) * 2.0**-24)
    return np.array(drawn)


def normal(key, step, count):
    """Box and Muller, 1958."""
    u, v = uniform(key, step, count), uniform(second_key(key), step, count)
    return torch.from_numpy(np.sqrt(-2 * np.log(1 - u)) * np.cos(2 * math.pi * (v - 0.5)))


def picked(step):
    return np.minimum(np.floor(uniform(key_of("replay"), step, BATCH) * SAMPLES), SAMPLES - 1)


def layers(inputs, outputs):
    return nn.ModuleList([nn.Linear(inputs, HIDDEN), nn.Linear(HIDDEN, outputs)])


def forward(module, x):
    return module[1](torch.tanh(module[0](x)))


def named(modules, **more):
    """By Hearth's names; `0` is the hidden layer."""
    found = {}
    for prefix, module, head in modules:
        for place, layer in (("0", module[0]), (head, module[1])):
            found[f"{prefix}.{place}.weight"] = layer.weight
            found[f"{prefix}.{place}.bias"] = layer.bias
    return found | more


def listed(tensors):
    return {name: t.detach().flatten().tolist() for name, t in tensors.items()}


def gradients(tensors):
    return listed({name: t.grad for name, t in tensors.items()})


def limited(params, norm):
    nn.utils.clip_grad_norm_(params, norm)


def samples():
    ends = torch.zeros(SAMPLES)
    ends[5::9] = 1  # over
    ends[7::11] = 2  # cut off: what follows counts
    return {
        "observation": torch.randn(SAMPLES, WIDTH), "next_observation": torch.randn(SAMPLES, WIDTH),
        "reward": torch.randn(SAMPLES), "done_kind": ends,
    }  # fmt: skip


def sac():
    gamma, target_rate, rate, norm = 0.97, 0.05, 3e-3, 10
    data = samples() | {"decision": 0.95 * torch.tanh(torch.randn(SAMPLES, 2))}
    actor, critics = layers(WIDTH, 4), [layers(WIDTH + 2, 1), layers(WIDTH + 2, 1)]
    log_temperature = nn.Parameter(torch.tensor(math.log(0.7)))
    weights = named(
        [("actor", actor, "head"), ("critic1", critics[0], "head"), ("critic2", critics[1], "head")],
        **{"ent_coef.log": log_temperature},
    )
    out = {"first": listed(weights), "samples": listed(data)}
    targets = copy.deepcopy(critics)
    groups = [
        [p for c in critics for p in c.parameters()], list(actor.parameters()), [log_temperature],
    ]  # fmt: skip
    optimizers = [torch.optim.Adam(g, lr=rate, eps=1e-8) for g in groups]

    def act(observation, stream, step):
        mean, log_deviation = forward(actor, observation).chunk(2, -1)
        log_deviation = log_deviation.clamp(-5, 2)
        noise = normal(key_of("aim", key_of(stream)), step, BATCH * 2).reshape(BATCH, 2)
        u = mean + log_deviation.exp() * noise
        density = torch.distributions.Normal(mean, log_deviation.exp()).log_prob(u)
        return torch.tanh(u), (density - 2 * (math.log(2) - u - functional.softplus(-2 * u))).sum(-1)

    def judge(critic, observation, action):
        return forward(critic, torch.cat([observation, action], -1))[:, 0]

    losses = []
    for step in range(STEPS):
        b = {k: v[picked(step)] for k, v in data.items()}
        temperature = log_temperature.detach().exp()
        with torch.no_grad():
            action, log_probability = act(b["next_observation"], "learn.next", step)
            following = torch.min(*(judge(t, b["next_observation"], action) for t in targets))
            following = following - temperature * log_probability
            wanted = b["reward"] + gamma * torch.where(b["done_kind"] == 1, 0.0, following)
        critic_loss = 0.5 * sum(
            (judge(c, b["observation"], b["decision"]) - wanted).pow(2).mean() for c in critics
        )
        action, log_probability = act(b["observation"], "learn.now", step)
        judged = torch.min(*(judge(c, b["observation"], action) for c in critics))
        actor_loss = (temperature * log_probability - judged).mean()
        temperature_loss = -log_temperature * (log_probability.detach().mean() - 2)
        for group, loss in zip(groups, (critic_loss, actor_loss, temperature_loss)):
            for p, g in zip(group, torch.autograd.grad(loss, group)):
                p.grad = g
            limited(group, norm)
        if step == 0:
            out["gradients"] = gradients(weights)
        losses.append([critic_loss.item(), actor_loss.item(), temperature.item()])
        for o in optimizers:
            o.step()
        with torch.no_grad():
            for target, critic in zip(targets, critics):
                for t, c in zip(target.parameters(), critic.parameters()):
                    t.lerp_(c, target_rate)
    wanted = listed(weights) | listed(
        named([("target.critic1", targets[0], "head"), ("target.critic2", targets[1], "head")])
    )
    return out | {"losses": losses, "after": wanted}


def dqn():
    """Double, dueling, Huber."""
    gamma, rate, norm, period, choices = 0.97, 2e-3, 10, 4, 4
    data = samples() | {"decision": torch.randint(choices, (SAMPLES, 1))}
    net = nn.ModuleDict({"0": nn.Linear(WIDTH, HIDDEN), "value": nn.Linear(HIDDEN, 1), "move": nn.Linear(HIDDEN, choices)})

    def values(module, observation):
        features = torch.tanh(module["0"](observation))
        advantage = module["move"](features)
        return module["value"](features) + advantage - advantage.mean(-1, keepdim=True)

    names = {"0": "q.0", "value": "q.value", "move": "q.choices.move"}
    weights = {f"{names[k]}.{w}": getattr(layer, w) for k, layer in net.items() for w in ("weight", "bias")}
    out = {"first": listed(weights), "samples": listed(data)}
    target = copy.deepcopy(net)
    params = list(net.parameters())
    optimizer = torch.optim.Adam(params, lr=rate, eps=1e-8)
    losses = []
    for step in range(STEPS):
        b = {k: v[picked(step)] for k, v in data.items()}
        with torch.no_grad():
            best = values(net, b["next_observation"]).argmax(-1, keepdim=True)
            following = values(target, b["next_observation"]).gather(-1, best)[:, 0]
            wanted = b["reward"] + gamma * torch.where(b["done_kind"] == 1, 0.0, following)
        value = values(net, b["observation"]).gather(-1, b["decision"])[:, 0]
        loss = functional.smooth_l1_loss(value, wanted)
        optimizer.zero_grad()
        loss.backward()
        limited(params, norm)
        if step == 0:
            out["gradients"] = gradients(weights)
        losses.append(loss.item())
        optimizer.step()
        if (step + 1) % period == 0:
            target.load_state_dict(net.state_dict())
    return out | {"losses": losses, "after": listed(weights)}


def clone():
    """A choice of 3 and two numbers: negative log-likelihood, or cross-entropy and squared distance."""
    rate, norm = 3e-3, 0.5
    data = {"observation": torch.randn(SAMPLES, WIDTH)}
    data["action"] = torch.cat([torch.randint(3, (SAMPLES, 1)).double(), torch.rand(SAMPLES, 2) * 2 - 1], -1)
    first = layers(WIDTH, 5)
    out = {"samples": listed(data)}
    for kind in ("likelihood", "squared"):
        net, log_deviation = copy.deepcopy(first), nn.Parameter(torch.full((2,), -0.5))
        weights = named([("actor", net, "head")], **{"actor.log_std": log_deviation})
        out["first"] = listed(weights)
        params = list(net.parameters()) + ([log_deviation] if kind == "likelihood" else [])
        optimizer = torch.optim.Adam(params, lr=rate, eps=1e-8)
        losses = []
        for step in range(STEPS):
            b = {k: v[picked(step)] for k, v in data.items()}
            head = forward(net, b["observation"])
            choice, numbers = b["action"][:, 0].long(), b["action"][:, 1:]
            if kind == "likelihood":
                density = torch.distributions.Normal(head[:, 3:], log_deviation.exp())
                likelihood = torch.distributions.Categorical(logits=head[:, :3]).log_prob(choice)
                loss = -(likelihood + density.log_prob(numbers).sum(-1)).mean()
            else:
                loss = functional.cross_entropy(head[:, :3], choice) + functional.mse_loss(head[:, 3:], numbers)
            optimizer.zero_grad()
            loss.backward()
            limited(params, norm)
            losses.append(loss.item())
            optimizer.step()
        out[kind] = {"losses": losses, "after": listed(weights)}
    return out


def main():
    data = {"torch": torch.__version__, "sac": sac(), "dqn": dqn(), "clone": clone()}
    rounded = json.loads(json.dumps(data), parse_float=lambda s: float(f"{float(s):.9g}"))
    pathlib.Path(__file__).with_name("learners.json").write_text(json.dumps(rounded) + "\n")


main()
