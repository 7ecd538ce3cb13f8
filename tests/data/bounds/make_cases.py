# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Writes the cases in this folder: models with extents and trip counts that depend on data, and ONNX
Runtime's results for several inputs each, with many, few and no results.  A case is a folder as
`hearth verify` reads it.

Run in a virtual environment with onnx 1.23.2, onnxruntime 1.32.0 and numpy 2.4.6:

    python3 make_cases.py
"""

import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(37)
TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64,
         np.dtype(bool): TensorProto.BOOL}
node = helper.make_node


def port(name, array):
    return helper.make_tensor_value_info(name, TYPES[array.dtype], array.shape)


def free(name, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, None)


def case(name, nodes, feeds, outputs, constants=None, opset=19):
    feeds = [{k: np.asarray(v) for k, v in feed.items()} for feed in feeds]
    graph = helper.make_graph(
        nodes, name, [port(k, v) for k, v in feeds[0].items()],
        [free(o) if isinstance(o, str) else free(*o) for o in outputs],
        [numpy_helper.from_array(v, k) for k, v in (constants or {}).items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 9
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    (HERE / name).mkdir(exist_ok=True)
    onnx.save(model, HERE / name / "model.onnx")
    for i, feed in enumerate(feeds):
        folder = HERE / name / f"test_data_set_{i}"
        folder.mkdir(exist_ok=True)
        results = zip([o.name for o in session.get_outputs()], session.run(None, feed))
        for kind, tensors in (("input", feed.items()), ("output", results)):
            for k, (label, array) in enumerate(tensors):
                (folder / f"{kind}_{k}.pb").write_bytes(
                    numpy_helper.from_array(np.asarray(array), label).SerializeToString())


def rows(threshold, shape=(12, 3)):
    """Inputs of which many, few and no rows exceed the threshold."""
    x = RNG.normal(size=shape).astype(np.float32)
    return [{"x": x}, {"x": x - np.float32(threshold)}, {"x": -np.abs(x)}]


def boxes_and_scores(classes):
    feeds = []
    for spread in (4, 1, 0.2):
        corner = RNG.uniform(0, spread, size=(1, 30, 2))
        boxes = np.concatenate([corner, corner + RNG.uniform(0.5, 1.5, size=(1, 30, 2))], 2)
        scores = RNG.uniform(size=(1, classes, 30)) * (0.45 if spread < 1 else 1)
        feeds.append({"boxes": boxes.astype(np.float32), "scores": scores.astype(np.float32)})
    return feeds


INT = TensorProto.INT64
ZERO = {"zero": np.float32(0), "first": np.int64([0]), "one": np.int64([1])}
# The first elements of rows that are positive: x[x[:, 0] > 0].
SELECT = [node("Slice", ["x", "first", "one", "one"], ["column"]),
          node("Squeeze", ["column", "one"], ["flat"]),
          node("Greater", ["flat", "zero"], ["is_taken"])]
COMPRESS = SELECT + [node("Compress", ["x", "is_taken"], ["taken"], name="take", axis=0)]

case("nonzero", [node("NonZero", ["x"], ["places"], name="find")],
     [{"x": RNG.integers(0, 2, (4, 8)).astype(np.float32)}, {"x": np.zeros((4, 8), np.float32)},
      {"x": np.ones((4, 8), np.float32)}], [("places", INT)])
case("compress", COMPRESS, rows(0.5), ["taken"], ZERO)
case("compress_flat", [node("Greater", ["x", "zero"], ["above"]),
                       node("Reshape", ["above", "all"], ["flags"]),
                       node("Compress", ["x", "flags"], ["taken"])],
     rows(0.5, (3, 5)), ["taken"], {**ZERO, "all": np.int64([-1])})
case("unique", [node("Unique", ["x"], ["y", "first_places", "inverse", "counts"], sorted=0)],
     [{"x": RNG.integers(0, n, 20).astype(np.float32)} for n in (30, 4, 1)],
     ["y", ("first_places", INT), ("inverse", INT), ("counts", INT)])
case("unique_rows", [node("Unique", ["x"], ["y"], axis=0)],
     [{"x": RNG.integers(0, n, (6, 2)).astype(np.float32)} for n in (30, 2, 1)], ["y"])
case("gather_and_scatter",
     [node("Greater", ["x", "zero"], ["above"]), node("NonZero", ["above"], ["places"]),
      node("Transpose", ["places"], ["tuples"], perm=[1, 0]),
      node("GatherND", ["x", "tuples"], ["taken"]), node("Mul", ["taken", "two"], ["twice"]),
      node("ScatterND", ["x", "tuples", "twice"], ["y"])],
     rows(0.5, (3, 5)), ["y", "taken"], {**ZERO, "two": np.float32(2)})
case("reductions_of_selected",
     COMPRESS + [node("ReduceSum", ["taken", "first"], ["total"], keepdims=0),
                 node("ReduceSum", ["taken", "one"], ["row_totals"], keepdims=0),
                 node("MatMul", ["taken", "w"], ["product"]),
                 node("Softmax", ["taken"], ["shares"], axis=0),
                 node("CumSum", ["taken", "axis"], ["running"])],
     rows(0.5), ["total", "row_totals", "product", "shares", "running"],
     {**ZERO, "axis": np.int64(0), "w": RNG.normal(size=(3, 2)).astype(np.float32)})
case("means_of_selected",
     COMPRESS + [node("ReduceMean", ["taken", "first"], ["mean"], keepdims=1),
                 node("ReduceMax", ["taken", "first"], ["max"], keepdims=1),
                 node("ReduceMin", ["taken", "first"], ["min"], keepdims=0),
                 node("ArgMax", ["taken"], ["best"], axis=0),
                 node("Sub", ["taken", "mean"], ["centred"]),
                 node("Transpose", ["centred"], ["turned"], perm=[1, 0]),
                 node("MatMul", ["turned", "centred"], ["covariance"])],
     [{"x": f["x"] + np.float32(0.7)} for f in rows(0.5)[:2]], ["mean", "max", "min", ("best", INT), "centred", "covariance"], ZERO)
case("shape_of_selected",
     COMPRESS + [node("Shape", ["taken"], ["shape"]), node("Size", ["taken"], ["size"]),
                 node("Gather", ["shape", "front"], ["count"]),
                 node("Range", ["front", "count", "step"], ["numbers"]),
                 node("ConstantOfShape", ["shape"], ["zeros"]),
                 node("Min", ["count", "four"], ["k"]), node("Unsqueeze", ["k", "first"], ["ks"]),
                 node("Slice", ["taken", "first", "ks", "first"], ["head"]),
                 node("Slice", ["taken", "one", "end", "first"], ["middle"])],
     rows(0.5), [("shape", INT), ("size", INT), ("numbers", INT), "zeros", "head", "middle"],
     {**ZERO, "front": np.int64(0), "step": np.int64(1), "four": np.int64(4),
      "end": np.int64([-1])})
case("top_of_selected",
     COMPRESS + [node("Shape", ["taken"], ["shape"], end=1), node("Min", ["shape", "five"], ["k"]),
                 node("TopK", ["taken", "k"], ["best", "places"], axis=0)],
     rows(0.5), ["best", ("places", INT)], {**ZERO, "five": np.int64([5])})
case("concat_of_selected",
     COMPRESS + [node("Not", ["is_taken"], ["is_left"]),
                 node("Compress", ["x", "is_left"], ["left"], name="leave", axis=0),
                 node("Neg", ["left"], ["less"]),
                 node("Concat", ["taken", "x", "less"], ["y"], axis=0)],
     rows(0.5), ["y"], ZERO)
case("nms", [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["kept"], name="nms")],
     boxes_and_scores(2), [("kept", INT)],
     {"most": np.int64([5]), "iou": np.float32([0.3]), "score": np.float32([0.5])})
case("nms_center_of_all",
     [node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["kept"], center_point_box=1)],
     boxes_and_scores(1), [("kept", INT)], {"most": np.int64([2**62]), "iou": np.float32([0.2])})
case("nms_limits_as_inputs",
     [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["kept"])],
     [{**f, "most": np.int64([m]), "score": np.float32([s])}
      for f, m, s in zip(boxes_and_scores(2), (3, 30, 0), (0.5, 0.1, 0))],
     [("kept", INT)], {"iou": np.float32([0.3])})
case("detector",
     [node("NonMaxSuppression", ["boxes", "scores", "most", "iou", "score"], ["kept"], name="nms"),
      node("Gather", ["kept", "two"], ["box"], axis=1), node("Gather", ["kept", "one"], ["kind"], axis=1),
      node("Squeeze", ["boxes", "first"], ["all_boxes"]), node("Gather", ["all_boxes", "box"], ["found"]),
      node("GatherND", ["scores", "kept"], ["confidence"])],
     boxes_and_scores(3), ["found", "confidence", ("kind", INT)],
     {"most": np.int64([10]), "iou": np.float32([0.3]), "score": np.float32([0.5]),
      "two": np.int64(2), "one": np.int64(1), "first": np.int64([0])})
# Boxes above a threshold first, then suppression of those: exports of torchvision.
case("detector_of_selected",
     [node("Greater", ["confidence", "least"], ["is_taken"]),
      node("Compress", ["x", "is_taken"], ["some"], name="boxes", axis=0),
      node("Compress", ["confidence", "is_taken"], ["some_scores"], name="scores", axis=0),
      node("Unsqueeze", ["some", "first"], ["b"]), node("Unsqueeze", ["some_scores", "both"], ["s"]),
      node("NonMaxSuppression", ["b", "s", "most", "iou"], ["kept"]),
      node("Gather", ["kept", "two"], ["box"], axis=1), node("Gather", ["some", "box"], ["found"])],
     [{"x": f["boxes"][0], "confidence": f["scores"][0, 0]} for f in boxes_and_scores(1)], ["found"],
     {"most": np.int64([20]), "iou": np.float32([0.3]), "two": np.int64(2), "least": np.float32(0.3),
      "first": np.int64([0]), "both": np.int64([0, 1])})


def body(nodes, inputs, outputs, constants=None):
    return helper.make_graph(nodes, "body", inputs, outputs,
                             [numpy_helper.from_array(v, k) for k, v in (constants or {}).items()])


def scalar(name, kind=TensorProto.FLOAT, shape=()):
    return helper.make_tensor_value_info(name, kind, shape)


# while sum(v) < limit: v = 1.5 v + x
grow = body([node("Mul", ["v", "rate"], ["scaled"]), node("Add", ["scaled", "x"], ["w"]),
             node("ReduceSum", ["w"], ["total"], keepdims=0), node("Less", ["total", "limit"], ["goes_on"])],
            [scalar("turn", INT), scalar("go", TensorProto.BOOL), scalar("v", shape=(3,))],
            [scalar("goes_on", TensorProto.BOOL), scalar("w", shape=(3,)), scalar("total")],
            {"rate": np.float32(1.5)})
GROW = [{"x": np.full(3, v, np.float32), "limit": np.float32(40)} for v in (0.1, 2, 20, 100)]
case("loop_while", [node("Loop", ["most", "", "x"], ["end", "totals"], name="grow", body=grow)], GROW,
     ["end", "totals"], {"most": np.int64(20)})
case("loop_over_selected",
     COMPRESS + [node("Shape", ["taken"], ["shape"], end=1), node("Squeeze", ["shape"], ["count"]),
                 node("Loop", ["count", "", "start"], ["end", "seen"],
                      body=body([node("Gather", ["taken", "turn"], ["row"]), node("Add", ["v", "row"], ["w"]),
                                 node("Identity", ["go"], ["goes_on"]), node("Identity", ["w"], ["noted"])],
                                [scalar("turn", INT), scalar("go", TensorProto.BOOL), scalar("v", shape=(3,))],
                                [scalar("goes_on", TensorProto.BOOL), scalar("w", shape=(3,)),
                                 scalar("noted", shape=(3,))]))],
     rows(0.5), ["end", "seen"], {**ZERO, "start": np.zeros(3, np.float32)})
case("branch_without_results",
     COMPRESS + [node("Size", ["taken"], ["size"]), node("Greater", ["size", "none"], ["any"]),
                 node("If", ["any"], ["y"],
                      then_branch=body([node("Mul", ["taken", "twice"], ["a"])], [], [free("a")],
                                       {"twice": np.float32(2)}),
                      else_branch=body([node("Identity", ["empty"], ["b"])], [], [free("b")],
                                       {"empty": np.zeros((0, 3), np.float32)}))],
     rows(0.5), ["y"], {**ZERO, "none": np.int64(0)})
