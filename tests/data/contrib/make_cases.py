# SPDX-FileCopyrightText: 2026 The Hearth Authors
# SPDX-License-Identifier: MIT OR Apache-2.0

"""Writes the cases in this folder: models of com.microsoft operators, and what ONNX Runtime makes of
random inputs.  A case is a folder as `hearth verify` reads it.

Run in a virtual environment with onnx 1.16.2, onnxruntime 1.18.1 and numpy 1.26, and with "recent" in
one with onnx 1.18.0 and onnxruntime 1.32.0, for integers of 4 bits and recurrent networks:

    python3 make_cases.py [recent]
"""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

HERE = pathlib.Path(__file__).parent
RNG = np.random.default_rng(12)


def u8(*shape):
    return RNG.integers(0, 256, shape, dtype=np.uint8)


def i8(*shape):
    return RNG.integers(-128, 128, shape, dtype=np.int8)


def f32(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def scale(value):
    return np.float32(value)


class Case:
    """One node; its operands are inputs of the model (as_input) or initializers."""

    def __init__(self, name, op, operands, output=np.float32, as_input=(0,), tolerance=None, **attrs):
        inputs, initializers, names, data = [], [], [], []
        for i, value in enumerate(operands):
            if value is None:
                names.append("")
                continue
            value = np.asarray(value)
            names.append(f"in{i}")
            if i in as_input:
                kind = helper.np_dtype_to_tensor_dtype(value.dtype)
                shape = ["batch", *value.shape[1:]] if i == 0 and value.ndim > 1 else value.shape
                inputs.append(helper.make_tensor_value_info(names[-1], kind, shape))
                data.append(value)
            else:
                initializers.append(numpy_helper.from_array(value, names[-1]))
        while names[-1] == "":
            names.pop()
        node = helper.make_node(op, names, ["y"], domain="com.microsoft", **attrs)
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(output))
        y = helper.make_tensor_value_info("y", kind, None)
        graph = helper.make_graph([node], name, inputs, [y], initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17),
                                                        helper.make_opsetid("com.microsoft", 1)])
        model.ir_version = 8
        session = onnxruntime.InferenceSession(model.SerializeToString(),
                                               providers=["CPUExecutionProvider"])
        result = session.run(None, {i.name: d for i, d in zip(inputs, data)})[0]
        folder = HERE / name / "test_data_set_0"
        folder.mkdir(parents=True, exist_ok=True)
        onnx.save(model, HERE / name / "model.onnx")
        for i, value in enumerate(data):
            (folder / f"input_{i}.pb").write_bytes(
                numpy_helper.from_array(value, inputs[i].name).SerializeToString())
        (folder / "output_0.pb").write_bytes(
            numpy_helper.from_array(result, "y").SerializeToString())
        if tolerance:
            (HERE / name / "tolerance.txt").write_text(tolerance + "\n")


def nbits(k, n, block, bits):
    """Weights of MatMulNBits: packed, scales, packed zero points."""
    blocks, per_byte = -(-k // block), 8 // bits
    zeros = -(-blocks // per_byte)
    return u8(n, blocks, block // per_byte), (f32(n * blocks) / 16), u8(n * zeros)


def main():
    a, b = u8(3, 5, 4), u8(5, 1)
    Case("qlinear_add", "QLinearAdd",
         [a, scale(0.031), np.uint8(120), b, scale(0.047), np.uint8(99), scale(0.062), np.uint8(111)],
         np.uint8, as_input=(0, 3))
    Case("qlinear_add_signed", "QLinearAdd",
         [i8(4, 7), scale(0.031), np.int8(-3), i8(4, 7), scale(0.02), np.int8(0), scale(0.041), np.int8(5)],
         np.int8, as_input=(0, 3))
    Case("qlinear_mul", "QLinearMul",
         [u8(3, 6), scale(0.017), np.uint8(130), u8(3, 6), scale(0.023), np.uint8(121), scale(0.053),
          np.uint8(128)], np.uint8, as_input=(0, 3))
    Case("qlinear_sigmoid", "QLinearSigmoid",
         [u8(3, 9), scale(0.043), np.uint8(128), scale(1 / 256), np.uint8(0)], np.uint8)
    Case("qlinear_leaky_relu", "QLinearLeakyRelu",
         [i8(3, 9), scale(0.043), np.int8(4), scale(0.039), np.int8(-7)], np.int8, alpha=0.1)
    Case("qlinear_softmax", "QLinearSoftmax",
         [u8(4, 10), scale(0.021), np.uint8(128), scale(1 / 256), np.uint8(0)], np.uint8, axis=-1,
         opset=13)
    Case("qlinear_average_pool", "QLinearAveragePool",
         [u8(2, 3, 7, 9), scale(0.03), np.uint8(101), scale(0.031), np.uint8(97)], np.uint8,
         kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    Case("qlinear_global_average_pool", "QLinearGlobalAveragePool",
         [u8(2, 3, 5, 7), scale(0.03), np.uint8(101), scale(0.013), np.uint8(97)], np.uint8,
         channels_last=0)
    Case("qlinear_concat", "QLinearConcat",
         [scale(0.041), np.uint8(118), u8(2, 3), scale(0.037), np.uint8(100), u8(2, 4),
          scale(0.029), np.uint8(131)], np.uint8, as_input=(2, 5), axis=1)
    Case("qlinear_where", "QLinearWhere",
         [RNG.integers(0, 2, (3, 4)).astype(bool), u8(3, 4), scale(0.02), np.uint8(121), u8(3, 4),
          scale(0.031), np.uint8(120), scale(0.033), np.uint8(119)], np.uint8, as_input=(0, 1, 4))
    Case("qgemm", "QGemm",
         [u8(5, 12), scale(0.03), np.uint8(117), i8(12, 6), np.float32([0.01]), np.int8([3]),
          RNG.integers(-900, 900, (6,), dtype=np.int32), scale(0.4), np.uint8(131)], np.uint8)
    Case("qgemm_float", "QGemm",
         [u8(5, 12), scale(0.03), np.uint8(117), i8(6, 12), np.float32(RNG.uniform(0.01, 0.02, 6)),
          i8(6), RNG.integers(-900, 900, (6,), dtype=np.int32)], transB=1, alpha=0.5)
    Case("matmul_integer_to_float", "MatMulIntegerToFloat",
         [u8(4, 9), i8(9, 5), scale(0.02), np.float32(RNG.uniform(0.01, 0.02, 5)), np.uint8(99),
          i8(5), f32(5)])
    Case("dynamic_quantize_matmul", "DynamicQuantizeMatMul",
         [f32(4, 9), i8(9, 5), np.float32(RNG.uniform(0.01, 0.02, 5)), i8(5), f32(5)])
    Case("quantize_linear_u16", "QuantizeLinear",
         [f32(3, 8), scale(0.0003), np.uint16(30000)], np.uint16)
    Case("dequantize_linear_i16", "DequantizeLinear",
         [RNG.integers(-30000, 30000, (3, 8), dtype=np.int16), scale(0.0003), np.int16(-41)])
    packed, scales, zeros = nbits(40, 6, 32, 4)
    Case("matmul_4bits", "MatMulNBits", [f32(3, 40), packed, scales, zeros], K=40, N=6, bits=4,
         block_size=32)
    packed, scales, _ = nbits(64, 6, 16, 4)
    Case("matmul_4bits_symmetric", "MatMulNBits", [f32(2, 3, 64), packed, scales], K=64, N=6, bits=4,
         block_size=16)
    Case("gelu", "Gelu", [f32(3, 7)])
    Case("bias_gelu", "BiasGelu", [f32(3, 7), f32(7)])
    Case("fast_gelu", "FastGelu", [f32(3, 7), f32(7)])
    Case("quick_gelu", "QuickGelu", [f32(3, 7)], alpha=1.702)
    Case("fused_matmul", "FusedMatMul", [f32(3, 7), f32(5, 7)], transB=1, alpha=0.25)


def save(name, model, feeds, tolerance):
    session = onnxruntime.InferenceSession(model.SerializeToString(),
                                           providers=["CPUExecutionProvider"])
    folder = HERE / name / "test_data_set_0"
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, HERE / name / "model.onnx")
    for i, (port, x) in enumerate(feeds.items()):
        (folder / f"input_{i}.pb").write_bytes(
            numpy_helper.from_array(x, port).SerializeToString())
    for i, (port, y) in enumerate(zip(session.get_outputs(), session.run(None, feeds))):
        (folder / f"output_{i}.pb").write_bytes(
            numpy_helper.from_array(y, port.name).SerializeToString())
    (HERE / name / "tolerance.txt").write_text(tolerance + "\n")


def model_of(name, nodes, inputs, outputs, initializers, opset):
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, name, [helper.make_tensor_value_info(n, kind, x.shape) for n, x in inputs.items()],
        [helper.make_tensor_value_info(n, kind, None) for n in outputs], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset),
                                                    helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 10
    return model


def four_bits(name, kind, values, scales, zeros, block):
    """x times a matrix of integers of 4 bits with scales of each block along its first axis."""
    x = f32(3, values.shape[0])
    initializers = [helper.make_tensor("q", kind, values.shape, values.ravel().tolist()),
                    numpy_helper.from_array(scales, "s")]
    names = ["q", "s"]
    if zeros is not None:
        initializers.append(helper.make_tensor("z", kind, zeros.shape, zeros.ravel().tolist()))
        names.append("z")
    nodes = [helper.make_node("DequantizeLinear", names, ["w"], axis=0,
                              **({"block_size": block} if block else {})),
             helper.make_node("MatMul", ["x", "w"], ["y"])]
    save(name, model_of(name, nodes, {"x": x}, ["y"], initializers, 21), {"x": x}, "1e-4 1e-5")


def dynamic_lstm(name, directions, per_gate):
    # With a larger batch the ranges, and so the results, depend on ONNX Runtime's threads.
    length, batch, size, hidden = 6, 1, 5, 4
    shape = (directions, 4 * hidden) if per_gate else (directions,)
    values = {
        "W": i8(directions, size, 4 * hidden), "R": i8(directions, hidden, 4 * hidden),
        "B": f32(directions, 8 * hidden) * np.float32(0.2),
        "WS": RNG.uniform(0.004, 0.008, shape).astype(np.float32), "WZ": np.zeros(shape, np.int8),
        "RS": RNG.uniform(0.004, 0.008, shape).astype(np.float32), "RZ": np.zeros(shape, np.int8)}
    node = helper.make_node(
        "DynamicQuantizeLSTM", ["x", "W", "R", "B", "", "h", "c", "", "WS", "WZ", "RS", "RZ"],
        ["y", "last_h", "last_c"], domain="com.microsoft", hidden_size=hidden,
        direction="bidirectional" if directions == 2 else "forward")
    feeds = {"x": f32(length, batch, size), "h": f32(directions, batch, hidden) * np.float32(0.5),
             "c": f32(directions, batch, hidden)}
    initializers = [numpy_helper.from_array(v, n) for n, v in values.items()]
    save(name, model_of(name, [node], feeds, ["y", "last_h", "last_c"], initializers, 17), feeds,
         "1e-4 1e-5")


def recent():
    four_bits("matmul_int4_blocks", onnx.TensorProto.INT4, RNG.integers(-8, 8, (8, 5)),
              np.float32(RNG.uniform(0.1, 0.3, (2, 5))), None, 4)
    four_bits("matmul_uint4_columns", onnx.TensorProto.UINT4, RNG.integers(0, 16, (7, 3)),
              np.float32(RNG.uniform(0.1, 0.3, 7)), RNG.integers(0, 16, 7), 0)
    dynamic_lstm("dynamic_quantize_lstm", 1, False)
    dynamic_lstm("dynamic_quantize_lstm_two_ways", 2, True)


if __name__ == "__main__":
    recent() if sys.argv[1:] == ["recent"] else main()
