# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Supervised training: data sets, epochs, metrics, early stopping (sdk/include/hearth/fit.hpp).

    result = hearth.fit({"kind": "mlp", "hidden_sizes": [64]}, "flowers.csv", "cross_entropy", ["accuracy"],
                        epochs=100, validation=0.2, early_stopping=10)
    result.predict(inputs)
"""

from __future__ import annotations

import ctypes
import json
import math
import numbers
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

import numpy as np

from . import _interface as c
from ._cook import cook_network, cook_onnx
from ._device import Device
from ._library import HearthError, check, check_whole, check_writable, invalid, lib
from ._logs import is_no
from ._model import Array, Model, Package, read_bytes

#: Arguments of `Dataset.load`.
_READ = ("targets", "inputs", "labels", "classes", "delimiter")
#: What `fit` takes as data: a `Dataset`, arrays (inputs, targets), or the path of a folder of images, .npz or CSV.
Data = Union["Dataset", "tuple[Any, Any]", str, "os.PathLike[str]"]


class Dataset:
    """Samples: inputs with their targets, which are numbers, or labels of classes.

    inputs: [n, ...].  targets: integers or names [n] are labels, floats [n, ...] numbers; [n] becomes [n, 1].
    classes: names of the labels 0, 1, ...; without them, names that occur, sorted.
    Errors: HearthError for no samples, other numbers of samples, an element that is not finite and a label out of
    range, naming the sample.
    """

    def __init__(self, inputs: Any, targets: Any, classes: Sequence[str] = ()) -> None:
        try:
            x = np.ascontiguousarray(inputs, np.float32)
        except (TypeError, ValueError) as error:
            raise invalid(f"inputs are no array of numbers: {error}") from error
        y = np.asarray(targets)
        if y.dtype.kind == "U":
            y, classes = _labels(y, classes)
        has_labels = y.dtype.kind in "iub"
        if has_labels and y.size and (y.min() < -2**31 or y.max() >= 2**31):
            raise HearthError(f"labels are {y.min()} to {y.max()}, expected whole numbers from 0 on", -6,
                              "HEARTH_ERROR_OUT_OF_RANGE")
        y = np.ascontiguousarray(y, np.int32 if has_labels else np.float32)
        dims = [(ctypes.c_uint64 * max(1, a.ndim))(*a.shape) for a in (x, y)]
        self._take(lambda out, messages: lib().hearth_dataset_create(
            x.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), dims[0], x.ndim, y.ctypes.data, dims[1], y.ndim,
            int(has_labels), json.dumps({"classes": list(classes)}).encode(), out, messages))

    def _take(self, make: Any) -> None:
        self._handle = ctypes.c_void_p()
        messages = c.Messages()
        check(make(ctypes.byref(self._handle), ctypes.byref(messages)), lambda: messages.text)
        self._describe()

    def _describe(self) -> None:
        blob = ctypes.c_void_p()
        check(lib().hearth_dataset_describe(self._handle, ctypes.byref(blob), None), "the data set has no description")
        about = json.loads(_text(blob))
        #: True if the targets are labels.
        self.has_labels: bool = about["labels"]
        #: Names of the labels; empty: they have none.
        self.classes: list[str] = about["classes"]
        self.inputs = self._view(lib().hearth_dataset_inputs(self._handle), about["inputs"], np.float32)
        self.targets = self._view(lib().hearth_dataset_targets(self._handle), about["targets"],
                                  np.int32 if self.has_labels else np.float32)

    def _view(self, data: Any, shape: list[int], dtype: Any) -> Array:
        """A read-only array over the data set's memory, which it keeps alive."""
        address = ctypes.cast(data, ctypes.c_void_p).value
        memory = (ctypes.c_uint8 * (4 * int(np.prod(shape)))).from_address(address)
        memory.owner = self._handle_owner()  # type: ignore[attr-defined]
        view = np.frombuffer(memory, dtype).reshape(shape)
        view.flags.writeable = False
        return view

    def _handle_owner(self) -> _Owner:
        if getattr(self, "_owner", None) is None:
            self._owner = _Owner(self._handle)
        return self._owner

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, targets: str | int | Sequence[str | int] = (), inputs: str = "x",
             labels: bool = False, classes: Sequence[str] = (), delimiter: str = ",") -> Dataset:
        """Reads a folder of images (FOLDER/CLASS/IMAGE: PNG, PGM, PPM), an .npz file, or else CSV.

        targets: columns of CSV by name or position (default: the last), or the array of an .npz ("y").  inputs: the
        array of inputs of an .npz.  labels: the targets are labels, whole numbers or names.  classes: names of the
        labels; a validation set of its own needs those of its training set.
        Errors: HearthError naming file, line and column, array, or image.
        """
        names = [targets] if isinstance(targets, (str, int)) else list(targets)
        options = json.dumps({"targets": [str(name) for name in names], "inputs": inputs, "labels": labels,
                              "classes": list(classes), "delimiter": delimiter}).encode()
        return cls._from(lambda out, messages: lib().hearth_dataset_load(os.fsencode(path), options, out, messages))

    @classmethod
    def _from(cls, make: Any) -> Dataset:
        self = cls.__new__(cls)
        self._take(make)
        return self

    def split(self, fraction: float, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Divides it at random; the second part has `fraction` of the samples."""
        parts = [Dataset.__new__(Dataset) for _ in range(2)]
        handles = [ctypes.c_void_p(), ctypes.c_void_p()]
        messages = c.Messages()
        check(lib().hearth_dataset_split(self._handle, fraction, seed, *(ctypes.byref(h) for h in handles),
                                         ctypes.byref(messages)), lambda: messages.text)
        for part, handle in zip(parts, handles):
            part._handle = handle
            part._describe()
        return parts[0], parts[1]

    def __len__(self) -> int:
        return len(self.inputs)

    def __repr__(self) -> str:
        kind = f"labels of {len(self.classes) or int(self.targets.max()) + 1} classes" if self.has_labels else "numbers"
        return f"<Dataset: {len(self)} samples of {list(self.inputs.shape[1:])}, {kind}>"


class _Owner:
    """Destroys the data set with the last array over its memory."""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle

    def __del__(self) -> None:
        lib().hearth_dataset_destroy(self._handle)


def _text(blob: ctypes.c_void_p) -> bytes:
    try:
        return ctypes.string_at(lib().hearth_blob_data(blob), lib().hearth_blob_bytes(blob))
    finally:
        lib().hearth_blob_destroy(blob)


@dataclass
class Fit:
    """A model with the weights of its best epoch, and how it got them."""

    model: Model
    loss: str
    history: list[dict[str, Any]]  #: of each epoch: epoch, train_loss, validation: {metric: number}
    best_epoch: int
    best: dict[str, float]  #: metrics of the validation set, with the weights that the model has now
    confusion: Array  #: int64 [classes, classes] of the validation set: rows are targets; empty without labels
    end: str  #: "epochs", "early_stopping", "callback" or "stop_request"
    classes: list[str]  #: names of the labels

    def predict(self, inputs: Any) -> Array:
        """Returns predictions, float32 [n, ...], logits of classes, for any number of inputs [n, ...]."""
        x, at_once = np.asarray(inputs, np.float32), self.model.max_batch_size
        name = self.model.inputs()[0].name
        output = self.model.outputs()[0].name
        if len(x) == 0:
            return np.empty((0, *self.model.outputs()[0].resolve(1)[1:]), np.float32)
        return np.concatenate([self.model.run(None, {name: x[begin:begin + at_once]})[output]
                               for begin in range(0, len(x), at_once)])

    def evaluate(self, data: Data, **read: Any) -> dict[str, float]:
        """Returns the metrics of a data set.  read: as of `Dataset.load`, for a path."""
        read.setdefault("classes", self.classes)
        samples = _dataset(data, self.loss, read)
        return _run(self.model, samples, samples, {"loss": self.loss, "epochs": 0}, None)[1]["best"]


def _dataset(data: Data, loss: str, read: Mapping[str, Any]) -> Dataset:
    if isinstance(data, Dataset):
        return data
    if isinstance(data, tuple):
        if len(data) != 2:
            raise invalid(f"data has {len(data)} parts, expected inputs and targets")
        return Dataset(*data)
    if not isinstance(data, (str, os.PathLike)):
        raise invalid(f"data is a {type(data).__name__}, expected a Dataset, (inputs, targets), or a path")
    if unknown := set(read) - set(_READ):
        raise HearthError(f"read has '{min(unknown)}'; there are: {', '.join(_READ)}", -2, "HEARTH_ERROR_NOT_FOUND")
    return Dataset.load(data, **{"labels": loss == "cross_entropy", **read})


def _labels(names: Array, classes: Sequence[str]) -> tuple[Array, list[str]]:
    """Returns the labels of names [n], and the classes."""
    known = list(classes) or sorted(set(names.reshape(-1).tolist()))
    index = {name: i for i, name in enumerate(known)}
    for sample, name in enumerate(names.reshape(-1).tolist()):
        if name not in index:
            raise invalid(f"sample {sample} has the class '{name}', expected one of: {', '.join(known)}")
    return np.vectorize(index.__getitem__, otypes=[np.int32])(names), known


def _model(model: Any, data: Dataset, loss: str, batch_size: int, seed: int, where: Device | str | int,
           step: Mapping[str, Any]) -> Model:
    largest = max(batch_size, 256)
    learn = {"loss": loss, **step}
    if isinstance(model, Model):
        if step:
            raise invalid(f"'{next(iter(step))}' belongs to the model's entry 'learn': pass it to cook_onnx")
        return model
    device = where if isinstance(where, Device) else Device(where)
    if not isinstance(model, (Mapping, str, bytes, bytearray, memoryview, os.PathLike)):
        raise invalid(f"model is a {type(model).__name__}, expected a Model, an ONNX model (bytes or path), or a network "
                      "as dictionary")
    if not isinstance(model, Mapping):
        return Model(cook_onnx(model, max_batch_size=largest, learn=learn, device=device), device)
    if loss == "cross_entropy" and not data.has_labels:
        raise invalid("the loss is cross_entropy, and the targets are numbers: give labels, whole numbers or names")
    outputs = (max(len(data.classes), int(data.targets.max()) + 1) if data.has_labels
               else int(np.prod(data.targets.shape[1:])))
    scale: dict[str, Any] = {}
    if data.inputs.ndim == 2:  # columns have units of their own; pixels are in [0, 1]
        std = data.inputs.std(0, np.float64)
        scale = {"mean": data.inputs.mean(0, np.float64).tolist(), "std": np.where(std > 0, std, 1).tolist()}
    return Model(cook_network(input_shape=data.inputs.shape[1:], outputs=outputs, network=model, learn=learn,
                              seed=seed, max_batch_size=largest, device=device, **scale), device)


def _stopping(given: int | Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns monitor, patience and min_delta, those that are given."""
    if given is None:
        return {}
    if isinstance(given, str) or not isinstance(given, (numbers.Integral, Mapping)):
        raise invalid(f"early_stopping is {given!r}, expected a number of epochs, or a dictionary such as "
                      '{"monitor": "loss", "patience": 10}')
    name, stopping = (("patience of early_stopping", dict(given)) if isinstance(given, Mapping)
                      else ("early_stopping", {"patience": given}))
    if unknown := set(stopping) - {"monitor", "patience", "min_delta"}:
        raise HearthError(f"early_stopping has '{min(unknown)}'; there are: monitor, patience, min_delta", -2,
                          "HEARTH_ERROR_NOT_FOUND")
    if "patience" in stopping:
        stopping["patience"] = check_whole(name, stopping["patience"], 1, otherwise=", of epochs; None: never stops")
    return stopping


def _run(model: Model, train: Dataset, validation: Dataset | None, options: Mapping[str, Any],
         callback: Callable[[dict[str, Any]], bool | None] | None) -> tuple[bytes, dict[str, Any]]:
    """Calls hearth_fit; returns the brain and the report."""
    raised: list[BaseException] = []

    def after_epoch(_: Any, epoch: bytes) -> int:
        try:
            return int(callback is None or not is_no(callback(json.loads(epoch))))
        except BaseException as error:  # goes on in fit's caller
            raised.append(error)
            return 0

    brain, report, messages = ctypes.c_void_p(), ctypes.c_void_p(), c.Messages()
    start, text = model.save_brain(), json.dumps(options).encode()
    check(lib().hearth_fit(model.device._handle, model._package, len(model._package), start, len(start), train._handle,
                           None if validation is None else validation._handle, text, c.FitCallback(after_epoch), None,
                           ctypes.byref(brain), ctypes.byref(report), ctypes.byref(messages)), lambda: messages.text)
    learned, found = _text(brain), json.loads(_text(report))
    if raised:
        raise raised[0]
    return learned, found


def fit(model: Model | Mapping[str, Any] | Package, data: Data, loss: str = "cross_entropy",
        metrics: str | Sequence[str] = (), epochs: int = 10, validation: float | Data | None = None,
        early_stopping: int | Mapping[str, Any] | None = None, checkpoint: str | os.PathLike[str] | None = None, *,
        batch_size: int = 32, learning_rate: float = 1e-3, seed: int = 0, log: str | os.PathLike[str] | None = None,
        callback: Callable[[dict[str, Any]], bool | None] | None = None, device: Device | str | int = "cpu",
        read: Mapping[str, Any] | None = None, **step: Any) -> Fit:
    """Trains a model on samples and returns it with the weights of its best epoch.

    model: a `Model` with the entry "learn" (`cook_onnx` with learn), an ONNX model (bytes or path), or a network as for
    `cook_agents`, {"kind": "mlp", "hidden_sizes": [64, 64]} or {"kind": "cnn", "convolutions": [...]}; a network gets
    a linear layer for the targets, and columns of inputs are scaled to mean 0 and deviation 1 of the training set.
    data: a `Dataset`, (inputs, targets), or the path of a folder of images, .npz or CSV, with `read` as the arguments
    of `Dataset.load`.  loss: "cross_entropy" of labels; "mse", "l1" or "huber" of numbers.
    metrics: of the validation set beside the loss: "accuracy" and "f1" (mean of the classes) of labels, "mae" and "r2"
    of numbers; empty: all.  validation: a fraction of the data, or data of its own.
    early_stopping: epochs without a better loss after which training stops, or {"monitor": "accuracy", "patience": 10,
    "min_delta": 0}.  checkpoint: a .safetensors file of the best weights so far.
    log: a run log for `hearth watch`, which can stop the run.  callback: called after each epoch with {"epoch",
    "train_loss", "validation"}; returning False stops.
    step: of networks and ONNX models max_grad_norm, optimizer ("sgd", "adam", "adagrad", "rmsprop", "lion", "adan",
    "muon") and its options: "weight_decay", "momentum", "beta1", ... as hearth/optim.hpp names them.
    Equal arguments and seed give equal weights.
    Errors: HearthError for data that the model cannot take, naming the sample, and for a loss that is not finite.
    """
    for name, value in {"learning_rate": learning_rate, **step}.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise invalid(f"{name} is {value}, expected a finite number")
    stopping = _stopping(early_stopping)
    if callback is not None and not callable(callback):
        raise invalid(f"callback is {callback!r}, expected a function of an epoch")
    for name, least in (("epochs", 1), ("batch_size", 1), ("seed", 0)):
        check_whole(name, {"epochs": epochs, "batch_size": batch_size, "seed": seed}[name], least)
    for name, path in (("checkpoint", checkpoint), ("log", log)):
        if path is not None:
            check_writable(name, path)
    where = {} if read is None else dict(read)
    train, held = _dataset(data, loss, where), None
    if isinstance(validation, numbers.Real) and not isinstance(validation, numbers.Integral):
        train, held = train.split(float(validation), seed)
    elif validation is not None:
        held = _dataset(validation, loss, {"classes": train.classes, **where})
    trained = _model(model, train, loss, batch_size, seed, device, step)
    options = {"loss": loss, "epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate, "seed": seed,
               "metrics": [metrics] if isinstance(metrics, str) else list(metrics), **stopping}
    options |= {name: os.fspath(path) for name, path in (("checkpoint", checkpoint), ("log", log)) if path is not None}
    brain, report = _run(trained, train, held, options, callback)
    trained.load_brain(brain)
    confusion = np.array(report.pop("confusion"), np.int64)
    return Fit(model=trained, loss=loss, confusion=confusion, classes=train.classes, **report)
