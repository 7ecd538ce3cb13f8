# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Writes the cases in this folder: Resize nodes of one rank and mode, and ONNX Runtime's results for
them, flattened into one output.  A case is a folder as `hearth verify` reads it; its nodes are named
after their attributes.

Combinations that ONNX Runtime refuses (cubic with one or three spatial axes) are left out.  Run in a
virtual environment with onnx 1.23.2, onnxruntime 1.32.0 and numpy 2.4.6:

    python3 make_cases.py
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(4)
EXTENTS = {1: (7,), 2: (5, 7), 3: (3, 5, 4)}
SCALES = {1: [(1.5,), (1.3,), (0.6,), (2.7,)],
          2: [(1.5, 1.5), (1.3, 0.6), (0.45, 2.7)],
          3: [(1.5, 1.5, 1.5), (1.4, 0.7, 2.3)]}
SIZES = {1: [(11,), (3,), (1,)], 2: [(9, 11), (3, 4)], 3: [(5, 3, 7)]}
COORDINATES = ["align_corners", "half_pixel", "pytorch_half_pixel", "asymmetric"]


def nodes(axes, mode):
    """Yields a name, attributes, scales and sizes."""
    roundings = ["round_prefer_floor", "floor"] if mode == "nearest" else [None]
    # Of half_pixel_symmetric the nearest element may be a tie that single precision decides.
    for coordinates in COORDINATES + (["half_pixel_symmetric"] if mode != "nearest" else []):
        for rounding in roundings:
            attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
            if rounding:
                attributes["nearest_mode"] = rounding
            stem = "_".join([coordinates] + ([rounding] if rounding else []))
            for scales in SCALES[axes]:
                yield f"{stem}_by_" + "_".join(map(str, scales)), attributes, scales, None
            for sizes in SIZES[axes]:
                yield f"{stem}_to_" + "_".join(map(str, sizes)), attributes, None, sizes


def model_of(name, x, chosen):
    made, initializers = [], [numpy_helper.from_array(np.int64([-1]), "flat")]
    for y, attributes, scales, sizes in chosen:
        inputs = ["x", "", ""]
        if scales:
            initializers.append(numpy_helper.from_array(np.float32((1, 1, *scales)), y + ".scales"))
            inputs[2] = y + ".scales"
        else:
            initializers.append(
                numpy_helper.from_array(np.int64((*x.shape[:2], *sizes)), y + ".sizes"))
            inputs.append(y + ".sizes")
        made.append(helper.make_node("Resize", inputs, [y], name=y, **attributes))
        made.append(helper.make_node("Reshape", [y, "flat"], [y + ".flat"]))
    made.append(helper.make_node("Concat", [n[0] + ".flat" for n in chosen], ["y"], axis=0))
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph(made, name, ports[:1], ports[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    model.ir_version = 9
    return model


def run(model, x):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def is_supported(x, node):
    try:
        run(model_of("one", x, [node]), x)
        return True
    except Exception:  # ONNX Runtime has no narrower class
        return False


for axes, extents in EXTENTS.items():
    x = RNG.normal(size=(1, 2, *extents)).astype(np.float32)
    for mode in ("nearest", "linear", "cubic"):
        chosen = [n for n in nodes(axes, mode) if is_supported(x, n)]
        if not chosen:
            continue
        name = f"{mode}_{axes}d"
        model = model_of(name, x, chosen)
        folder = HERE / name / "test_data_set_0"
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, HERE / name / "model.onnx")
        (folder / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
        (folder / "output_0.pb").write_bytes(
            numpy_helper.from_array(run(model, x)[0], "y").SerializeToString())
