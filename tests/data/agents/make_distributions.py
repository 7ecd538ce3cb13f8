#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes distributions.json: what torch.distributions says of small policies, in double.

    apt-get install python3-torch && /usr/bin/python3 tests/data/agents/make_distributions.py

The policy: a masked choice of 4, numbers [2], a choice of 3.  Heads are [4 + 2 + 3], side by side.
"""

import json
import math
import pathlib

import numpy as np
import torch
from torch.distributions import Categorical, Normal, TransformedDistribution, kl_divergence
from torch.distributions.transforms import TanhTransform

torch.set_default_dtype(torch.float64)
torch.manual_seed(11)
ROWS = 5


def masked(logits, mask):
    return torch.where(mask > 0, logits, torch.tensor(-1e8))


def parts(head, mask, log_deviation):
    return (
        Categorical(logits=masked(head[:, :4], mask)),
        Normal(head[:, 4:6], log_deviation.exp().expand(ROWS, 2)),
        Categorical(logits=head[:, 6:]),
    )


def tanh_entropy(mean, deviation):
    """By brute force: -integral of p log p over a fine grid of the number before tanh."""
    u = np.linspace(mean - 12 * deviation, mean + 12 * deviation, 200001)
    log_p = -0.5 * ((u - mean) / deviation) ** 2 - math.log(deviation * math.sqrt(2 * math.pi))
    slope = 2 * (math.log(2) - u - np.logaddexp(0, -2 * u))
    return float(np.trapz(-np.exp(log_p) * (log_p - slope), u))


def main():
    head, other = torch.randn(ROWS, 9) * 1.5, torch.randn(ROWS, 9)
    mask = torch.tensor(
        [[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 1], [1, 1, 0, 0]], dtype=torch.float64
    )
    log_deviation, other_deviation = torch.tensor([-0.7, 0.2]), torch.tensor([0.1, -0.3])
    p, q = parts(head, mask, log_deviation), parts(other, mask, other_deviation)
    first = torch.tensor([2.0, 3.0, 1.0, 3.0, 0.0])
    last = torch.tensor([0.0, 2.0, 1.0, 0.0, 2.0])
    numbers = torch.tensor([[0.3, -1.4], [-0.2, 0.9], [1.7, 0.1], [0.0, -0.5], [0.8, 0.8]])
    squashed = numbers.tanh()

    normal = p[0].log_prob(first) + p[1].log_prob(numbers).sum(1) + p[2].log_prob(last)
    tanh = TransformedDistribution(p[1], TanhTransform())
    tanh_log = p[0].log_prob(first) + tanh.log_prob(squashed).sum(1) + p[2].log_prob(last)
    choices = p[0].entropy() + p[2].entropy()
    deviation = log_deviation.exp()
    by_force = [
        sum(tanh_entropy(float(head[r, 4 + i]), float(deviation[i])) for i in range(2))
        for r in range(ROWS)
    ]
    divergence = sum(
        d if d.ndim == 1 else d.sum(1) for d in (kl_divergence(a, b) for a, b in zip(p, q))
    )
    data = {
        "torch": torch.__version__,
        "head": head,
        "other": other,
        "mask": mask,
        "log_deviation": log_deviation,
        "other_deviation": other_deviation,
        "action": torch.cat([first[:, None], numbers, last[:, None]], 1),
        "tanh_action": torch.cat([first[:, None], squashed, last[:, None]], 1),
        "log_prob": normal,
        "tanh_log_probability": tanh_log,
        "entropy": choices + p[1].entropy().sum(1),
        "tanh_entropy": choices + torch.tensor(by_force),
        "kl": divergence,
    }
    listed = {k: v.flatten().tolist() if torch.is_tensor(v) else v for k, v in data.items()}
    path = pathlib.Path(__file__).with_name("distributions.json")
    path.write_text(json.dumps(listed, indent=1).replace(",\n  ", ", ") + "\n")


main()
