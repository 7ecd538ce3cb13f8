#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compiles the kernels that the wheel carries: wheel_kernels.py BUILD OUT.

They are those of PPO, DQN and SAC with the networks of Stable-Baselines3 for the tasks below, on one environment and on
eight.  A kernel is found by the hash of its contents, so that tasks share kernels, and others whose shapes are equal
need no compiler either.  OUT/ISA.so has the table hearth_kernels, which libhearth.so opens beside itself."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("x86-64-v3", "x86-64-v4")
FLAGS = "-std=c11 -O3 -fwrapv -fno-strict-aliasing -fno-math-errno -ffp-contract=off -shared -fPIC".split()


def box(size):
    return [{"name": "observation", "kind": "box", "size": size, "low": -1.0, "high": 1.0}]


def one_of(n):
    return [{"name": "action", "kind": "discrete", "n": n, "masked": False}]


def within(size, bound):
    return [{"name": "action", "kind": "continuous", "size": size, "low": -bound, "high": bound}]


# Observations and actions as hearth/_spaces.py makes them of the tasks' spaces.
DISCRETE = {"CartPole-v1": (box(4), one_of(2)), "Acrobot-v1": (box(6), one_of(3)), "MountainCar-v0": (box(2), one_of(3)),
            "LunarLander-v3": (box(8), one_of(4)),
            "FrozenLake-v1": ([{"name": "observation", "kind": "discrete", "n": 16}], one_of(4))}
CONTINUOUS = {"Pendulum-v1": (box(3), within(1, 2.0)), "MountainCarContinuous-v0": (box(2), within(1, 1.0)),
              "LunarLanderContinuous-v3": (box(8), within(2, 1.0)), "BipedalWalker-v3": (box(24), within(4, 1.0)),
              "InvertedPendulum-v5": (box(4), within(1, 3.0)), "InvertedDoublePendulum-v5": (box(9), within(1, 1.0)),
              "Hopper-v5": (box(11), within(3, 1.0)), "HalfCheetah-v5, Walker2d-v5": (box(17), within(6, 1.0))}
BREAKOUT = ("MinAtar/Breakout-v1", (box(400), one_of(3)), (10, 10, 4))


def settings():
    """Yields algorithm, number of environments, observations, actions, network, hyperparameters."""
    for observations, actions in DISCRETE.values():
        for n_envs in (1, 8):
            yield "ppo", n_envs, observations, actions, None, {}
        yield "dqn", 1, observations, actions, None, {}
    for observations, actions in CONTINUOUS.values():
        for n_envs in (1, 8):
            yield "ppo", n_envs, observations, actions, None, {}
        yield "sac", 1, observations, actions, None, {}
    for algorithm, n_envs in (("dqn", 1), ("ppo", 8)):
        yield algorithm, n_envs, *BREAKOUT[1], "minatar_cnn", {}
    # The table of docs/how-to/python_training.md.
    yield "ppo", 8, *DISCRETE["CartPole-v1"], None, {"n_steps": 32, "batch_size": 256, "n_epochs": 20, "gamma": 0.98,
                                                     "gae_lambda": 0.8}
    yield "ppo", 16, *DISCRETE["LunarLander-v3"], None, {"n_steps": 1024, "batch_size": 64, "n_epochs": 4,
                                                         "gamma": 0.999, "gae_lambda": 0.98}


def functions_of(text):
    """Returns what precedes the functions of a table's file, and the functions by hash."""
    parts = re.split(r"^(?=static void hearth_kernel_[0-9a-f]{16}\(.*\);$)", text, flags=re.M)
    last, table = re.split(r"^(?=static const hearth_cpu_kernel )", parts[-1], maxsplit=1, flags=re.M)
    functions = {re.search(r"hearth_kernel_([0-9a-f]{16})", part)[1]: part for part in [*parts[1:-1], last]}
    listed = re.findall(r"UINT64_C\(0x([0-9a-f]{16})\)", table)
    if sorted(functions) != listed:
        sys.exit(f"wheel: a file of kernels has {len(functions)} functions and a table of {len(listed)}")
    return parts[0], functions, int(re.search(r"= \{(\d+), \d+, ", table)[1])


def table_of(isa, functions):
    entries = "\n".join(f"    {{UINT64_C(0x{each}), hearth_kernel_{each}}}," for each in sorted(functions))
    return (f"static const hearth_cpu_kernel list[] = {{\n{entries}\n}};\nextern const hearth_cpu_kernel_table "
            f"hearth_kernels;\nconst hearth_cpu_kernel_table hearth_kernels = {{{isa}, {len(functions)}, list}};\n")


def cook(build, folder):
    """Writes KEY_ISA.c for each of settings()."""
    os.environ["HEARTH_LIBRARY"] = str(build / "lib/libhearth.so")
    sys.path.insert(0, str(ROOT / "engine_bridge/python"))
    import hearth
    from hearth import _hyperparameters as hyper
    for i, (algorithm, n_envs, observations, actions, network, given) in enumerate(settings()):
        shape = BREAKOUT[2] if network else None
        package = folder / f"{i}.hearth"
        package.write_bytes(hearth.cook_agents(
            observations, actions, n_agents=n_envs, network=hyper.network(algorithm, network, shape),
            learner=hyper.learner(algorithm, hyper.merged(algorithm, given), n_envs), device_targets=["x86-64-v3"]))
        subprocess.run([build / "bin/hearth", "cook", package, "--device-targets", ",".join(TARGETS), "--kernels",
                        folder / str(i), "-o", folder / "cooked.hearth"], check=True, capture_output=True)
    return i + 1


def compile_table(target, folder, out):
    head, functions, isa = "", {}, 0
    for path in sorted(folder.glob(f"*_{target.replace('-', '_')}.c")):
        head, own, isa = functions_of(path.read_text(encoding="utf-8"))
        functions |= own
    source = folder / f"{target}.c"
    source.write_text(head + "".join(functions[each] for each in sorted(functions)) + table_of(isa, functions),
                      encoding="utf-8")
    library = out / f"{target}.so"
    subprocess.run(["cc", *FLAGS, f"-march={target}", "-o", library, source, "-lm"], check=True)
    subprocess.run(["strip", "--strip-unneeded", library], check=True)
    return f"{library}: {len(functions)} kernels, {library.stat().st_size / 1e6:.1f} MB"


def main():
    build, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        count = cook(build, Path(folder))
        with ThreadPoolExecutor() as workers:
            made = list(workers.map(lambda target: compile_table(target, Path(folder), out), TARGETS))
    print(f"kernels of {count} settings", *made, sep="\n")


if __name__ == "__main__":
    main()
