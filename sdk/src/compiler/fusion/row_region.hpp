// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the part of a graph that treats each row (agent, sample) alone: layers whose weights do not
// depend on rows, element-wise arithmetic, reductions within a row, losses, and all of that
// backwards.  It ends in sums over the rows: weight gradients, bias gradients, the loss.  Such a
// region can run as one kernel that carries a tile of rows from its first node to its last
// (compiler/codegen/fused_network/fused_network.hpp).

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <vector>

namespace hearth {

/// A region in which every node but those that sum over rows computes each row from that row.
/// Convex: no path leaves it and comes back.
struct RowRegion {
    Dim rows;  ///< leading extent of all its tensors
    /// Rows come in windows of so many, which follow each other and depend on each other: the steps of
    /// a sequence (walks_windows).
    int64_t window = 1;
    std::vector<NodeId> nodes;   ///< in the graph's order
    std::vector<bool> contains;  ///< per node of the graph

    bool empty() const { return nodes.empty(); }
    bool has(NodeId n) const { return !nodes.empty() && contains[n]; }
    bool has_walks() const { return window > 1; }
};

/// Whether the node goes through the rows of each window alone, in order (compiler/ops/gru_walk.hpp).
bool walks_windows(const Node& node);

/// Whether the node is a sum over the rows of tensors that have them as their leading axis: a
/// product x^T g, or a sum whose axes include the first one; whole or in parts.
bool sums_rows(const Graph& graph, const Node& node, Dim rows);

/// The largest such region, or an empty one.  The graph must hold no composites.
RowRegion find_row_region(const Graph& graph);

/// Whether all products of the region can run on the device's matrix cores: f16 operands, f32 sums.
bool fits_matrix_cores(const Graph& graph, const RowRegion& region, const DeviceCaps& caps);

/// Rows and widths of tiles in a fused network on matrix cores are multiples of this.
inline int64_t matrix_edge(const DeviceCaps& caps) {
    return std::max({caps.matrix.m, caps.matrix.n, caps.matrix.k});
}

// Of a program that keeps rows in registers: subgroups of a workgroup, and registers of a thread:
// those for addresses and for what a product loads, and all.
inline constexpr int kRegisterSubgroups = 8, kOtherRowRegisters = 40, kMostRowRegisters = 240;

/// Whether a fused network could keep rows in registers, and they are so many that it should.
bool may_keep_in_registers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                           const DeviceCaps& caps);

/// Whether a fused network that keeps rows in shared memory would have enough of them in a workgroup
/// to be worth while.
/// Errors: kUnsupported telling what would fit.
Status check_shared_rows(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                         const DeviceCaps& caps);

/// Whether the layers of a region are narrow enough for a fused network, which reads all weights in
/// every workgroup, and whether its rows may stay in registers or enough of them fit shared memory.
/// Errors: kUnsupported naming the layer, or what would fit.
Status check_row_layers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                        const DeviceCaps& caps);

}  // namespace hearth
