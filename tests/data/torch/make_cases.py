#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Makes the reference data beside it, with PyTorch on the CPU; the tests only read files.

usage: /usr/bin/python3 make_cases.py [autograd] [optim] [digits] [nets]     (all by default)

Needs Debian 12's python3-torch (1.13) and python3-numpy. What comes out:

  autograd/NAME.json  one expression each (CASES), in float64: inputs, output, a cotangent of the output,
                      and PyTorch's gradients: {name, inputs [{shape, data}], output, grad_output,
                      grad_inputs}; sdk/support/gradient_cases builds the same in Hearth
  optim/NAME.json     25 steps of each optimizer (OPTIMIZERS) on mean((tanh(x w) - t)^2), in float64
  digits/             images of digits (digits.csv: label, then 64 pixels from 0 to 16; the first 1,437 to
                      train on, the last 360 to test with), drawn by this script, and a network trained on
                      them as .pt, .safetensors and .onnx, its test logits and its accuracy
  nets/NAME/          small networks with random weights, exported to ONNX, with an input and its outputs

The seeds are fixed; another version of PyTorch or another processor may still round differently, which
is why the data is kept and not made anew for each run.
"""

import json
import math
import pathlib
import struct
import sys

import numpy
import torch
import torch.nn.functional as F
from torch import nn

HERE = pathlib.Path(__file__).resolve().parent


# --- Gradients ---

def t32(values):
    """torch.tensor holds f32, also where it meets f64."""
    return torch.tensor(values)


def rms_norm(x, w, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w


def attention(q, k, v, causal=False):
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if causal:
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v


def ppo_loss(logits, value):
    log_p = F.log_softmax(logits, -1)
    advantage = t32([1., -1, .5, 2])
    taken = log_p.gather(1, torch.tensor([[0], [1], [2], [0]]))[:, 0]
    ratio = (taken - t32([-1., -1.2, -.9, -1.1])).exp()
    policy = torch.max(-advantage * ratio, -advantage * ratio.clamp(.8, 1.2)).mean()
    entropy = -(log_p.exp() * log_p).sum(-1)
    return policy - 0.01 * entropy.mean() + 0.5 * ((value[:, 0] - t32([1., 0, 2, -1])) ** 2).mean()


def lstm_cell(x, h, c, wi, wh, bi, bh):
    return torch.cat(torch.lstm_cell(x, (h, c), wi, wh, bi, bh), 1)


def gru(x, h, wi, wh, bi, bh):
    return torch.gru(x, h[None], (wi, wh, bi, bh), True, 1, 0., False, False, True)[0]


def gru_resets(x, h, wi, wh, bi, bh):
    """Where a new episode begins, the state before is zero."""
    outputs = []
    for t, resets in enumerate([(0, 1, 0), (0, 0, 0), (1, 0, 1), (1, 0, 0)]):
        h = torch.where(torch.tensor(resets)[:, None] == 1, torch.zeros_like(h), h)
        h = torch.gru_cell(x[:, t], h, wi, wh, bi, bh)
        outputs.append(h)
    return torch.stack(outputs, 1)


def kl_div(a, b):
    return F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean")


# Name: expression, shapes of its inputs, and whether these are all positive.
CASES = {
    "abs": (torch.abs, [(3, 5)]),
    "adaptive_avg_pool": (lambda x: F.adaptive_avg_pool2d(x, 1), [(2, 3, 5, 4)]),
    "add_broadcast": (lambda a, b: a + b, [(2, 3, 4), (3, 1)]),
    "amax": (lambda a: a.amax(1), [(3, 6)]),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), [(1, 2, 7, 7)]),
    "batch_norm_train": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True),
                         [(4, 3, 2, 2), (3,), (3,)]),
    "batched_matmul": (torch.matmul, [(2, 3, 4, 5), (2, 3, 5, 6)]),
    "bce_logits": (lambda a, t: F.binary_cross_entropy_with_logits(a, t.detach().sigmoid())
                   + 0 * t.sum(), [(3, 4), (3, 4)]),
    "clamp": (lambda a: a.clamp(-0.5, 0.7), [(4, 4)]),
    "concat": (lambda a, b: torch.cat([a, b], 1), [(2, 3), (2, 4)]),
    "conv1d": (lambda x, w: F.conv1d(x, w, None, 1, 1), [(2, 3, 8), (4, 3, 3)]),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, 1, 1), [(2, 3, 5, 6), (4, 3, 3, 3), (4,)]),
    "conv2d_groups": (lambda x, w: F.conv2d(x, w, None, 1, 1, 1, 4), [(2, 4, 5, 5), (8, 1, 3, 3)]),
    "conv2d_stride_dil": (lambda x, w: F.conv2d(x, w, None, 2, 2, 2), [(1, 2, 9, 8), (3, 2, 3, 3)]),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, None, 2, 1, 1),
                         [(1, 3, 4, 4), (3, 2, 3, 3)]),
    "cos": (torch.cos, [(3, 5)]),
    "cosine_similarity": (lambda a, b: F.cosine_similarity(a, b), [(3, 4), (3, 4)]),
    "cross_entropy": (lambda a: F.cross_entropy(a, torch.tensor([1, 0, 3])), [(3, 4)]),
    "cumsum": (lambda a: a.cumsum(1), [(3, 6)]),
    "div_broadcast": (lambda a, b: a / b, [(2, 3), (3,)], True),
    "elu": (F.elu, [(3, 5)]),
    "embedding": (lambda w: F.embedding(torch.tensor([1, 3, 1]), w), [(4, 5)]),
    "erf": (torch.erf, [(3, 5)]),
    "exp": (torch.exp, [(3, 5)]),
    "expand": (lambda a: a.expand(4, 3, 2), [(3, 1)]),
    "flip": (lambda a: a.flip(1), [(2, 4)]),
    "gather": (lambda a: a.gather(1, torch.tensor([[0, 2], [1, 1], [3, 0]])), [(3, 4)]),
    "gelu": (F.gelu, [(3, 5)]),
    "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), [(3, 5)]),
    "grid_sample": (lambda x, g: F.grid_sample(x, torch.tanh(g), align_corners=False),
                    [(1, 2, 4, 4), (1, 3, 3, 2)]),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w, b), [(2, 4, 3, 3), (4,), (4,)]),
    "gru_cell": (torch.gru_cell, [(3, 4), (3, 5), (15, 4), (15, 5), (15,), (15,)]),
    "hardswish": (F.hardswish, [(3, 5)]),
    "huber": (lambda a, b: F.huber_loss(a, b, delta=0.5), [(3, 4), (3, 4)]),
    "index_select_dup": (lambda a: a[torch.tensor([0, 2, 2, 1])], [(3, 4)]),
    "instance_norm": (lambda x: F.instance_norm(x), [(2, 3, 4, 4)]),
    "interp_bilinear": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear",
                                                align_corners=False), [(1, 2, 3, 4)]),
    "interp_nearest": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest"), [(1, 2, 3, 3)]),
    "kl_div": (kl_div, [(3, 4), (3, 4)]),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), [(4, 6), (6,), (6,)]),
    "leaky_relu": (lambda x: F.leaky_relu(x, 0.01), [(3, 5)]),
    "linear": (lambda x, w, b: F.linear(x, w, b), [(6, 4), (3, 4), (3,)]),
    "log": (torch.log, [(4, 3)], True),
    "log_softmax": (lambda a: F.log_softmax(a, 1), [(3, 6, 2)]),
    "logsumexp": (lambda a: torch.logsumexp(a, 1), [(3, 6)]),
    "lstm_cell": (lstm_cell, [(3, 4), (3, 5), (3, 5), (20, 4), (20, 5), (20,), (20,)]),
    "matmul": (torch.matmul, [(5, 7), (7, 3)]),
    "matmul_broadcast": (torch.matmul, [(2, 3, 4), (4, 5)]),
    "matvec": (torch.matmul, [(3, 4), (4,)]),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2), [(2, 3, 6, 6)]),
    "max_pool2d_pad": (lambda x: F.max_pool2d(x, 3, 2, 1), [(1, 2, 7, 7)]),
    "maximum": (torch.maximum, [(3, 4), (3, 4)]),
    "mean_keepdim": (lambda a: a.mean((0, 2), keepdim=True), [(3, 4, 2)]),
    "minimum": (torch.minimum, [(3, 4), (4,)]),
    "mish": (F.mish, [(3, 5)]),
    "mlp2": (lambda x, w1, b1, w2, b2: torch.tanh(x @ w1 + b1) @ w2 + b2,
             [(6, 4), (4, 8), (8,), (8, 2), (2,)]),
    "mse": (lambda a, b: F.mse_loss(a, b), [(3, 4), (3, 4)]),
    "mul_broadcast": (lambda a, b: a * b, [(2, 1, 4), (3, 4)]),
    "norm": (lambda a: a.norm(), [(3, 6)]),
    "pad_const": (lambda a: F.pad(a, (1, 2, 0, 1), value=0.5), [(2, 3)]),
    "pad_reflect": (lambda a: F.pad(a, (1, 1, 1, 1), mode="reflect"), [(1, 1, 3, 4)]),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), [(1, 8, 3, 3)]),
    "pow": (lambda a, b: a ** b, [(2, 3), (2, 3)], True),
    "ppo_loss": (ppo_loss, [(4, 3), (4, 1)]),
    "prod": (lambda a: a.prod(1), [(3, 4)]),
    "reciprocal": (torch.reciprocal, [(4, 3)], True),
    "relu": (F.relu, [(3, 5)]),
    "reshape_transpose": (lambda a: a.reshape(4, 6).t(), [(2, 3, 4)]),
    "rms_norm": (lambda x, w: rms_norm(x, w, 1e-5), [(4, 6), (6,)]),
    "rsqrt": (torch.rsqrt, [(4, 3)], True),
    "scatter_add": (lambda a, b: a.scatter_add(0, torch.tensor([[0, 1, 1], [2, 0, 1]]), b),
                    [(3, 3), (2, 3)]),
    "sdpa": (attention, [(1, 2, 5, 4)] * 3),
    "sdpa_causal": (lambda q, k, v: attention(q, k, v, True), [(1, 2, 5, 4)] * 3),
    "selu": (F.selu, [(3, 5)]),
    "sigmoid": (torch.sigmoid, [(3, 5)]),
    "silu": (F.silu, [(3, 5)]),
    "sin": (torch.sin, [(3, 5)]),
    "slice_step": (lambda a: a[:, 1:6:2], [(3, 7)]),
    "smooth_l1": (lambda a, b: F.smooth_l1_loss(a, b), [(3, 4), (3, 4)]),
    "softmax": (lambda a: F.softmax(a, -1), [(3, 6)]),
    "softplus": (F.softplus, [(3, 5)]),
    "sqrt": (torch.sqrt, [(4, 3)], True),
    "sub_broadcast": (lambda a, b: a - b, [(4, 1), (3,)]),
    "sum_axis": (lambda a: a.sum(1), [(3, 4, 2)]),
    "tanh": (torch.tanh, [(3, 5)]),
    "var": (lambda a: a.var(1, unbiased=False), [(3, 6)]),
    "where": (lambda a, b: torch.where(a > b, a * 2, b * 3), [(3, 4), (3, 4)]),
    # Each has random numbers by its place, so new ones come last.
    "gru": (gru, [(3, 6, 4), (3, 5), (15, 4), (15, 5), (15,), (15,)]),
    "gru_resets": (gru_resets, [(3, 4, 2), (3, 3), (9, 2), (9, 3), (9,), (9,)]),
}


def values(random, shape, positive=False):
    """Standard normal, rounded so that decimals hold it exactly: all different, none at a kink."""
    count = int(numpy.prod(shape))
    digits = 3 if count < 40 else 5
    while True:
        found = random.standard_normal(count)
        found = numpy.round(numpy.abs(found) + 0.1 if positive else found, digits)
        kinks = numpy.isin(numpy.abs(found), [0, 0.5, 0.7, 1, 3])
        if not kinks.any() and len(set(found)) == count:
            return torch.tensor(found.reshape(shape), dtype=torch.float64)


def flat(tensor):
    return tensor.detach().reshape(-1).tolist()


def write_json(path, contents):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(contents, separators=(",", ":")) + "\n")


def make_autograd():
    for place, (name, (expression, shapes, *positive)) in enumerate(CASES.items()):
        random = numpy.random.default_rng(100 + place)
        inputs = [values(random, shape, bool(positive)).requires_grad_() for shape in shapes]
        output = expression(*inputs)
        assert output.dtype == torch.float64, name
        cotangent = values(random, output.shape)
        gradients = torch.autograd.grad(output, inputs, cotangent)
        write_json(HERE / "autograd" / (name + ".json"), {
            "name": name,
            "inputs": [{"shape": list(x.shape), "data": flat(x)} for x in inputs],
            "output": {"shape": list(output.shape), "data": flat(output)},
            "grad_output": flat(cotangent),
            "grad_inputs": [flat(g) for g in gradients]})


# --- Optimizers ---

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=.1),
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=.05, momentum=.9),
    "sgd_nesterov_wd": lambda p: torch.optim.SGD(p, lr=.05, momentum=.9, nesterov=True,
                                                 weight_decay=.01),
    "adam": lambda p: torch.optim.Adam(p, lr=.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=.01, weight_decay=.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=.01),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=.05),
}


def make_optim():
    random = numpy.random.default_rng(7)
    x, t, start = values(random, (8, 5)), values(random, (8, 3)), values(random, (5, 3))
    for name, make in OPTIMIZERS.items():
        w = start.clone().requires_grad_()
        optimizer = make([w])
        losses = []
        for _ in range(25):
            optimizer.zero_grad()
            loss = ((torch.tanh(x @ w) - t) ** 2).mean()
            loss.backward()
            losses.append(loss.item())
            optimizer.step()
        write_json(HERE / "optim" / (name + ".json"), {
            "optimizer": name, "x": flat(x), "t": flat(t), "w0": flat(start), "w_after": flat(w),
            "losses": losses})


# --- Digits ---

def arc(cx, cy, rx, ry, first, last):
    """Degrees, clockwise from the right, as y points down."""
    angles = numpy.radians(numpy.linspace(first, last, 24))
    return numpy.stack([cx + rx * numpy.cos(angles), cy + ry * numpy.sin(angles)], 1)


def line(*points):
    return numpy.array(points, dtype=float)


# How people write each digit, as strokes in a unit square; where there are several ways, all of them.
STROKES = [
    [[arc(.5, .5, .3, .45, 0, 360)], [arc(.5, .5, .22, .45, 0, 360)]],
    [[line((.32, .25), (.55, .05), (.55, .95))], [line((.5, .05), (.5, .95))],
     [line((.3, .28), (.52, .05), (.52, .95)), line((.28, .95), (.76, .95))]],
    [[numpy.vstack([arc(.5, .3, .28, .25, 190, 380), line((.7, .5), (.2, .95), (.82, .95))])]],
    [[numpy.vstack([arc(.47, .28, .27, .23, 200, 440), arc(.47, .73, .3, .22, 280, 520)])]],
    [[line((.6, .05), (.18, .62), (.85, .62)), line((.62, .4), (.62, .95))],
     [line((.25, .05), (.22, .5), (.75, .5)), line((.72, .05), (.7, .95))]],
    [[numpy.vstack([line((.78, .05), (.3, .05), (.26, .45)), arc(.48, .67, .3, .27, 230, 500)])]],
    [[numpy.vstack([line((.66, .05)), arc(.62, .6, .38, .5, 250, 180), arc(.5, .7, .26, .24, 180, 540)])]],
    [[line((.18, .07), (.8, .07), (.42, .95))],
     [line((.18, .07), (.8, .07), (.42, .95)), line((.32, .5), (.76, .5))]],
    [[arc(.5, .27, .22, .22, 90, 450), arc(.5, .73, .27, .23, 270, 630)]],
    [[numpy.vstack([arc(.5, .3, .25, .25, 0, 360), line((.75, .3), (.68, .95))])],
     [numpy.vstack([arc(.5, .3, .25, .25, 0, 360), arc(.45, .55, .3, .4, 330, 460)])]],
]


def drawn(random, digit):
    """One digit, slanted, stretched and shifted by chance, as 8 x 8 counts of ink from 0 to 16."""
    ways = STROKES[digit]
    angle, slant = random.normal(0, .12), random.normal(0, .15)
    turn = numpy.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    shape = turn @ numpy.array([[random.uniform(.7, 1.05), slant], [0, random.uniform(.8, 1.05)]])
    shift = random.normal(0, .045, 2)
    wobble, phase = random.uniform(0, .03), random.uniform(0, 6.3, 2)
    thickness = random.uniform(.055, .105)
    centres = (numpy.arange(32) + .5) / 32
    xs, ys = numpy.meshgrid(centres, centres)
    distance = numpy.full((32, 32), 9.)
    for stroke in ways[random.integers(len(ways))]:
        points = (stroke - .5) @ shape.T + .5 + shift
        points = points + wobble * numpy.sin(7 * points[:, ::-1] + phase)
        for (ax, ay), (bx, by) in zip(points[:-1], points[1:]):
            dx, dy = bx - ax, by - ay
            along = ((xs - ax) * dx + (ys - ay) * dy) / max(dx * dx + dy * dy, 1e-9)
            along = along.clip(0, 1)
            distance = numpy.minimum(distance, numpy.hypot(xs - ax - along * dx, ys - ay - along * dy))
    ink = distance < thickness
    return ink.reshape(8, 4, 8, 4).sum((1, 3))


class DigitsNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.bn = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.fc1 = nn.Linear(128, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.bn(self.conv1(x))), 2)
        x = F.max_pool2d(F.gelu(self.conv2(x)), 2)
        return self.fc2(F.relu(self.fc1(torch.flatten(x, 1))))


def write_safetensors(path, tensors):
    names = {torch.float32: "F32", torch.int64: "I64"}
    head, body = {}, b""
    for name, tensor in tensors.items():
        data = tensor.contiguous().numpy().tobytes()
        head[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                      "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)


def make_digits():
    folder = HERE / "digits"
    folder.mkdir(parents=True, exist_ok=True)
    random = numpy.random.default_rng(3)
    labels = [int(random.integers(10)) for _ in range(1797)]
    images = [drawn(random, digit) for digit in labels]
    with open(folder / "digits.csv", "w") as file:
        file.write("# digit, then 8 x 8 pixels from 0 to 16; drawn by make_cases.py\n")
        for digit, image in zip(labels, images):
            file.write(",".join(str(v) for v in [digit, *image.reshape(-1)]) + "\n")

    torch.manual_seed(5)
    x = torch.tensor(numpy.array(images), dtype=torch.float32)[:, None] / 16
    y = torch.tensor(labels)
    net = DigitsNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
    for _ in range(8):
        order = torch.randperm(1437)
        for first in range(0, 1437, 64):
            batch = order[first:first + 64]
            optimizer.zero_grad()
            F.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
    net.eval()
    with torch.no_grad():
        logits = net(x[1437:])
    accuracy = (logits.argmax(1) == y[1437:]).float().mean().item()
    print("digits: accuracy", accuracy)
    (folder / "expected.json").write_text(json.dumps({"accuracy": accuracy}) + "\n")
    with open(folder / "logits_test.csv", "w") as file:
        for row in logits.tolist():
            file.write(",".join("%.7g" % v for v in row) + "\n")
    torch.save(net.state_dict(), folder / "digits_cnn.pt")
    write_safetensors(folder / "digits_cnn.safetensors", net.state_dict())
    torch.onnx.export(net, x[:2], str(folder / "digits_cnn_script.onnx"), input_names=["x"],
                      output_names=["logits"], dynamic_axes={"x": {0: "n"}, "logits": {0: "n"}})


# --- Networks ---

class Gpt(nn.Module):
    def __init__(self, words=20, width=24, heads=3, length=10):
        super().__init__()
        self.heads = heads
        self.word, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(nn.ModuleDict({
            "norm1": nn.LayerNorm(width), "qkv": nn.Linear(width, 3 * width),
            "out": nn.Linear(width, width), "norm2": nn.LayerNorm(width),
            "up": nn.Linear(width, 4 * width), "down": nn.Linear(4 * width, width)})
            for _ in range(2))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

    def forward(self, tokens):
        n, length = tokens.shape
        x = self.word(tokens) + self.place(torch.arange(length))
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        for b in self.blocks:
            q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2)
                       for t in b["qkv"](b["norm1"](x)).chunk(3, -1))
            scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
            weights = torch.softmax(scores.masked_fill(hidden, -math.inf), -1)
            x = x + b["out"]((weights @ v).transpose(1, 2).reshape(n, length, -1))
            x = x + b["down"](F.gelu(b["up"](b["norm2"](x))))
        return self.head(self.norm(x))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.lstm = nn.GRU(6, 12, batch_first=True), nn.LSTM(12, 8, batch_first=True)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y, _ = self.gru(x)
        y, _ = self.lstm(y)
        return self.head(y[:, -1])


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2 = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 12, 3, 2, 1)
        self.middle = nn.Conv2d(12, 12, 3, padding=1)
        self.norm = nn.GroupNorm(4, 12)
        self.up = nn.ConvTranspose2d(12, 8, 2, 2)
        self.out = nn.Conv2d(16, 3, 1)

    def forward(self, x):
        a = F.silu(self.down1(x))
        b = F.silu(self.norm(self.middle(F.silu(self.down2(a)))))
        return torch.sigmoid(self.out(torch.cat([a, self.up(b)], 1)))


def varint(value):
    text = b""
    while value > 127:
        text += bytes([value & 127 | 128])
        value >>= 7
    return text + bytes([value])


def tensor_proto(tensor):
    """An ONNX TensorProto: dims (field 1), data_type (2) and raw_data (9)."""
    data = tensor.contiguous().numpy().tobytes()
    text = b"".join(b"\x08" + varint(size) for size in tensor.shape)
    text += b"\x10" + varint({torch.float32: 1, torch.int64: 7}[tensor.dtype])
    return text + b"\x4a" + varint(len(data)) + data


def make_nets():
    torch.manual_seed(11)
    nets = {"gpt": (Gpt(), torch.randint(20, (1, 10))),
            "recurrent": (Recurrent(), torch.randn(2, 7, 6)),
            "unet": (UNet(), torch.randn(1, 3, 16, 16))}
    for name, (net, x) in nets.items():
        data = HERE / "nets" / name / "test_data_set_0"
        data.mkdir(parents=True, exist_ok=True)
        net.eval()
        with torch.no_grad():
            y = net(x)
        torch.onnx.export(net, x, str(data.parent / "model.onnx"), input_names=["x"],
                          output_names=["y"])
        (data / "input_0.pb").write_bytes(tensor_proto(x))
        (data / "output_0.pb").write_bytes(tensor_proto(y))


def main():
    torch.set_num_threads(1)
    makers = {"autograd": make_autograd, "optim": make_optim, "digits": make_digits,
              "nets": make_nets}
    for name in sys.argv[1:] or makers:
        makers[name]()


if __name__ == "__main__":
    main()
