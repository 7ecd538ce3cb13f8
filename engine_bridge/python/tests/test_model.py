# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Models and agents: run, train, save, and what is said about mistakes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hearth

FIELDS = [{"name": "cart", "width": 4}]
CHOICE = [{"name": "push", "kind": "choose", "count": 2}]


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
    graph += message(11, port("x", ["rows", weight.shape[0]])) + message(12, port("y", ["rows", weight.shape[1]]))
    return number(1, 8) + message(7, graph) + message(8, message(1, "") + number(2, 17))


@pytest.fixture(scope="module")
def device():
    with hearth.Device() as made:
        yield made


@pytest.fixture
def layer():
    random = np.random.default_rng(0)
    return random.normal(size=(3, 2)).astype("f4"), random.normal(size=2).astype("f4")


def test_importing_opens_no_library():
    code = "import sys, os; os.environ['HEARTH_LIBRARY'] = '/nowhere'; import hearth; hearth.Tensor"
    folder = Path(hearth.__file__).parent.parent
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder)
    told = subprocess.run([sys.executable, "-c", code + "; hearth.devices()"], cwd=folder, capture_output=True,
                          text=True)
    assert "HEARTH_LIBRARY names /nowhere, which is no file" in told.stderr


def test_a_model_says_what_numpy_says(device, layer):
    weight, bias = layer
    with hearth.Model(hearth.cook_onnx(linear_onnx(weight, bias), max_rows=7), device) as model:
        assert model.entries == ["main"] and [t.name for t in model.inputs()] == ["x"]
        assert model.inputs()[0].shape == (None, 3) and model.inputs()[0].at(5) == (5, 3)
        for rows in (7, 1, 4):
            x = np.random.default_rng(rows).normal(size=(rows, 3)).astype("f4")
            y = model.run(x=x)["y"]
            assert y.shape == (rows, 2) and np.abs(y - np.tanh(x @ weight + bias)).max() < 1e-5


def test_tensors_of_other_libraries_are_taken_by_dlpack_and_results_given(device, layer):
    class Foreign:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    weight, bias = layer
    x = np.ones((2, 3), "f4")
    with hearth.Model(hearth.cook_onnx(linear_onnx(weight, bias), max_rows=2), device) as model:
        y = model.run(x=Foreign(x))["y"]
        assert np.array_equal(y, model.run(x=x)["y"])
        assert np.array_equal(np.from_dlpack(Foreign(y)), y)
    # Results are copies: they outlive the model.
    assert np.isfinite(y).all()


@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_model_learns(device, layer, optimizer):
    weight, bias = layer
    package = hearth.cook_onnx(linear_onnx(np.zeros_like(weight), np.zeros_like(bias)), max_rows=64,
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
        before = {name: model.read(name) for name, t in model.tensors.items() if t.kind == "param"}
        bad = target.copy()
        bad[0, 0] = np.nan
        assert np.isnan(model.run("learn", x=x, target=bad, learning_rate=rate)["loss"])
        for name, value in before.items():
            assert np.array_equal(model.read(name), value), "a loss that is not finite must not be learned"


def test_brains_bring_back_what_was_learned(device, layer):
    package = hearth.cook_onnx(linear_onnx(*layer), max_rows=1, learn={})
    with hearth.Model(package, device) as model, hearth.Model(package, device) as other:
        first = model.save_brain()
        for _ in range(3):
            model.run("learn", x=np.ones((1, 3), "f4"), target=np.zeros((1, 2), "f4"), learning_rate=0.1)
        learned = model.save_brain()
        assert learned != first and len(model.save_brain(delta=True)) <= len(learned)
        other.load_brain(learned)
        assert other.save_brain() == learned
        model.forget()
        assert model.save_brain() == first
        with pytest.raises(hearth.HearthError) as told:
            other.load_brain(b"no brain at all, but long enough for a head" * 4)
        assert told.value.name == "HEARTH_ERROR_CORRUPT_DATA" and other.save_brain() == learned


def test_written_tensors_are_read_again(device):
    package = hearth.cook_agents(FIELDS, CHOICE, agents=4)
    with hearth.Model(package, device) as model:
        value = np.arange(2, dtype="f4")
        model.write({"actor.head.bias": value})
        assert np.array_equal(model.read("actor.head.bias"), value)
        with pytest.raises(hearth.HearthError, match=r"'actor.head.bias' is \[2\], found \[3\]"):
            model.write({"actor.head.weight": model.read("actor.head.weight") + 1, "actor.head.bias": np.zeros(3)})
        assert np.array_equal(model.read("actor.head.bias"), value)
        with pytest.raises(hearth.HearthError, match="no tensor 'actor.heat'; there are: critic"):
            model.read("actor.heat")


def test_the_cpu_is_a_device_whose_brains_go_to_others(device, layer):
    weight, bias = layer
    x = np.random.default_rng(1).normal(size=(16, 3)).astype("f4")
    target = np.zeros((16, 2), "f4")
    with hearth.Device("native") as cpu:
        packages = [hearth.cook_onnx(linear_onnx(weight, bias), max_rows=16, learn={}, device=d)
                    for d in (cpu, device)]
        with hearth.Model(packages[0], cpu) as model, hearth.Model(packages[1], device) as other:
            assert np.abs(model.run(x=x)["y"] - np.tanh(x @ weight + bias)).max() < 1e-5
            for _ in range(20):
                for each in (model, other):
                    each.run("learn", x=x, target=target, learning_rate=0.05)
            assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-4
            other.load_brain(model.save_brain())
            assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-6
        with hearth.Agents(hearth.cook_agents(FIELDS, CHOICE, agents=3, device=cpu), 3, cpu) as agents:
            for _ in range(3):
                agents.decide(np.zeros((3, 4)), rewards=np.ones(3))
        with pytest.raises(hearth.HearthError, match="it is for a Vulkan device, and this is a native device"):
            hearth.Model(hearth.cook_onnx(linear_onnx(weight, bias)), cpu)


def test_mistakes_name_what_was_expected_and_found(device, layer):
    with hearth.Model(hearth.cook_onnx(linear_onnx(*layer), max_rows=2), device) as model:
        x = np.zeros((2, 3), "f4")
        for inputs, said in [({}, "no value for the input 'x'"), ({"z": x}, "no input is named 'z'; there are: x"),
                             ({"x": x[:, :2]}, r"input 'x' is \[2, 3\], found \[2, 2\]"),
                             ({"x": np.zeros((3, 3), "f4")}, "3 rows, expected 1 to 2"),
                             ({"x": x.astype(complex)}, "input 'x' is float32, found complex128")]:
            with pytest.raises(hearth.HearthError, match=said):
                model.run(inputs=inputs)
        with pytest.raises(hearth.HearthError, match="no entry is named 'mian'; there are: main"):
            model.run("mian", x=x)
    with pytest.raises(hearth.HearthError, match="no device is 'Voodoo 2'; there are: 0: "):
        hearth.Device("Voodoo 2")
    with pytest.raises(hearth.HearthError) as told:
        hearth.Model(b"no package", device)
    assert told.value.name == "HEARTH_ERROR_CORRUPT_DATA"
    with pytest.raises(hearth.HearthError) as told:
        hearth.cook_onnx(b"no model at all")
    assert told.value.name == "HEARTH_ERROR_CORRUPT_DATA"
    for options, said in [({"profiles": ["fast"]}, "no profile 'fast'; there are: baseline"),
                          ({"learn": {"los": "mse"}}, "learn: there is no 'los'; there are: loss"),
                          ({"max_rows": 0}, "max_rows: expected a whole number from 1 to")]:
        with pytest.raises(hearth.HearthError, match=said):
            hearth.cook_onnx(linear_onnx(*layer), **options)


def test_a_device_refuses_to_go_while_models_live(layer):
    device = hearth.Device()
    model = hearth.Model(hearth.cook_onnx(linear_onnx(*layer)), device)
    with pytest.raises(hearth.HearthError) as told:
        device.close()
    assert told.value.name == "HEARTH_ERROR_INVALID_STATE"
    model.close()
    device.close()


def test_packages_are_cooked_again_and_quantized(device, layer):
    package = hearth.cook_onnx(linear_onnx(*layer))
    again = hearth.cook_package(package, max_rows=5, device=device)
    with hearth.Model(package, device) as model, hearth.Model(again, device) as other:
        assert (model.profile, other.profile) == ("baseline", "device")
        assert (model.max_rows, other.max_rows) == (1, 5) and model.graph_hash == other.graph_hash
        x = np.ones((1, 3), "f4")
        assert np.abs(model.run(x=x)["y"] - other.run(x=x)["y"]).max() < 1e-6


def test_validation_layers_have_nothing_to_say(layer):
    try:
        device = hearth.Device(validation=True)
    except hearth.HearthError as told:
        pytest.skip(str(told))
    with device:
        with hearth.Model(hearth.cook_onnx(linear_onnx(*layer), max_rows=3, learn={}), device) as model:
            model.run(x=np.zeros((3, 3)))
            model.run("learn", x=np.zeros((2, 3)), target=np.zeros((2, 2)), learning_rate=0.1)
            model.load_brain(model.save_brain())
        with hearth.Agents(hearth.cook_agents(FIELDS, CHOICE, agents=3), 3, device) as agents:
            for _ in range(3):
                agents.decide(np.zeros((3, 4)), rewards=np.ones(3), over=[True, False, False],
                              cut_off=[False, True, False])
            agents.load_brain(agents.save_brain())
        assert device.messages == 0


def test_networks_begin_as_they_are_asked_to(device):
    sac = {"kind": "sac", "capacity": 64, "batch": 8, "warmup": 8}
    drive = [{"name": "aim", "kind": "drive", "width": 2}]
    package = hearth.cook_agents(FIELDS, drive, agents=2, network={"widths": [16], "init": "fan_in"}, learner=sac)
    with hearth.Model(package, device) as model:
        for name in ("actor.head.weight", "critic1.head.weight", "critic2.head.bias"):
            assert 0 < np.abs(model.read(name)).max() <= 16**-0.5
    with pytest.raises(hearth.HearthError, match="init.*orthogonal.*fan_in"):
        hearth.cook_agents(FIELDS, drive, agents=2, network={"widths": [16], "init": "zeros"}, learner=sac)


def test_agents_learn_to_prefer_what_is_rewarded(device):
    """A bandit: choice 1 is rewarded."""
    package = hearth.cook_agents([{"name": "nothing"}], CHOICE, agents=8, network={"kind": "mlp", "widths": [8]},
                                 learner={"kind": "ppo", "horizon": 16, "minibatches": 2, "learning_rate": 0.01,
                                          "entropy": 0.0, "gamma": 0.5}, device=device)
    with hearth.Agents(package, 8, device) as agents:
        seen = np.zeros((8, 1), "f4")
        actions = agents.decide(seen)
        first = agents.save_brain()
        for _ in range(400):
            actions = agents.decide(seen, rewards=actions[:, 0], learn_us=1e6)
        assert agents.status["learn_steps"] > 50
        assert (agents.decide(seen, rewards=actions[:, 0], explore=0.0) == 1).all()
        brain = agents.save_brain()
        assert brain != first
    # The trained weights are used by the package's own entry, too.
    with hearth.Model(package, device) as model:
        model.load_brain(brain)
        acts = model.run("act", observation=np.zeros((4, 1)), explore=0.0)
        assert (acts["action"] == 1).all() and (np.exp(acts["log_probability"]) > 0.8).all()


def test_recurrent_agents_learn_what_only_memory_knows(device):
    """The first observation of an episode says which choice is rewarded in its second step."""
    package = hearth.cook_agents([{"name": "hint"}], CHOICE, agents=16,
                                 network={"kind": "lstm", "width": 16, "before": [16], "after": [16]},
                                 learner={"kind": "ppo", "horizon": 16, "sequence": 8, "minibatches": 2, "epochs": 4,
                                          "learning_rate": 0.01, "entropy": 0.0, "normalize_observations": False},
                                 device=device)
    random = np.random.default_rng(0)
    with hearth.Agents(package, 16, device) as agents:
        hints = random.integers(2, size=16)
        agents.decide((2 * hints - 1)[:, None])
        last = []
        for _ in range(250):
            actions = agents.decide(np.zeros((16, 1)), rewards=np.zeros(16), learn_us=1e6)
            rewards = (actions[:, 0] == hints).astype("f4")
            last.append(rewards.mean())
            hints = random.integers(2, size=16)
            agents.decide((2 * hints - 1)[:, None], rewards=rewards, over=np.ones(16, bool), learn_us=1e6)
        assert np.mean(last[-30:]) > 0.9 > 0.7 > np.mean(last[:10])


def test_agents_tell_mistakes(device):
    with hearth.Agents(hearth.cook_agents(FIELDS, CHOICE, agents=2), 2, device) as agents:
        with pytest.raises(hearth.HearthError, match=r"observations are \[3, 4\], expected \[2, 4\]"):
            agents.decide(np.zeros((3, 4)))
        agents.decide(np.zeros((2, 4)))
        with pytest.raises(hearth.HearthError) as told:
            agents.decide(np.zeros((2, 4)), rewards=[np.nan, 0])
        assert told.value.name == "HEARTH_ERROR_INVALID_ARGUMENT"
        with pytest.raises(hearth.HearthError, match="gama"):
            agents.set("gama", 1)
    with pytest.raises(hearth.HearthError) as told:
        hearth.Agents(hearth.cook_agents(FIELDS, CHOICE, agents=2), 3, device)
    assert told.value.name == "HEARTH_ERROR_OUT_OF_RANGE"
