// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How CPUs take depthwise convolutions: see compiler/codegen/cpu_depthwise_kernel.cpp.

#pragma once

#include "compiler/ir/graph.hpp"
#include "compiler/ops/windows.hpp"

#include <cstdint>

namespace hearth {

/// A convolution of two spatial axes (one of one has a first extent of 1), and its work on a CPU.
struct CpuDepthwise {
    Window window;
    List size, count;   ///< spatial extents of x and of the result
    int64_t lanes = 1;  ///< of a vector register
    int64_t part = 0;  ///< elements of a row that are a stride apart, with what is read beyond them
    int64_t rows = 0;  ///< of results in a block; 0: a row is too long for that

    CpuDepthwise(const Attrs& attrs, const Shape& x, const Shape& w, const DeviceCaps& caps);

    /// Results of a row, in whole lanes.
    int64_t rounded_count() const { return (count[1] + lanes - 1) / lanes * lanes; }
    int64_t row_length() const { return part * window.strides[1]; }
    /// Rows that a block's windows reach beyond as many as there are strides.
    int64_t reach() const { return (window.kernel[0] - 1) * window.dilations[0]; }
    /// Rows of x that a block's windows cover.
    int64_t covered_rows() const { return (rows - 1) * window.strides[0] + reach() + 1; }

    struct Places {
        int64_t first = 0, last = 0;
    };
    /// Places of a row's part that are within x.
    Places inside(int64_t part_index) const;
};

/// Whether CPUs have a kernel for the node: a convolution of f32 over one or two axes, of one channel for each group,
/// whose rows fit DeviceModel::scratch_floats.  Others are decomposed into products or loops.
bool is_cpu_depthwise(const Graph& graph, const Node& node, const DeviceCaps& caps);

}  // namespace hearth
