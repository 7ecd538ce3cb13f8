# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Evaluations and leagues."""

import json
import struct

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
    package = hearth.cook_agents(task.observations, task.actions, agents=8, network={"kind": "mlp", "widths": [4]},
                                 learner={"normalize_observations": False})
    (folder / "cart.hearth").write_bytes(package)
    # tanh of (place, speed, angle, turning) scaled small, then a sum: nearly linear control.
    hidden, good = np.eye(4, dtype="f4") * 0.1, np.array([0.1, 0.4, 5.0, 1.0], "f4")
    for name, weight, bias in [("good", np.stack([-good, good]), [0, 0]), ("left", np.zeros((2, 4)), [1, 0])]:
        with hearth.Model(package) as model:
            for prefix in ("", "published.param."):
                model.write({prefix + "actor.0.weight": hidden, prefix + "actor.0.bias": np.zeros(4),
                             prefix + "actor.head.weight": weight, prefix + "actor.head.bias": bias})
            (folder / f"{name}.brain").write_bytes(model.save_brain())
    return folder


def test_an_evaluation_is_what_the_episodes_say_one_by_one(carts):
    task = henv.find("CartPole")
    told = gates.evaluate(carts / "left.brain", carts / "cart.hearth", task, episodes=11, seed=50)
    env, lengths = henv.make("CartPole"), []
    for seed in range(50, 61):
        env.reset(seed=seed)
        lengths.append(1)
        while not env.step(0)[2]:
            lengths[-1] += 1
    assert told.seeds == list(range(50, 61)) and told.lengths == lengths and told.returns == lengths
    assert told.actions == {"push": [told.decisions, 0]} and told.decisions == sum(lengths)
    s = told.summary()
    assert (s["success"], s["worst_return"], s["worst_seed"]) == (0.0, min(lengths), 50 + int(np.argmin(lengths)))


def test_a_good_brain_succeeds_and_is_rated_higher(carts):
    task = henv.find("CartPole")
    told = {name: gates.evaluate(carts / f"{name}.brain", carts / "cart.hearth", task, episodes=16)
            for name in ("left", "good")}
    assert told["good"].summary()["success"] == 1.0
    ratings = gates.league({name: t.returns for name, t in told.items()})
    assert [r.name for r in ratings] == ["good", "left"] and ratings[0].won == 1.0
    assert ratings[0].low > ratings[1].high


def test_elo_is_the_logistic_curve_and_covers_draws():
    # 3 of 4 games: 400 * log10(3) = 190.8 apart, but for the half draw that is added.
    elo = gates.elo_of(np.array([[0, 3000.0], [1000.0, 0]]), np.array([[0, 4000.0], [4000.0, 0]]))
    assert elo[0] - elo[1] == pytest.approx(190.85, abs=0.1) and elo.mean() == pytest.approx(1500)
    ratings = gates.league({"a": [1, 2, 3], "b": [1, 2, 3]})
    assert ratings[0].elo == pytest.approx(1500) and ratings[0].low == pytest.approx(1500)


def test_intervals_hold_the_true_difference(carts):
    random, held = np.random.default_rng(3), 0
    for trial in range(40):
        wins = random.random(60) < 0.7
        ratings = {r.name: r for r in gates.league({"a": wins.astype(float), "b": 1.0 - wins}, resamples=100,
                                                   seed=trial)}
        true = 1500 + 200 * np.log10(0.7 / 0.3)
        held += ratings["a"].low <= true <= ratings["a"].high
    assert held >= 34  # 38 expected of 40


def test_commands_print_tables_json_and_pictures(carts, capsys):
    common = ["--package", str(carts / "cart.hearth"), "--environment", "CartPole", "--episodes", "8"]
    assert main(["evaluate", str(carts / "left.brain"), *common]) == 0
    assert "worst case" in capsys.readouterr().out
    assert main(["evaluate", str(carts / "left.brain"), *common, "--json", "--require", "475"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["episodes"] == 8 and len(told["returns"]) == 8 and sum(told["actions"]["push"]) == sum(told["lengths"])
    brains = [str(carts / "left.brain"), str(carts / "good.brain")]
    assert main(["league", *brains, *common, "--json"]) == 0
    assert [p["name"] for p in json.loads(capsys.readouterr().out)["players"]] == ["good.brain", "left.brain"]
    assert main(["league", str(carts / "left.brain"), *common]) == 1
    assert "a league of 1 players, expected 2 or more" in capsys.readouterr().err
    assert main(["evaluate", str(carts / "none.brain"), *common]) == 1
    assert "none.brain" in capsys.readouterr().err


def test_curves_are_pngs(carts, capsys):
    pytest.importorskip("matplotlib", reason="needs the package matplotlib")
    common = ["--package", str(carts / "cart.hearth"), "--environment", "CartPole", "--episodes", "4"]
    for command, brains in (("evaluate", ["left"]), ("league", ["left", "good"])):
        picture = carts / f"{command}.png"
        assert main([command, *(str(carts / f"{b}.brain") for b in brains), *common, "--png", str(picture)]) == 0
        head = picture.read_bytes()[:24]
        assert head[:8] == b"\x89PNG\r\n\x1a\n" and min(struct.unpack(">II", head[16:])) > 100
