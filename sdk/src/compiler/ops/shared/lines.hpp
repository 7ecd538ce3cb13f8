// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A tensor as lines along one axis, for scans and sorts on the CPU and in kernels.

#pragma once

#include <hearth/kernel.hpp>
#include <hearth/op/op_def.hpp>

#include <cstdint>
#include <string>

namespace hearth {

/// Element j of line i is base(i) + j * stride.
struct Lines {
    int64_t count = 1;   ///< number of lines
    int64_t extent = 1;  ///< elements per line
    int64_t stride = 1;

    Lines(const Shape& shape, int axis) : extent(shape[axis].count) {
        for (int i = 0; i < shape.rank(); ++i) {
            if (i > axis) stride *= shape[i].count;
            if (i != axis) count *= shape[i].count;
        }
    }
    int64_t base(int64_t line) const { return line / stride * extent * stride + line % stride; }
};

/// Number of lines along `axis`.
inline Dim line_count(const Shape& shape, int axis) {
    Shape others = shape;
    others.erase(axis);
    return others.element_count();
}

/// Lines of one workgroup on a CPU: enough elements to make up for calling it.
constexpr uint32_t lines_of_cpu_workgroup(int64_t extent) {
    constexpr int64_t kElements = 1024;
    return extent >= kElements ? 1 : static_cast<uint32_t>(kElements / (extent < 1 ? 1 : extent));
}

/// The lines of input 0 in a kernel, along `axis`.
struct KernelLines {
    ScalarType type;  ///< of an element
    Scalar count, extent, stride;

    KernelLines(KernelBuilder& k, int axis);
    Scalar base(Scalar line) const { return line / stride * extent * stride + line % stride; }
};

}  // namespace hearth
