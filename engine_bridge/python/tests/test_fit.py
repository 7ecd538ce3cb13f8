# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Supervised training: digits to 98 %, data of all kinds, files, stopping, errors."""

import gc
import json
from pathlib import Path

import numpy as np
import pytest

import hearth

DATA = Path(__file__).resolve().parents[3] / "tests/data"
DIGITS = DATA / "torch/digits/digits.csv"
CNN = {"kind": "cnn", "convolutions": [{"channels": 16, "kernel_size": 3}, {"channels": 32, "kernel_size": 3}],
       "hidden_sizes": [64]}


@pytest.fixture(scope="module")
def device():
    with hearth.Device("cpu") as device:
        yield device
        gc.collect()  # models belong to it


@pytest.fixture
def halves():
    """Two classes that a line divides."""
    x = np.random.default_rng(0).uniform(-1, 1, (200, 3)).astype("f4")
    return x, (x[:, 0] + 2 * x[:, 1] > 0).astype(np.int64)


def test_digits_are_learned_to_98_percent_and_stop_early(device, tmp_path):
    columns = hearth.Dataset.load(DIGITS, targets=0, labels=True)
    images = hearth.Dataset(columns.inputs.reshape(-1, 1, 8, 8) / 16, columns.targets)
    train, validation = images.split(0.2, seed=1)
    result = hearth.fit(CNN, train, "cross_entropy", ["accuracy", "f1"], epochs=200, validation=validation,
                        early_stopping={"monitor": "accuracy", "patience": 15}, batch_size=64, learning_rate=2e-3,
                        checkpoint=tmp_path / "best.safetensors", device=device)
    assert result.end == "early_stopping" and len(result.history) == result.best_epoch + 15
    assert result.best["accuracy"] >= 0.98 and result.best["f1"] >= 0.975
    # What NumPy computes from the predictions of the model that is left.
    predicted = result.predict(validation.inputs).argmax(1)
    assert np.mean(predicted == validation.targets) == pytest.approx(result.best["accuracy"])
    confusion = np.zeros((10, 10), np.int64)
    np.add.at(confusion, (validation.targets, predicted), 1)
    assert np.array_equal(confusion, result.confusion)
    assert result.evaluate(validation) == pytest.approx(result.best)
    # The checkpoint holds the same weights, for packages and other libraries.
    again = hearth.Model(hearth.cook_package(result.model._package, weights=tmp_path / "best.safetensors",
                                             device=device), device)
    some = validation.inputs[:8]
    assert np.array_equal(again.run(x=some)["y"], result.model.run(x=some)["y"])


def test_a_path_is_all_the_data_that_is_needed(device):
    result = hearth.fit({"kind": "mlp", "hidden_sizes": [64], "activation": "relu"}, DIGITS, epochs=5, validation=0.2,
                        read={"targets": "0"}, device=device)
    assert result.end == "epochs" and len(result.history) == 5 and result.best["accuracy"] > 0.9
    assert set(result.best) == {"loss", "accuracy", "f1"}


def test_numbers_are_learned(device):
    x = np.random.default_rng(0).normal(size=(300, 2)).astype("f4") * [1, 100] + [0, 1000]  # of other units
    y = x[:, 0] * 3 - x[:, 1] / 50
    result = hearth.fit({"kind": "mlp", "hidden_sizes": [32]}, (x, y), "mse", ["r2", "mae"], epochs=150,
                        validation=0.25, learning_rate=5e-3, device=device)
    assert result.best["r2"] > 0.95 and result.confusion.size == 0
    predicted = result.predict(x)[:, 0]
    expected = {"mae": np.abs(predicted - y).mean(), "r2": 1 - ((predicted - y)**2).sum() / ((y - y.mean())**2).sum(),
                "loss": ((predicted - y)**2).mean()}
    assert result.evaluate((x, y)) == pytest.approx(expected, rel=1e-4)


def test_equal_seeds_give_equal_weights(device, halves):
    def brain(seed):
        return hearth.fit({"hidden_sizes": [8]}, halves, epochs=2, seed=seed, device=device).model.save_brain()
    assert brain(3) == brain(3) and brain(3) != brain(4)


def test_an_onnx_model_learns_on(device, halves):
    from test_model import linear_onnx
    x, y = halves
    model = linear_onnx(np.zeros((3, 2), "f4"), np.zeros(2, "f4"))
    first = hearth.fit(model, halves, epochs=3, learning_rate=0.01, device=device, optimizer="sgd", momentum=0.9)
    second = hearth.fit(first.model, halves, epochs=60, learning_rate=0.05, device=device)
    assert second.model is first.model
    assert second.history[0]["train_loss"] < first.history[0]["train_loss"]
    assert second.evaluate((x, y))["accuracy"] > 0.97
    with pytest.raises(hearth.HearthError, match="'momentum' belongs to the model's entry 'learn'"):
        hearth.fit(first.model, halves, momentum=0.5)


def test_images_of_a_folder_have_its_classes(device):
    images = hearth.Dataset.load(DATA / "fit/images")
    assert images.inputs.shape == (5, 3, 2, 4) and images.classes == ["cat", "dog"]
    assert repr(images) == "<Dataset: 5 samples of [3, 2, 4], labels of 2 classes>"
    result = hearth.fit({"kind": "cnn", "convolutions": [{"channels": 4, "kernel_size": 2}], "hidden_sizes": [8]},
                        DATA / "fit/images", epochs=2, device=device)
    assert result.classes == ["cat", "dog"] and result.predict(images.inputs).shape == (5, 2)


def test_names_are_labels(device, halves):
    x, y = halves
    names = np.array(["low", "high"])[y]
    data = hearth.Dataset(x, names)
    assert data.classes == ["high", "low"] and (data.targets == 1 - y).all()
    assert hearth.Dataset(x, names, classes=["low", "high"]).targets.tolist() == y.tolist()
    with pytest.raises(hearth.HearthError, match="sample .* has the class 'high', expected one of: low"):
        hearth.Dataset(x, names, classes=["low"])
    result = hearth.fit({"hidden_sizes": [8]}, (x, names), metrics="accuracy", validation=np.float32(0.2), epochs=1,
                        device=device)
    assert result.classes == ["high", "low"] and set(result.best) == {"loss", "accuracy"}
    assert result.predict(x[:0]).shape == (0, 2)


def test_arrays_outlive_their_data_set():
    inputs = hearth.Dataset(np.arange(12).reshape(4, 3), np.arange(4)).inputs
    gc.collect()
    assert inputs.tolist() == np.arange(12.).reshape(4, 3).tolist()
    with pytest.raises(ValueError, match="read-only"):
        inputs[0, 0] = 1
    npz = hearth.Dataset.load(DATA / "fit/deflated.npz", targets="z")
    assert npz.targets.tolist() == (np.arange(50)[:, None] / 2).tolist() and len(npz) == 50


def test_a_run_is_logged_and_stopped_from_outside(device, halves, tmp_path):
    log = tmp_path / "run.jsonl"

    def ask(epoch):
        if epoch["epoch"] == 2:  # as `hearth watch run.jsonl --control stop` does
            (tmp_path / "run.jsonl.stop").touch()
    result = hearth.fit({"hidden_sizes": [8]}, halves, epochs=10**6, validation=0.2, log=log, callback=ask,
                        device=device)
    assert result.end == "stop_request" and not (tmp_path / "run.jsonl.stop").exists()
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["type"] for line in lines[:2]] == ["run", "epoch"] and lines[-1]["type"] == "end"
    assert lines[-2]["text"] == "stopped by hearth watch"
    assert [line["at"] for line in lines[1:-2]] == list(range(1, len(result.history) + 1))
    stopped = hearth.fit({"hidden_sizes": [8]}, halves, callback=lambda epoch: np.float64(epoch["epoch"]) < 3, device=device)
    assert stopped.end == "callback" and len(stopped.history) == 3

    def fails(epoch):
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        hearth.fit({"hidden_sizes": [8]}, halves, callback=fails, device=device)


def test_bad_data_is_named(device, halves, tmp_path):
    x, y = halves
    with pytest.raises(hearth.HearthError, match=r"no samples: inputs are \[0, 3\]"):
        hearth.Dataset(x[:0], y[:0])
    with pytest.raises(hearth.HearthError, match=r"inputs \[200, 3\] have 200 samples, targets \[199\] have 199"):
        hearth.Dataset(x, y[1:])
    bad = x.copy()
    bad[7, 2] = np.nan
    with pytest.raises(hearth.HearthError, match="sample 7, input 2: NaN, expected a finite number"):
        hearth.fit({}, (bad, y), device=device)
    with pytest.raises(hearth.HearthError, match="sample 0 has the label -1"):
        hearth.Dataset(x, y - y[0] - 1)
    with pytest.raises(hearth.HearthError, match="labels are 0 to 4294967296"):
        hearth.Dataset(x, y * 2**32)
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n")
    with pytest.raises(hearth.HearthError, match="ragged.csv': csv: line 3: expected 2 fields as in line 1, found 1"):
        hearth.Dataset.load(tmp_path / "ragged.csv")
    (tmp_path / "cut.npz").write_bytes((DATA / "fit/stored.npz").read_bytes()[:-40])
    with pytest.raises(hearth.HearthError, match="cut.npz': npz: has no directory at its end"):
        hearth.Dataset.load(tmp_path / "cut.npz")
    with pytest.raises(hearth.HearthError, match="large.pgm' is .* images of a data set have one size"):
        hearth.Dataset.load(DATA / "fit/sizes")
    with pytest.raises(hearth.HearthError, match="cannot open '.*none.csv'"):
        hearth.Dataset.load(tmp_path / "none.csv")


def test_bad_arguments_are_named(device, halves):
    x, y = halves
    for arguments, message in [
        ({"loss": "mse"}, "the model learns numbers, the data set's targets are labels"),
        ({"loss": "nll"}, "loss: expected one of"),
        ({"metrics": ["mae"], "validation": 0.1}, "no metric is named 'mae'; there are: loss, accuracy, f1"),
        ({"validation": 1.5}, "a fraction between 0 and 1"),
        ({"early_stopping": {"patients": 3}}, "early_stopping has 'patients'"),
        ({"early_stopping": 0}, "early_stopping is 0, expected a whole number, at least 1, of epochs; None"),
        ({"early_stopping": True}, "early_stopping is True, expected a whole number"),
        ({"early_stopping": {"patience": 0}}, "patience of early_stopping is 0, expected"),
        ({"early_stopping": "loss"}, "early_stopping is 'loss', expected a number of epochs.*monitor"),
        ({"seed": -1}, "seed is -1, expected a whole number, at least 0"),
        ({"epochs": 0}, "epochs is 0, expected a whole number, at least 1"),
        ({"batch_size": 0}, "batch_size is 0, expected a whole number, at least 1"),
        ({"checkpoint": "/proc/none/best.safetensors"}, "checkpoint: cannot write '/proc/none/best.safetensors'"),
        ({"validation": (x, y + 1)}, "validation: fit: sample .* has the label 2, the model's classes are 0 to 1"),
        ({"learnig_rate": 1}, "there is no 'learnig_rate'"),
        ({"learning_rate": float("nan")}, "learning_rate is nan, expected a finite number"),
        ({"validation": 1}, r"data is a int, expected a Dataset, \(inputs, targets\), or a path"),
        ({"callback": 5}, "callback is 5, expected a function of an epoch"),
        ({"model": [64]}, r"model is a list, expected a Model, an ONNX model \(bytes or path\), or a network as dictionary"),
        ({"data": (np.array([["a"]]), [0])}, "inputs are no array of numbers: could not convert string to float"),
        ({"data": ([[1, 2], [3]], [0, 1])}, "inputs are no array of numbers: setting an array element"),
        ({"read": {"foo": 1}, "data": "none.csv"}, "read has 'foo'; there are: targets, inputs, labels, classes, delim"),
        ({"data": (x, y, y)}, "data has 3 parts, expected inputs and targets"),
        ({"data": [x, y]}, "data is a list, expected a Dataset"),
    ]:
        with pytest.raises(hearth.HearthError, match=message):
            hearth.fit(**{"model": {"hidden_sizes": [8]}, "data": halves, "device": device, **arguments})
    with pytest.raises(hearth.HearthError, match="cross_entropy, and the targets are numbers"):
        hearth.fit({}, (x, x[:, 0]), device=device)
    with pytest.raises(hearth.HearthError, match=r'kind "cnn" needs images \[channels, height, width\]'):
        hearth.fit(CNN, halves, device=device)
    package = hearth.cook_agents([{"name": "s", "size": 3}], [{"name": "a", "kind": "discrete", "n": 2}], device=device)
    with pytest.raises(hearth.HearthError, match="the entry 'learn' .*; expected a step of training"):
        hearth.fit(hearth.Model(package, device), halves)


def test_a_vulkan_device_trains(halves):
    if not hearth.devices():
        pytest.skip("needs a Vulkan driver")
    with hearth.Device() as device:
        result = hearth.fit({"hidden_sizes": [8]}, halves, epochs=40, learning_rate=0.01, device=device)
        assert result.evaluate(halves)["accuracy"] > 0.95
        result.model.close()
