// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs of one matrix product, with the operands that kernels read (as they lie in memory, transposed, rounded,
// packed, gathered) and with what may follow the product before it is stored.

#pragma once

#include "compiler/interpreter/interpreter.hpp"

#include <hearth/compile.hpp>
#include <hearth/core/philox.hpp>
#include <hearth/ops.hpp>

#include <cstdint>

namespace hearth::test {

enum class Operand { kF32, kF16, kRounded, kFlipped, kInt8, kInt4 };

/// What follows the product.
enum class Ending { kNothing, kLayer, kResidual, kBothStored };

struct ProductCase {
    const char* name;
    int64_t batch, m, k, n;
    Operand a, b;
    bool transpose_a, transpose_b;
    Ending ending;
    const char* mark;  ///< of the kernel in GLSL that a GPU without matrix cores gets
};

/// Of the product, whatever its operands are in memory.
inline bool reads_halves(const ProductCase& c) {
    return c.a == Operand::kF16 || c.a == Operand::kRounded;
}

inline constexpr const char* kTiled = "shared float tile_a";
inline constexpr const char* kVector = "shared vec4 tile_a";
inline constexpr const char* kSplit = "shared vec4 memory";
inline constexpr const char* kRow = "shared float partial";

inline constexpr ProductCase kProductCases[] = {
    {"Plain", 1, 37, 36, 40, Operand::kF32, Operand::kF32, false, false, Ending::kLayer, kVector},
    {"LastColumnsAreNoVector", 1, 37, 36, 39, Operand::kF32, Operand::kF32, false, true,
     Ending::kResidual, kVector},
    {"Swapped", 2, 36, 37, 44, Operand::kF32, Operand::kF32, true, false, Ending::kBothStored,
     kVector},
    {"Odd", 3, 19, 21, 23, Operand::kF32, Operand::kF32, true, true, Ending::kNothing, kTiled},
    {"Halves", 1, 40, 72, 48, Operand::kF16, Operand::kF16, false, false, Ending::kLayer, kVector},
    {"HalvesSwapped", 2, 40, 66, 48, Operand::kF16, Operand::kF16, true, false, Ending::kResidual,
     kVector},
    {"HalvesAlongK", 1, 37, 72, 41, Operand::kF16, Operand::kF16, false, true, Ending::kBothStored,
     kVector},
    {"OddHalves", 1, 33, 35, 37, Operand::kF16, Operand::kF16, false, false, Ending::kNothing,
     kTiled},
    {"Rounded", 1, 37, 40, 44, Operand::kRounded, Operand::kF16, false, false, Ending::kResidual,
     kVector},
    {"Flipped", 1, 37, 40, 44, Operand::kFlipped, Operand::kF32, false, false, Ending::kLayer,
     kTiled},
    {"Int8", 1, 37, 64, 40, Operand::kF32, Operand::kInt8, false, true, Ending::kLayer, kVector},
    {"Int4", 1, 37, 64, 40, Operand::kF32, Operand::kInt4, false, true, Ending::kBothStored,
     kVector},
    {"Int4AlongN", 1, 37, 40, 64, Operand::kF32, Operand::kInt4, false, false, Ending::kResidual,
     kVector},
    {"FewTiles", 1, 37, 260, 40, Operand::kF32, Operand::kF32, false, true, Ending::kLayer, kSplit},
    {"FewTilesSwapped", 1, 36, 200, 39, Operand::kF32, Operand::kF32, true, true,
     Ending::kBothStored, kSplit},
    {"MoreTiles", 4, 100, 132, 132, Operand::kF32, Operand::kF32, false, false, Ending::kResidual,
     kSplit},
    {"OneRow", 1, 1, 100, 37, Operand::kF32, Operand::kF32, false, true, Ending::kLayer, kRow},
    {"RowsOfHalves", 1, 5, 72, 48, Operand::kF16, Operand::kF16, false, true, Ending::kBothStored,
     kRow},
    {"RowsAlongN", 1, 3, 100, 40, Operand::kF32, Operand::kF16, false, false, Ending::kResidual,
     kRow},
    {"RowsOfInt8", 1, 9, 96, 48, Operand::kF32, Operand::kInt8, false, true, Ending::kLayer, kRow},
    {"RowOfInt4", 1, 1, 96, 48, Operand::kF32, Operand::kInt4, false, true, Ending::kResidual,
     kRow},
};

inline HostTensor random_product_tensor(const Shape& shape, uint64_t key,
                                        DType dtype = DType::kF32) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, 2 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 1);
    return t;
}

struct Product {
    Graph graph;
    NamedTensors inputs;
    QuantizeOptions quantize;
};

/// A graph of one product.
inline Product build_product(const ProductCase& c) {
    Product product;
    Trace trace("run");
    const auto input = [&](const char* name, const Shape& shape, DType dtype) {
        product.inputs.emplace(name,
                               random_product_tensor(shape, product.inputs.size() + 1, dtype));
        return trace.input(name, shape, dtype);
    };
    const auto operand = [&](const char* name, Operand kind, int64_t rows, int64_t columns,
                             bool is_swapped) -> Tensor {
        Shape shape{is_swapped ? columns : rows, is_swapped ? rows : columns};
        if (c.batch > 1) shape = {Dim(c.batch), shape[0], shape[1]};
        switch (kind) {
            case Operand::kF32:
                break;
            case Operand::kF16:
                return input(name, shape, DType::kF16);
            case Operand::kRounded:
                return cast(input(name, shape, DType::kF32), DType::kF16);
            case Operand::kFlipped:
                return flip(input(name, shape, DType::kF32), {0, 1});
            case Operand::kInt8:
            case Operand::kInt4:
                product.quantize = {
                    .format = kind == Operand::kInt8 ? WeightFormat::kInt8 : WeightFormat::kInt4,
                    .min_elements = 1};
                return trace.param(name, shape, Init::from(random_product_tensor(shape, 7)));
        }
        return input(name, shape, DType::kF32);
    };
    const Tensor a = operand("a", c.a, c.m, c.k, c.transpose_a);
    Tensor b = operand("b", c.b, c.k, c.n, c.transpose_b);
    if (a.dtype() != b.dtype()) b = cast(b, a.dtype());
    const Tensor y = matmul(a, b, c.transpose_a, c.transpose_b);
    const auto vector = [&] { return input("bias", {c.n}, y.dtype()); };
    switch (c.ending) {
        case Ending::kNothing:
            trace.output("y", y);
            break;
        case Ending::kLayer:
            trace.output("y", relu(y + vector()));
            break;
        case Ending::kResidual:
            trace.output("y", cast(y * 0.5 + input("skipped", y.shape(), y.dtype()),
                                   y.dtype() == DType::kF16 ? DType::kF32 : DType::kF16));
            break;
        case Ending::kBothStored: {
            const Tensor before = y + vector();
            trace.output("before", before);
            trace.output("y", gelu(before));
            break;
        }
    }
    product.graph = trace.build().value();
    return product;
}

}  // namespace hearth::test
