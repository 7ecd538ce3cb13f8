#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes trajectories.txt: 200 steps of each classic task as Gymnasium takes them.

    python3 -m venv /tmp/gym && /tmp/gym/bin/pip install gymnasium==1.0.0 numpy
    /tmp/gym/bin/python tests/data/classic/make_trajectories.py

Lines: "task NAME", "start STATE..." for a new episode, "step ACTION REWARD TERMINATED STATE... |
OBSERVATION...".  Actions are a rough controller with random ones mixed in, so that both quiet and
wild states occur.  The last run's versions are in the file's first line.
"""

import math
import pathlib

import gymnasium
import numpy as np

TASKS = {
    "CartPole": "CartPole-v1",
    "Acrobot": "Acrobot-v1",
    "MountainCar": "MountainCar-v0",
    "MountainCarContinuous": "MountainCarContinuous-v0",
    "Pendulum": "Pendulum-v1",
}
STEPS = 200


def choose(name, state, random):
    wild = random.uniform() < 0.2
    if name == "CartPole":
        good = int(state[2] + 0.3 * state[3] + 0.02 * state[0] + 0.05 * state[1] > 0)
        return int(random.integers(2)) if wild else good
    if name == "Acrobot":
        return int(random.integers(3)) if wild else int(1 + np.sign(state[3]))
    if name == "MountainCar":
        return int(random.integers(3)) if wild else int(1 + np.sign(state[1]))
    if name == "MountainCarContinuous":
        return random.uniform(-1.5, 1.5) if wild else 0.8 * float(np.sign(state[1]))
    return random.uniform(-2.5, 2.5) if wild else 1.5 * float(np.sign(state[1] + 1e-3))


def text(value):
    return f"{float(value):.10g}"


def main():
    lines = [f"# gymnasium {gymnasium.__version__}, numpy {np.__version__}"]
    for name, registered in TASKS.items():
        env = gymnasium.make(registered).unwrapped
        random = np.random.default_rng(7)
        lines.append(f"task {name}")
        needs_start = True
        for step in range(STEPS):
            if needs_start:
                env.reset(seed=step)
                start = np.array(env.state, dtype=np.float32)  # short in the file, exact in both
                env.state = start if name == "MountainCarContinuous" else start.astype(np.float64)
                lines.append("start " + " ".join(f"{float(s):.17g}" for s in start))
                needs_start = False
            action = choose(name, env.state, random)
            if name in ("MountainCarContinuous", "Pendulum"):
                action = np.array([np.float32(round(action * 64) / 64)], dtype=np.float32)
            shown = action if isinstance(action, int) else action[0]
            seen, reward, terminated, _, _ = env.step(action)
            assert not math.isnan(reward)
            numbers = [text(shown), text(reward), str(int(terminated))]
            numbers += [text(s) for s in env.state] + ["|"] + [text(s) for s in seen]
            lines.append("step " + " ".join(numbers))
            needs_start = terminated
    path = pathlib.Path(__file__).with_name("trajectories.txt")
    path.write_text("\n".join(lines) + "\n")


main()
