// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes the GLSL macros that address the lines of a tensor.

#include "compiler/ops/shared/lines.hpp"

#include "compiler/shaders/define.hpp"

namespace hearth {

KernelLines::KernelLines(KernelBuilder& k, int axis)
    : type(k.in_type(0)), count(k.index(1)), extent(k.in_dim(0, axis)), stride(k.index(1)) {
    for (int i = 0; i < k.in_rank(0); ++i) {
        if (i == axis) continue;
        count = count * k.in_dim(0, i);
        if (i > axis) stride = stride * k.in_dim(0, i);
    }
}

std::string line_macros(const Shape& shape, int axis) {
    std::string lines = "1", stride = "1";
    for (int i = 0; i < shape.rank(); ++i) {
        if (i == axis) continue;
        const std::string factor = " * in0_dim" + std::to_string(i);
        lines += factor;
        if (i > axis) stride += factor;
    }
    return define("LINES", "(" + lines + ")") + define("STRIDE", "(" + stride + ")") +
           define("EXTENT", "in0_dim" + std::to_string(axis)) +
           "int line_base(int line) { return line / STRIDE * EXTENT * STRIDE + line % STRIDE; }\n";
}

std::string_view kernel_type(DType dtype) {
    switch (scalar_type(dtype)) {
        case ScalarType::kF32:
            return "float";
        case ScalarType::kU32:
            return "uint";
        case ScalarType::kI64:
            return "int64_t";
        case ScalarType::kU64:
            return "uint64_t";
        default:
            return "int";
    }
}

std::string wrap_macro(DType dtype) {
    const bool is_narrow = is_integer(dtype) && size_bytes(dtype) < 4;
    const std::string bits = std::to_string(8 * size_bytes(dtype));
    // bitfieldExtract sign-extends signed types.
    return define("WRAP(x)", is_narrow ? "bitfieldExtract(x, 0, " + bits + ")" : "(x)");
}

}  // namespace hearth
