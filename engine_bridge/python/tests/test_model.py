# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models and agents: run, train, save, and error messages."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hearth

FIELDS = [{"name": "cart", "size": 4}]
PUSH = [{"name": "push", "kind": "discrete", "n": 2}]


# --- A hand-written ONNX model: protocol buffers are tags, lengths and bytes ---

def varint(value):
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(field, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(field << 3 | 2) + varint(len(content)) + content


def number(field, value):
    return varint(field << 3) + varint(value)


def tensor(name, value):
    dims = b"".join(number(1, d) for d in value.shape)
    return dims + number(2, 1) + message(8, name) + message(9, value.astype("<f4").tobytes())


def port(name, extents):
    dims = b"".join(message(1, message(2, e) if isinstance(e, str) else number(1, e)) for e in extents)
    return message(1, name) + message(2, message(1, number(1, 1) + message(2, dims)))


def node(op, inputs, output):
    return b"".join(message(1, i) for i in inputs) + message(2, output) + message(4, op)


def linear_onnx(weight, bias):
    """y = tanh(x @ weight + bias)"""
    graph = b"".join(message(1, n) for n in (node("MatMul", ["x", "w"], "a"), node("Add", ["a", "b"], "c"),
                                             node("Tanh", ["c"], "y")))
    graph += message(2, "g") + message(5, tensor("w", weight)) + message(5, tensor("b", bias))
    graph += message(11, port("x", ["batch", weight.shape[0]])) + message(12, port("y", ["batch", weight.shape[1]]))
    return number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 17))


@pytest.fixture(scope="module")
def device():
    with hearth.Device() as made:
        yield made


@pytest.fixture
def layer():
    random = np.random.default_rng(0)
    return random.normal(size=(3, 2)).astype("f4"), random.normal(size=2).astype("f4")


def test_importing_does_not_open_the_library():
    code = "import sys, os; os.environ['HEARTH_LIBRARY'] = '/nowhere'; import hearth; hearth.Tensor"
    folder = Path(hearth.__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    result = subprocess.run([sys.executable, "-c", code + "; hearth.devices()"], cwd=folder, capture_output=True,
                            text=True)
    assert "HEARTH_LIBRARY names /nowhere, which is not a file" in result.stderr


def test_a_model_computes_what_numpy_computes(device, layer):
    weight, bias = layer
    with hearth.Model(hearth.cook_onnx(linear_onnx(weight, bias), max_batch_size=7), device) as model:
        assert model.entries == ["main"] and [t.name for t in model.inputs()] == ["x"]
        assert model.inputs()[0].shape == (None, 3) and model.inputs()[0].resolve(5) == (5, 3)
        for batch_size in (7, 1, 4):
            x = np.random.default_rng(batch_size).normal(size=(batch_size, 3)).astype("f4")
            y = model.run(x=x)["y"]
            assert y.shape == (batch_size, 2) and np.abs(y - np.tanh(x @ weight + bias)).max() < 1e-5


def test_extents_that_depend_on_data_have_a_bound_and_a_count(device):
    graph = message(1, node("NonZero", ["x"], "places")) + message(2, "g")
    graph += message(11, port("x", [2, 3])) + message(12, port("places", [2, "n"]))
    model = number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 17))
    with hearth.Model(hearth.cook_onnx(model, bounds={"places": 4}), device) as cooked:
        found = cooked.run(x=np.array([[0, 5, 0], [1, 0, 2]], "f4"))
    assert int(found["places_count"]) == 3
    assert found["places"].tolist() == [[0, 1, 1, -1], [1, 0, 2, -1]]
    with pytest.raises(hearth.HearthError, match="expected a node or an output of one of: 'places'"):
        hearth.cook_onnx(model, bounds={"other": 4})


def test_exported_packages_compute_the_same(device, layer, tmp_path):
    weight, bias = layer
    package = hearth.cook_onnx(linear_onnx(weight, bias), max_batch_size=7)
    x = np.random.default_rng(1).normal(size=(5, 3)).astype("f4")
    expected = np.tanh(x @ weight + bias)
    exported = hearth.export_onnx(package)
    with hearth.Model(hearth.cook_onnx(exported, max_batch_size=7), device) as model:
        assert np.abs(model.run(x=x)["y"] - expected).max() < 1e-5
    with pytest.raises(hearth.HearthError, match="no entry is named 'act'; expected one of: main"):
        hearth.export_onnx(package, entry="act")
    (tmp_path / "text.pt").write_bytes(b"no weights at all")
    with pytest.raises(hearth.HearthError, match="torch file"):
        hearth.export_onnx(package, weights=tmp_path / "text.pt")
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(exported, providers=["CPUExecutionProvider"])
    assert np.abs(session.run(None, {"x": x})[0] - expected).max() < 1e-5


def test_tensors_are_exchanged_with_other_libraries_by_dlpack(device, layer):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    weight, bias = layer
    x = np.ones((2, 3), "f4")
    with hearth.Model(hearth.cook_onnx(linear_onnx(weight, bias), max_batch_size=2), device) as model:
        y = model.run(x=Foreign(x))["y"]
        assert np.array_equal(y, model.run(x=x)["y"])
        assert np.array_equal(np.from_dlpack(Foreign(y)), y)
    # Results are copies: they outlive the model.
    assert np.isfinite(y).all()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_model_learns(device, layer, optimizer):
    weight, bias = layer
    package = hearth.cook_onnx(linear_onnx(np.zeros_like(weight), np.zeros_like(bias)), max_batch_size=64,
                               learn={"loss": "mse", "optimizer": optimizer})
    x = np.random.default_rng(1).normal(size=(64, 3)).astype("f4")
    target = np.tanh(x @ weight + bias)
    with hearth.Model(package, device) as model:
        assert model.entries == ["main", "learn"]
        rate = 0.05 if optimizer == "adam" else 1.0
        losses = [float(model.run("learn", x=x, target=target, learning_rate=rate)["loss"]) for _ in range(200)]
        assert losses[0] == pytest.approx(float((target**2).mean()), rel=1e-4)
        assert losses[-1] < losses[0] / 1000
        assert np.abs(model.run(x=x)["y"] - target).max() < 0.05
        before = {name: model.read(name) for name, t in model.variables.items() if t.kind == "param"}
        bad = target.copy()
        bad[0, 0] = np.nan
        assert np.isnan(model.run("learn", x=x, target=bad, learning_rate=rate)["loss"])
        for name, value in before.items():
            assert np.array_equal(model.read(name), value), "a loss that is not finite must not be learned"


@pytest.mark.parametrize("step, rate", [({"optimizer": "adagrad"}, 0.3), ({"optimizer": "adan"}, 0.02),
                                        ({"optimizer": "lion", "beta1": 0.8}, 0.01),
                                        ({"optimizer": "rmsprop", "momentum": 0.5}, 0.01)])
def test_optimizers_and_their_options_are_chosen_by_name(device, layer, step, rate):
    weight, bias = layer
    package = hearth.cook_onnx(linear_onnx(np.zeros_like(weight), np.zeros_like(bias)), max_batch_size=64,
                               learn={"loss": "mse", **step})
    x = np.random.default_rng(1).normal(size=(64, 3)).astype("f4")
    target = np.tanh(x @ weight + bias)
    with hearth.Model(package, device) as model:
        losses = [float(model.run("learn", x=x, target=target, learning_rate=rate)["loss"]) for _ in range(100)]
        assert losses[-1] < losses[0] / 10


@pytest.mark.parametrize("step, message", [({"optimizer": "adamw"}, "there are: sgd, adam, adagrad, rmsprop, lion"),
                                           ({"optimizer": "lion", "momentum": 0.9}, "momentum"),
                                           ({"optimizer": "adam", "beta1": 2}, "beta1 is 2")])
def test_unknown_optimizers_and_options_are_refused(layer, step, message):
    with pytest.raises(hearth.HearthError, match=message):
        hearth.cook_onnx(linear_onnx(*layer), max_batch_size=1, learn=step)


def test_brains_restore_what_was_learned(device, layer):
    package = hearth.cook_onnx(linear_onnx(*layer), max_batch_size=1, learn={})
    with hearth.Model(package, device) as model, hearth.Model(package, device) as other:
        first = model.save_brain()
        for _ in range(3):
            model.run("learn", x=np.ones((1, 3), "f4"), target=np.zeros((1, 2), "f4"), learning_rate=0.1)
        learned = model.save_brain()
        assert learned != first and len(model.save_brain(delta=True)) <= len(learned)
        other.load_brain(learned)
        assert other.save_brain() == learned
        model.reset_variables()
        assert model.save_brain() == first
        with pytest.raises(hearth.HearthError) as failure:
            other.load_brain(b"not a brain, but long enough for a header" * 4)
        assert failure.value.name == "HEARTH_ERROR_CORRUPT_DATA" and other.save_brain() == learned


def test_written_variables_are_read_again(device):
    package = hearth.cook_agents(FIELDS, PUSH, n_agents=4)
    with hearth.Model(package, device) as model:
        value = np.arange(2, dtype="f4")
        model.write({"actor.head.bias": value})
        assert np.array_equal(model.read("actor.head.bias"), value)
        with pytest.raises(hearth.HearthError, match=r"'actor.head.bias': expected \[2\], found \[3\]"):
            model.write({"actor.head.weight": model.read("actor.head.weight") + 1, "actor.head.bias": np.zeros(3)})
        assert np.array_equal(model.read("actor.head.bias"), value)
        with pytest.raises(hearth.HearthError, match="no variable is named 'actor.heat'; there are: critic"):
            model.read("actor.heat")


def test_the_cpu_is_a_device_whose_brains_load_on_others(device, layer):
    weight, bias = layer
    x = np.random.default_rng(1).normal(size=(16, 3)).astype("f4")
    target = np.zeros((16, 2), "f4")
    with hearth.Device("cpu") as cpu:
        packages = [hearth.cook_onnx(linear_onnx(weight, bias), max_batch_size=16, learn={}, device=d)
                    for d in (cpu, device)]
        with hearth.Model(packages[0], cpu) as model, hearth.Model(packages[1], device) as other:
            assert np.abs(model.run(x=x)["y"] - np.tanh(x @ weight + bias)).max() < 1e-5
            for _ in range(20):
                for each in (model, other):
                    each.run("learn", x=x, target=target, learning_rate=0.05)
            assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-4
            other.load_brain(model.save_brain())
            assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-6
        with hearth.Agents(hearth.cook_agents(FIELDS, PUSH, n_agents=3, device=cpu), 3, cpu) as agents:
            for _ in range(3):
                agents.decide(np.zeros((3, 4)), rewards=np.ones(3))
        for_gpus = hearth.cook_onnx(linear_onnx(weight, bias), max_batch_size=16)
        with hearth.Model(for_gpus, cpu) as model:  # compiled from its graph
            assert np.abs(model.run(x=x)["y"] - np.tanh(x @ weight + bias)).max() < 1e-5
        with pytest.raises(hearth.HearthError, match="it is for a Vulkan device, and this is a CPU device"):
            hearth.Model(for_gpus, cpu, trust=True)


def test_errors_name_what_was_expected_and_found(device, layer):
    with hearth.Model(hearth.cook_onnx(linear_onnx(*layer), max_batch_size=2), device) as model:
        x = np.zeros((2, 3), "f4")
        for inputs, text in [({}, "no value for the input 'x'"), ({"z": x}, "no input is named 'z'; there are: x"),
                             ({"x": x[:, :2]}, r"input 'x': expected \[2, 3\], found \[2, 2\]"),
                             ({"x": np.zeros((3, 3), "f4")}, "the batch size is 3, expected 1 to 2"),
                             ({"x": x.astype(complex)}, "'x': expected float32, found complex128")]:
            with pytest.raises(hearth.HearthError, match=text):
                model.run(inputs=inputs)
        with pytest.raises(hearth.HearthError, match="no entry is named 'mian'; there are: main"):
            model.run("mian", x=x)
    with pytest.raises(hearth.HearthError, match="no device is named 'Voodoo 2'; there are: 0: "):
        hearth.Device("Voodoo 2")
    with pytest.raises(hearth.HearthError) as failure:
        hearth.Model(b"no package", device)
    assert failure.value.name == "HEARTH_ERROR_CORRUPT_DATA"
    with pytest.raises(hearth.HearthError) as failure:
        hearth.cook_onnx(b"no model at all")
    assert failure.value.name == "HEARTH_ERROR_CORRUPT_DATA"
    for options, text in [({"device_targets": ["fast"]}, "no device target 'fast'; expected one of: baseline"),
                          ({"learn": {"los": "mse"}}, "learn: there is no 'los'; there are: loss"),
                          ({"max_batch_size": 0}, "max_batch_size: expected a whole number from 1 to")]:
        with pytest.raises(hearth.HearthError, match=text):
            hearth.cook_onnx(linear_onnx(*layer), **options)


def test_a_device_with_models_cannot_be_closed(layer):
    device = hearth.Device()
    model = hearth.Model(hearth.cook_onnx(linear_onnx(*layer)), device)
    with pytest.raises(hearth.HearthError) as failure:
        device.close()
    assert failure.value.name == "HEARTH_ERROR_INVALID_STATE"
    model.close()
    device.close()


def test_packages_are_cooked_again_and_quantized(device, layer):
    package = hearth.cook_onnx(linear_onnx(*layer))
    again = hearth.cook_package(package, max_batch_size=5, device=device)
    with hearth.Model(package, device) as model, hearth.Model(again, device) as other:
        assert (model.device_target, other.device_target) == ("baseline", "device")
        assert (model.max_batch_size, other.max_batch_size) == (1, 5) and model.graph_hash == other.graph_hash
        x = np.ones((1, 3), "f4")
        assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-6


def test_validation_layers_report_nothing(layer):
    try:
        device = hearth.Device(validation=True)
    except hearth.HearthError as failure:
        pytest.skip(str(failure))
    with device:
        with hearth.Model(hearth.cook_onnx(linear_onnx(*layer), max_batch_size=3, learn={}), device) as model:
            model.run(x=np.zeros((3, 3)))
            model.run("learn", x=np.zeros((2, 3)), target=np.zeros((2, 2)), learning_rate=0.1)
            model.load_brain(model.save_brain())
        with hearth.Agents(hearth.cook_agents(FIELDS, PUSH, n_agents=3), 3, device) as agents:
            for _ in range(3):
                agents.decide(np.zeros((3, 4)), rewards=np.ones(3), terminated=[True, False, False],
                              truncated=[False, True, False])
            agents.load_brain(agents.save_brain())
        assert device.messages == 0


def test_networks_are_initialized_as_requested(device):
    sac = {"kind": "sac", "buffer_size": 64, "batch_size": 8, "learning_starts": 8}
    aim = [{"name": "aim", "kind": "continuous", "size": 2}]
    package = hearth.cook_agents(FIELDS, aim, n_agents=2,
                                 network={"hidden_sizes": [16], "init": "pytorch_default"}, learner=sac)
    with hearth.Model(package, device) as model:
        for name in ("actor.head.weight", "critic1.head.weight", "critic2.head.bias"):
            assert 0 < np.abs(model.read(name)).max() <= 16**-0.5
    with pytest.raises(hearth.HearthError, match="init.*orthogonal.*pytorch_default"):
        hearth.cook_agents(FIELDS, aim, n_agents=2, network={"hidden_sizes": [16], "init": "zeros"}, learner=sac)


def test_agents_learn_to_prefer_what_is_rewarded(device):
    """A bandit: action 1 is rewarded."""
    package = hearth.cook_agents([{"name": "nothing"}], PUSH, n_agents=8, network={"kind": "mlp", "hidden_sizes": [8]},
                                 learner={"kind": "ppo", "n_steps": 16, "n_minibatches": 2, "learning_rate": 0.01,
                                          "ent_coef": 0.0, "gamma": 0.5}, device=device)
    with hearth.Agents(package, 8, device) as agents:
        observations = np.zeros((8, 1), "f4")
        actions = agents.decide(observations)
        first = agents.save_brain()
        for _ in range(400):
            actions = agents.decide(observations, rewards=actions[:, 0], learning_budget_us=1e6)
        assert agents.status["gradient_steps"] > 50
        assert (agents.decide(observations, rewards=actions[:, 0], exploration=0.0) == 1).all()
        brain = agents.save_brain()
        assert brain != first
    # The trained weights are used by the package's own entry, too.
    with hearth.Model(package, device) as model:
        model.load_brain(brain)
        acts = model.run("act", observation=np.zeros((4, 1)), exploration=0.0)
        assert (acts["action"] == 1).all() and (np.exp(acts["log_prob"]) > 0.8).all()


def test_recurrent_agents_learn_what_requires_a_recurrent_state(device):
    """The first observation of an episode determines which action is rewarded in its second step."""
    package = hearth.cook_agents([{"name": "hint"}], PUSH, n_agents=16,
                                 network={"kind": "lstm", "hidden_size": 16, "before": [16], "after": [16]},
                                 learner={"kind": "ppo", "n_steps": 16, "bptt_length": 8, "n_minibatches": 2,
                                          "n_epochs": 4, "learning_rate": 0.01, "ent_coef": 0.0,
                                          "normalize_observations": False},
                                 device=device)
    random = np.random.default_rng(0)
    with hearth.Agents(package, 16, device) as agents:
        hints = random.integers(2, size=16)
        agents.decide((2 * hints - 1)[:, None])
        mean_rewards = []
        for _ in range(250):
            actions = agents.decide(np.zeros((16, 1)), rewards=np.zeros(16), learning_budget_us=1e6)
            rewards = (actions[:, 0] == hints).astype("f4")
            mean_rewards.append(rewards.mean())
            hints = random.integers(2, size=16)
            agents.decide((2 * hints - 1)[:, None], rewards=rewards, terminated=np.ones(16, bool),
                          learning_budget_us=1e6)
        assert np.mean(mean_rewards[-30:]) > 0.9 > 0.7 > np.mean(mean_rewards[:10])


def test_agents_imitate_demonstrations(device):
    """A person pushes where the first observation is positive; rows with NaN show nothing."""
    package = hearth.cook_agents([{"name": "side"}], PUSH, n_agents=8, network={"kind": "mlp", "hidden_sizes": [8]},
                                 learner={"kind": "behavior_cloning", "learning_rate": 0.01, "learning_starts": 32},
                                 device=device)
    random = np.random.default_rng(0)
    with hearth.Agents(package, 8, device) as agents:
        for _ in range(60):
            sides = random.uniform(-1, 1, (8, 1)).astype("f4")
            shown = (sides > 0).astype("f4")
            shown[4:] = np.nan
            agents.decide(sides, demonstrations=shown, learning_budget_us=1e6)
        sides = np.array([[-1], [-0.5], [0.5], [1]] * 2, "f4")
        assert (agents.decide(sides, exploration=0.0) == (sides > 0)).all()
        assert agents.status["samples"] == 60 * 4
        with pytest.raises(hearth.HearthError, match=r"demonstrations are \[8, 2\], expected \[8, 1\]"):
            agents.decide(sides, demonstrations=np.zeros((8, 2)))


def test_agents_go_on_from_a_saved_game(device):
    learner = {"kind": "dqn", "buffer_size": 256, "batch_size": 8, "learning_starts": 16, "train_freq": 4}
    package = hearth.cook_agents(FIELDS, PUSH, n_agents=2, network={"hidden_sizes": [8]}, learner=learner,
                                 device=device)

    def play(agents, first, last):
        actions = np.zeros((2, 1), "f4")
        for step in range(first, last):
            observations = np.full((2, 4), np.sin(step), "f4")
            actions = agents.decide(observations, rewards=None if step == 0 else np.full(2, np.cos(step)),
                                    terminated=[step % 7 == 6, False], learning_budget_us=1e6)
        return actions

    with hearth.Agents(package, 2, device, saved_games=True) as agents:
        play(agents, 0, 40)
        game = agents.save_game()
        expected = play(agents, 40, 80), agents.save_brain()
        assert len(agents.save_weights()) < len(expected[1])
        with hearth.Agents(package, 2, device) as others:
            with pytest.raises(hearth.HearthError, match="enable_saved_games"):
                others.save_game()
            others.load_brain(agents.save_weights())
    with hearth.Agents(package, 2, device, saved_games=True) as agents:
        agents.load_brain(game)
        found = play(agents, 40, 80), agents.save_brain()
    assert (found[0] == expected[0]).all()
    assert found[1] == expected[1]


def test_hyperparameters_outside_their_ranges_are_rejected_by_name(device):
    for learner, message in (({"kind": "ppo", "gamma": 1.5}, "learner.gamma: expected a number from 0.0 to 1.0, found 1.5"),
                             ({"kind": "ppo", "learning_rate": {"tunable": -1}},
                              "learner.learning_rate: expected a number from 0.0 to 1.0, or"),
                             ({"kind": "dqn", "tau": 2}, "learner.tau: expected a number from 0.0 to 1.0, found 2"),
                             ({"kind": "dqn", "clip_obs": -1}, "learner.clip_obs: expected a number from 0.0 to")):
        with pytest.raises(hearth.HearthError, match=message):
            hearth.cook_agents(FIELDS, PUSH, n_agents=1, learner=learner, device=device)


def test_errors_of_agents_name_the_mistake(device):
    with hearth.Agents(hearth.cook_agents(FIELDS, PUSH, n_agents=2), 2, device) as agents:
        with pytest.raises(hearth.HearthError, match=r"observations are \[3, 4\], expected \[2, 4\]"):
            agents.decide(np.zeros((3, 4)))
        agents.decide(np.zeros((2, 4)))
        with pytest.raises(hearth.HearthError) as failure:
            agents.decide(np.zeros((2, 4)), rewards=[np.nan, 0])
        assert failure.value.name == "HEARTH_ERROR_INVALID_ARGUMENT"
        with pytest.raises(hearth.HearthError, match="gama"):
            agents.set_hyperparameter("gama", 1)
    with pytest.raises(hearth.HearthError) as failure:
        hearth.Agents(hearth.cook_agents(FIELDS, PUSH, n_agents=2), 3, device)
    assert failure.value.name == "HEARTH_ERROR_OUT_OF_RANGE"
