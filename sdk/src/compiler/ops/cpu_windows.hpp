// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How CPUs take windows of images plane by plane: see compiler/codegen/cpu_window_kernel.hpp.

#pragma once

#include "compiler/ir/graph.hpp"
#include "compiler/ops/windows.hpp"

#include <cstdint>

namespace hearth {

/// Windows over two spatial axes (those over one have a first extent of 1), and the work with them on a CPU.
struct CpuWindows {
    Window window;
    List size, count;   ///< of elements, and of windows
    int64_t lanes = 1;  ///< of a vector register: no more than a row of windows asks for
    int64_t part = 0;  ///< elements of a row that are a stride apart, with what is read beyond them
    int64_t rows = 0;  ///< of windows in a block; 0: a row is too long for that

    CpuWindows(Window over, List sizes, List counts, const DeviceCaps& caps);

    /// Windows of a row, in whole lanes.
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
CpuWindows windows_of_conv(const Graph& graph, const Node& node, const DeviceCaps& caps);

/// Likewise of the windows themselves, which others look for element by element.
bool is_cpu_unfold(const Graph& graph, const Node& node, const DeviceCaps& caps);
CpuWindows windows_of_unfold(const Graph& graph, const Node& node, const DeviceCaps& caps);

}  // namespace hearth
