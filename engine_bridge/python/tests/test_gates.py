# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evaluations."""

import json
import os
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="needs the package gymnasium")

import hearth  # noqa: E402
from hearth import env as henv  # noqa: E402
from hearth import gates  # noqa: E402
from hearth.__main__ import main  # noqa: E402


@pytest.fixture(scope="module")
def carts(tmp_path_factory):
    """A package and two brains: one pushes against the pole's fall, one always to the left."""
    folder = tmp_path_factory.mktemp("carts")
    task = henv.find("CartPole")
    package = hearth.cook_agents(task.observations, task.actions, n_agents=8,
                                 network={"kind": "mlp", "hidden_sizes": [4]},
                                 learner={"normalize_observations": False})
    (folder / "cart.hearth").write_bytes(package)
    # tanh of the scaled-down (position, velocity, angle, angular velocity), then a sum: nearly linear control.
    hidden, good = np.eye(4, dtype="f4") * 0.1, np.array([0.1, 0.4, 5.0, 1.0], "f4")
    for name, weight, bias in [("good", np.stack([-good, good]), [0, 0]), ("left", np.zeros((2, 4)), [1, 0])]:
        with hearth.Model(package) as model:
            for prefix in ("", "published.param."):
                model.write({prefix + "actor.0.weight": hidden, prefix + "actor.0.bias": np.zeros(4),
                             prefix + "actor.head.weight": weight, prefix + "actor.head.bias": bias})
            (folder / f"{name}.brain").write_bytes(model.save_brain())
    return folder


def test_an_evaluation_equals_episodes_played_one_by_one(carts):
    task = henv.find("CartPole")
    result = gates.evaluate(carts / "left.brain", carts / "cart.hearth", task, episodes=11, seed=50)
    env, lengths = henv.make("CartPole"), []
    for seed in range(50, 61):
        env.reset(seed=seed)
        lengths.append(1)
        while not env.step(0)[2]:
            lengths[-1] += 1
    assert result.seeds == list(range(50, 61)) and result.lengths == lengths and result.returns == lengths
    assert result.actions == {"push": [result.decisions, 0]} and result.decisions == sum(lengths)
    s = result.summary()
    assert (s["success"], s["worst_return"], s["worst_seed"]) == (0.0, min(lengths), 50 + int(np.argmin(lengths)))


def test_a_good_brain_succeeds_and_the_tool_rates_it_higher(carts):
    task = henv.find("CartPole")
    for name in ("left", "good"):
        result = gates.evaluate(carts / f"{name}.brain", carts / "cart.hearth", task, episodes=16)
        (carts / f"{name}.json").write_text(result.to_json())
    assert result.summary()["success"] == 1.0
    library = os.environ.get("HEARTH_LIBRARY")
    if not library:
        pytest.skip("needs HEARTH_LIBRARY: hearth_train is built beside it, and is not in the wheel")
    tool = Path(library).parents[1] / "bin" / "hearth_train"
    if not tool.exists():
        pytest.skip(f"needs {tool}, built with the demos")
    output = subprocess.run([tool, "league", carts / "left.json", carts / "good.json", "--json"], check=True,
                          capture_output=True, text=True).stdout
    good, left = json.loads(output)["brains"]
    assert good["brain"].endswith("good.json") and good["low"] > left["high"]


def test_commands_print_tables_and_json(carts, capsys):
    common = ["--package", str(carts / "cart.hearth"), "--environment", "CartPole", "--episodes", "8"]
    assert main(["evaluate", str(carts / "left.brain"), *common]) == 0
    assert "worst case" in capsys.readouterr().out
    assert main(["evaluate", str(carts / "left.brain"), *common, "--json", "--require", "475"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert result["episodes"] == 8 and len(result["returns"]) == 8
    assert sum(result["actions"]["push"]) == sum(result["lengths"])
    assert main(["evaluate", str(carts / "none.brain"), *common]) == 1
    assert "none.brain" in capsys.readouterr().err


def test_curves_are_pngs(carts, capsys):
    pytest.importorskip("matplotlib", reason="needs the package matplotlib")
    common = ["--package", str(carts / "cart.hearth"), "--environment", "CartPole", "--episodes", "4"]
    picture = carts / "evaluate.png"
    assert main(["evaluate", str(carts / "left.brain"), *common, "--png", str(picture)]) == 0
    head = picture.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n" and min(struct.unpack(">II", head[16:])) > 100
