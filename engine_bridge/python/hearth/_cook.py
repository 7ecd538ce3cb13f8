# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The compiler: cooks models and agents into packages."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import _interface as c
from ._device import Device
from ._library import check, lib
from ._model import Package, read_bytes


def _options(common: Mapping[str, Any], **own: Any) -> bytes:
    return json.dumps({k: v for k, v in {**common, **own}.items() if v is not None}).encode()


def _taken(cook: Any) -> bytes:
    """Calls cook(blob, messages) and takes the blob's bytes."""
    blob, messages = ctypes.c_void_p(), c.Messages()
    check(cook(ctypes.byref(blob), ctypes.byref(messages)), lambda: messages.text)
    try:
        return ctypes.string_at(lib().hearth_blob_data(blob), lib().hearth_blob_bytes(blob))
    finally:
        lib().hearth_blob_destroy(blob)


def _common(max_batch_size: int | None, device_targets: Sequence[str] | None, precision: str | None,
            quantize: str | None, device: Device | None, assume_int32: bool = False,
            assume_float32: bool = False) -> tuple[dict[str, Any], Any]:
    if device_targets is None:
        device_targets = ["device"] if device is not None else ["baseline"]
    return ({"max_batch_size": max_batch_size, "device_targets": list(device_targets), "precision": precision,
             "quantize": quantize, "assume_int32": assume_int32 or None, "assume_float32": assume_float32 or None},
            device._handle if device is not None else None)


def cook_onnx(model: Package, *, max_batch_size: int = 1, name: str = "main",
              shapes: Mapping[str, Sequence[int | str]] | None = None, bounds: Mapping[str, int] | None = None,
              learn: Mapping[str, Any] | None = None,
              device_targets: Sequence[str] | None = None, precision: str = "f32", quantize: str | None = None,
              device: Device | None = None, assume_int32: bool = False, assume_float32: bool = False) -> bytes:
    """Compiles an ONNX model into a package: the bytes of a .hearth file.

    model: its bytes or its path (external tensor files lie beside it).  max_batch_size: maximum batch size of a run.
    name: of the entry.  shapes: of inputs, in place of those declared; an extent is a number or "batch".
    bounds: the largest extents and trip counts that depend on data, by node or output ({"nms": 100}). Such an output
    NAME has this extent, and the output NAME_count holds the number of elements in use; the rest is padding.
    device_targets: as `hearth cook --device-targets`; None: "baseline", or with a device "device", for this one alone.
    precision: "f32" or "f16".  quantize: None, "f16", "int8" or "int4".
    assume_int32: on a GPU without 64-bit integers, hold int64 in 32 bits even where its range is not proven to fit.
    assume_float32: on a GPU, compute float64 in float32.  Both are errors of the compiler otherwise.
    learn: adds the entry "learn", one training step: {"loss": "mse", "l1", "huber" or "cross_entropy", "output":
    name, "max_grad_norm": 0, "optimizer": "sgd", "adam", "adagrad", "rmsprop", "lion", "adan" or "muon", and options of
    it, as "weight_decay", "momentum", "beta1"}.  Besides the model's inputs it takes target and learning_rate; it
    returns loss.
    Errors: HearthError with the message of the importer or compiler.  Any thread.
    """
    common, host = _common(max_batch_size, device_targets, precision, quantize, device, assume_int32, assume_float32)
    folder = str(Path(model).parent) if isinstance(model, (str, os.PathLike)) else None
    options = _options(common, name=name, shapes=shapes, bounds=bounds, learn=learn, folder=folder)
    data = read_bytes(model)
    return _taken(lambda blob, messages: lib().hearth_cook_onnx(data, len(data), options, host, blob, messages))


def cook_package(package: Package, *, max_batch_size: int | None = None, device_targets: Sequence[str] | None = None,
                 precision: str | None = None, quantize: str | None = None, device: Device | None = None,
                 weights: Package | None = None, assume_int32: bool = False,
                 assume_float32: bool = False) -> bytes:
    """Compiles a package again from the graphs and weights in it, for other device targets or another batch size.

    max_batch_size, precision: None: as the package was compiled.  weights: trained weights in place of the package's,
    as for `export_onnx`: what is loaded from the result acts as trained, without a brain.
    assume_int32, assume_float32: as `cook_onnx`.  Errors: HearthError, also for weights of another model.
    """
    common, host = _common(max_batch_size, device_targets, precision, quantize, device, assume_int32, assume_float32)
    options, data = _options(common), read_bytes(package)
    if weights is not None:
        held = read_bytes(weights)
        return _taken(lambda blob, messages: lib().hearth_cook_package_with_weights(
            data, len(data), options, held, len(held), host, blob, messages))
    return _taken(lambda blob, messages: lib().hearth_cook_package(data, len(data), options, host, blob, messages))


def export_onnx(package: Package, *, entry: str | None = None, weights: Package | None = None) -> bytes:
    """Writes an entry of a package as an ONNX model: the bytes of an .onnx file.

    entry: None: the only one, or "main".  weights: trained weights in place of the package's, as bytes or a path: a
    brain of the package, or a .safetensors or .pt file whose tensors have the params' names.
    Errors: HearthError naming the entries, the tensor that the weights lack, or the operators that ONNX lacks.
    """
    options, data = _options({}, entry=entry), read_bytes(package)
    held = read_bytes(weights) if weights is not None else b""
    return _taken(lambda blob, messages: lib().hearth_export_onnx(
        data, len(data), options, held or None, len(held), blob, messages))


def cook_agents(observations: Sequence[Mapping[str, Any]], actions: Sequence[Mapping[str, Any]], *,
                n_agents: int = 16, network: Mapping[str, Any] | None = None,
                learner: Mapping[str, Any] | None = None, frame_stack: int = 1, seed: int = 0,
                device_targets: Sequence[str] | None = None, precision: str = "f32",
                device: Device | None = None) -> bytes:
    """Compiles agents that learn into a package, for `Agents` and for hearth_agents.h in a game.

    observations: fields such as {"name": "speed", "kind": "box", "size": 2, "low": 0, "high": 30}.
    actions: {"name": "move", "kind": "discrete", "n": 4} or {"name": "aim", "kind": "continuous", "size": 2}.
    n_agents: maximum number.  frame_stack: number of observations that the network sees.
    network: {"kind": "mlp", "hidden_sizes": [64, 64], "activation": "tanh", "init": "orthogonal"} ("pytorch_default"
    suits SAC), {"kind": "cnn", "shape": [10, 10, 4], "convolutions": [{"channels": 16, "kernel_size": 3}],
    "hidden_sizes": [128]} of an image that is the whole observation, {"kind": "gru", "hidden_size": 64} or {"kind":
    "lstm", "hidden_size": 64, "before": [], "after": [64]}.
    learner: {"kind": "ppo", "dqn", "sac", "behavior_cloning" or "tamer", ...hyperparameters by name}
    (docs/reference/learners.md).
    sdk/support/workbench/hearth_workbench.h lists all kinds and keys.
    Errors: HearthError, also for unknown keys, listing the known ones.  Any thread.
    """
    common, host = _common(n_agents, device_targets, precision, None, device)
    options = _options(common, observations=list(observations), actions=list(actions), network=network,
                       learner=learner, frame_stack=frame_stack, seed=seed)
    return _taken(lambda blob, messages: lib().hearth_cook_agents(options, host, blob, messages))


def cook_network(*, input_shape: Sequence[int], outputs: int = 1, network: Mapping[str, Any] | None = None,
                 learn: Mapping[str, Any] | None = None, mean: Sequence[float] | None = None,
                 std: Sequence[float] | None = None, seed: int = 0, max_batch_size: int = 256,
                 device_targets: Sequence[str] | None = None, precision: str = "f32",
                 device: Device | None = None) -> bytes:
    """Compiles a network for supervised training into a package, with the entries "main" (x -> y) and "learn".

    input_shape: of one sample.  network: "mlp" or "cnn" as for `cook_agents`, without shape; images are [channels,
    height, width].  A linear layer to the outputs follows.  learn: as for `cook_onnx`.  mean, std: of each input, by
    which x is scaled.
    Errors: HearthError, also for unknown keys.  Any thread.
    """
    common, host = _common(max_batch_size, device_targets, precision, None, device)
    options = _options(common, input=list(input_shape), outputs=outputs, network=network, learn=learn, seed=seed,
                       mean=mean, std=std)
    return _taken(lambda blob, messages: lib().hearth_cook_network(options, host, blob, messages))


def cook_regression(*, input_size: int, output_size: int = 1, max_batch_size: int = 128,
                    network: Mapping[str, Any] | None = None, seed: int = 0,
                    device_targets: Sequence[str] | None = None, device: Device | None = None,
                    **settings: Any) -> bytes:
    """Compiles online regression into a package, for `Regression` and for hearth.h in a game.

    settings: buffer_size, batch_size, learning_starts, learning_rate, huber_delta (0: squared error), target_limit,
    max_grad_norm, max_update_ratio.  network: as for `cook_agents`, without recurrent state.
    Errors: HearthError, also for unknown settings.
    """
    common, host = _common(max_batch_size, device_targets, None, None, device)
    options = _options(common, input_size=input_size, output_size=output_size, network=network, seed=seed, **settings)
    return _taken(lambda blob, messages: lib().hearth_cook_regression(options, host, blob, messages))
