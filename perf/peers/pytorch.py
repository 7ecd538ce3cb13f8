#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Times the rows of hearth_perf with PyTorch, by the same method.

    perf/peers/pytorch.py                         all rows that the device supports, eager
    perf/peers/pytorch.py --device cuda           and, on CUDA, as a captured graph too
    perf/peers/pytorch.py --rows mlp --json F     rows whose name contains a word; a file

A figure is the median time of one of `--repetitions` dependent repetitions: on a GPU between two
events, on a CPU by the clock. `cpu us` is the CPU time of the process for one. Needs PyTorch 1.13
(Debian's python3-torch) or newer, and nothing else.
"""

import argparse
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F


class Work:
    """The work of a row: `step()` runs it once; `graph`: a CUDA graph can capture it."""

    def __init__(self, step, graph=True):
        self.step = step
        self.graph = graph


def mlp_net(device, bias=True):
    layers = []
    for i in range(5):
        layers.append(nn.Linear(64, 64, bias=bias))
        if i < 4:
            layers.append(nn.ReLU())
    return nn.Sequential(*layers).to(device)


def inference(net, x):
    state = {"x": x}

    def step():
        with torch.no_grad():
            state["y"] = net(state["x"])

    return Work(step)


def training(net, loss_of, device, half=False, clip=None, **adam):
    """Forward, loss, backward, Adam. half: matrix products in f16, weights and Adam in f32."""
    options = {"lr": 1e-3, **adam}
    if device == "cuda":
        options["capturable"] = True
    optimizer = torch.optim.Adam(net.parameters(), **options)
    # A constant scale: only the time of unscaling the gradients matters.
    scale = torch.tensor(1024.0, device=device) if half else None

    def step():
        optimizer.zero_grad(set_to_none=False)
        if half:
            with torch.autocast(device, dtype=torch.float16):
                loss = loss_of(net)
            (loss * scale).backward()
            torch._foreach_div_([p.grad for p in net.parameters()], 1024.0)
        else:
            loss = loss_of(net)
            loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        optimizer.step()

    return Work(step)


def mlp_infer(batch_size, half):
    def make(device):
        net, x = mlp_net(device), torch.randn(batch_size, 64, device=device)
        return inference(net.half(), x.half()) if half else inference(net, x)

    return make


def mlp_train(batch_size, half):
    def make(device):
        x, target = torch.randn(batch_size, 64, device=device), torch.randn(batch_size, 64, device=device)
        return training(mlp_net(device), lambda net: F.mse_loss(net(x).float(), target), device,
                        half)

    return make


class ActorCritic(nn.Module):
    def __init__(self, observations=8, actions=2):
        super().__init__()
        tower = lambda out: nn.Sequential(nn.Linear(observations, 64), nn.Tanh(), nn.Linear(64, 64),
                                          nn.Tanh(), nn.Linear(64, out))
        self.actor, self.critic = tower(actions), tower(1)
        self.log_std = nn.Parameter(torch.zeros(actions))


def ppo_step(device):
    batch_size = 128
    net = ActorCritic().to(device)
    draw = lambda *shape: torch.randn(*shape, device=device)
    x, action = draw(batch_size, 8), draw(batch_size, 2)
    old_log_prob, advantage, returns = draw(batch_size), draw(batch_size), draw(batch_size)

    def loss_of(net):
        mean, std = net.actor(x), net.log_std.exp()
        log_prob = (-0.5 * ((action - mean) / std) ** 2 - net.log_std - 0.9189385).sum(1)
        ratio = (log_prob - old_log_prob).exp()
        clipped = torch.clamp(ratio, 0.8, 1.2)
        gain = torch.minimum(ratio * advantage, clipped * advantage).mean()
        value = F.mse_loss(net.critic(x).squeeze(1), returns)
        entropy = (net.log_std + 1.4189385).sum()
        return -gain + 0.5 * value - 0.01 * entropy

    return training(net, loss_of, device, clip=0.5)


def digits_train(device):
    net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(16, 32, 3, padding=1), nn.GELU(), nn.MaxPool2d(2), nn.Flatten(),
                        nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    x = torch.rand(32, 1, 8, 8, device=device)
    digit = torch.randint(0, 10, (32,), device=device)
    return training(net, lambda net: F.cross_entropy(net(x), digit), device)


def gemm(size, dtype):
    def make(device):
        a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
        out = torch.empty_like(a)
        return Work(lambda: torch.matmul(a, b, out=out))

    return make


def conv(batch, inputs, outputs, height, width, dtype):
    def make(device):
        x = torch.randn(batch, inputs, height, width, device=device, dtype=dtype)
        w = torch.randn(outputs, inputs, 3, 3, device=device, dtype=dtype)
        return Work(lambda: F.conv2d(x, w, padding=1))

    return make


def gelu_custom(device):
    x = torch.randn(16 * 1024 * 1024, device=device)
    return Work(lambda: x * (torch.erf(x / 2 ** 0.5) + 1) / 2)


f16, f32 = torch.float16, torch.float32
ROWS = {
    **{f"mlp_infer_b{n}_{'f16' if half else 'f32'}": mlp_infer(n, half)
       for n in (256, 65536) for half in (False, True)},
    **{f"mlp_train_b{n}_{'f16' if half else 'f32'}": mlp_train(n, half)
       for n in (256, 65536, 262144) for half in (False, True)},
    "ppo_step": ppo_step,
    "digits_train_b32": digits_train,
    "gemm_f32_1024": gemm(1024, f32),
    "gemm_f32_4096": gemm(4096, f32),
    "gemm_f16_4096": gemm(4096, f16),
    "conv_3_64": conv(32, 3, 64, 224, 224, f32),
    "conv_3_16": conv(32, 3, 16, 224, 224, f32),
    "conv_16_16_1080p": conv(1, 16, 16, 1080, 1920, f16),
    "gelu_custom": gelu_custom,
}


def warm_up(step, device, seconds):
    end = time.perf_counter() + seconds
    while True:
        step()
        if device == "cuda":
            torch.cuda.synchronize()
        if time.perf_counter() > end:
            return


def time_cuda(step, repetitions, seconds):
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < 100 and (time.perf_counter() < end or len(samples) < 3):
        begin_event, end_event = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin_event.record()
        for _ in range(repetitions):
            step()
        end_event.record()
        torch.cuda.synchronize()
        samples.append(begin_event.elapsed_time(end_event) * 1e3 / repetitions)
    return samples


def time_cpu(step, seconds):
    samples, cpu, end = [], [], time.perf_counter() + seconds
    while len(samples) < 2000 and (time.perf_counter() < end or len(samples) < 3):
        wall, used = time.perf_counter(), time.process_time()
        step()
        samples.append((time.perf_counter() - wall) * 1e6)
        cpu.append((time.process_time() - used) * 1e6)
    return samples, statistics.median(cpu)


def capture(step, repetitions):
    """Captures `repetitions` steps in a CUDA graph, as the documentation of torch.cuda.graph recommends."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repetitions):
            step()
    return graph.replay


def summary(samples):
    ordered = sorted(samples)
    quantile = lambda fraction: ordered[min(int(fraction * len(ordered)), len(ordered) - 1)]
    return {"median_us": statistics.median(ordered), "p10_us": quantile(0.1), "p90_us": quantile(0.9),
            "samples": len(ordered)}


def run_row(name, arguments):
    device, repetitions = arguments.device, arguments.repetitions
    torch.manual_seed(1)
    work = ROWS[name](device)
    row = {"name": name}
    warm_up(work.step, device, arguments.budget / 4)
    if device == "cpu":
        samples, row["cpu_us"] = time_cpu(work.step, arguments.budget)
        row["eager"] = summary(samples)
        return row
    row["eager"] = summary(time_cuda(work.step, repetitions, arguments.budget))
    if work.graph:
        replay = capture(work.step, repetitions)
        warm_up(replay, device, arguments.budget / 4)
        samples = time_cuda(replay, 1, arguments.budget)
        row["graph"] = summary([s / repetitions for s in samples])
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--rows", help="comma-separated words; default: all")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each row, about")
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--json", help="also write the results to this file")
    arguments = parser.parse_args()
    words = arguments.rows.split(",") if arguments.rows else [""]
    names = [name for name in ROWS if any(word in name for word in words)]
    if not names:
        parser.error("no such row; there are " + ", ".join(ROWS))
    # Rows called f32 read and add f32: no TF32.
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    where = torch.cuda.get_device_name() if arguments.device == "cuda" else \
        f"the CPU, {torch.get_num_threads()} threads"
    print(f"PyTorch {torch.__version__} on {where}")
    print(f"{'row':<24} {'eager us':>12} {'p10':>10} {'p90':>10} {'graph us':>12} {'cpu us':>10}")
    rows = []
    for name in names:
        try:
            row = run_row(name, arguments)
        except RuntimeError as error:  # f16 on a CPU, too little memory
            row = {"name": name, "error": str(error).splitlines()[0]}
        rows.append(row)
        if "error" in row:
            print(f"{name:<24} {row['error']}")
            continue
        graph = f"{row['graph']['median_us']:.1f}" if "graph" in row else "-"
        cpu = f"{row['cpu_us']:.1f}" if "cpu_us" in row else "-"
        eager = row["eager"]
        print(f"{name:<24} {eager['median_us']:>12.1f} {eager['p10_us']:>10.1f} "
              f"{eager['p90_us']:>10.1f} {graph:>12} {cpu:>10}")
        sys.stdout.flush()
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"torch": torch.__version__, "device": where, "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
