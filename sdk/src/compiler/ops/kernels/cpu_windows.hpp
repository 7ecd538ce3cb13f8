// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Plane-by-plane processing of image windows on CPUs: see compiler/codegen/conv/cpu_window_kernel.hpp.

#pragma once

#include "compiler/ir/graph.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <cstdint>

namespace hearth {

/// Windows over two spatial axes (with one axis, the first extent is 1), and how a CPU blocks them.
struct CpuWindows {
    Window window;
    List size, count;   ///< extents of x, and window counts
    int64_t lanes = 1;  ///< of a vector register; fewer if a row has few windows
    int64_t part = 0;   ///< elements of a row with the same offset modulo the stride, with the
                        ///< overhang of the last window
    int64_t rows = 0;   ///< rows of windows in a block; 0: a row is too long

    CpuWindows(Window over, List sizes, List counts, const DeviceCaps& caps);

    /// Windows of a row, rounded up to whole vectors.
    int64_t rounded_count() const { return (count[1] + lanes - 1) / lanes * lanes; }
    int64_t row_length() const { return part * window.strides[1]; }
    /// Rows that a block's windows reach beyond its strides.
    int64_t reach() const { return (window.kernel[0] - 1) * window.dilations[0]; }
    /// Rows of x that a block's windows cover.
    int64_t covered_rows() const { return (rows - 1) * window.strides[0] + reach() + 1; }

    struct Places {
        int64_t first = 0, last = 0;
    };
    /// Range of indices of a row's part that lie within x.
    Places inside(int64_t part_index) const;
};

/// True if CPUs have a kernel for the node: a depthwise convolution of f32 over one or two axes
/// whose rows fit DeviceModel::scratch_floats. Others are decomposed into products or loops.
bool has_depthwise_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps);
CpuWindows windows_of_conv(const Graph& graph, const Node& node, const DeviceCaps& caps);

/// As above for `unfold`, which otherwise computes each element's address.
bool has_unfold_kernel(const Graph& graph, const Node& node, const DeviceCaps& caps);
CpuWindows windows_of_unfold(const Graph& graph, const Node& node, const DeviceCaps& caps);

}  // namespace hearth
