// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the part of a graph that treats each row (agent, sample) independently: layers whose
// weights do not depend on rows, element-wise arithmetic, reductions within a row, losses, and the
// backward pass of all of these. It ends in sums over the rows: weight gradients, bias gradients,
// the loss. Such a region can run as one kernel that carries a tile of rows from its first node to
// its last (compiler/codegen/fused_network/fused_network.hpp).

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <vector>

namespace hearth {

/// A region in which every node except sums over rows computes each row from that row alone.
/// Convex: no path leaves it and comes back.
struct RowRegion {
    Dim rows;  ///< leading extent of all its tensors
    /// Number of consecutive rows that depend on each other: the steps of a sequence
    /// (walks_windows).
    int64_t window = 1;
    std::vector<NodeId> nodes;   ///< in the graph's order
    std::vector<bool> contains;  ///< per node of the graph

    bool empty() const { return nodes.empty(); }
    bool has(NodeId n) const { return !nodes.empty() && contains[n]; }
    bool has_walks() const { return window > 1; }
};

/// True if the node processes the rows of each window in order, independently of other windows
/// (compiler/ops/kernels/gru_walk.hpp).
bool walks_windows(const Node& node);

/// True if the node is a sum over the rows of tensors that have them as their leading axis: a
/// product x^T g, or a sum whose axes include the first one; whole or partial.
bool sums_rows(const Graph& graph, const Node& node, Dim rows);

/// Returns the largest such region, or an empty one. The graph must hold no composites.
RowRegion find_row_region(const Graph& graph);

/// True if all products of the region can run on matrix cores: f16 operands, f32 accumulators.
bool fits_matrix_cores(const Graph& graph, const RowRegion& region, const DeviceCaps& caps);

/// Granularity of the rows and columns of tiles in a fused network on matrix cores.
inline int64_t matrix_edge(const DeviceCaps& caps) {
    return std::max({caps.cooperative_matrix_shape.m, caps.cooperative_matrix_shape.n,
                     caps.cooperative_matrix_shape.k});
}

// Limits of a fused network that keeps rows in registers: subgroups per workgroup; registers per
// thread for addresses and a product's loads; all registers per thread.
inline constexpr int kRegisterSubgroups = 8, kOtherRowRegisters = 40, kMostRowRegisters = 240;

/// True if a fused network can keep rows in registers, and there are enough rows to be worth it.
bool may_keep_in_registers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                           const DeviceCaps& caps);

/// Checks that a fused network that keeps rows in shared memory would have enough of them in a
/// workgroup to be worthwhile.
/// Errors: kUnsupported, stating the limit.
Status check_shared_rows(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                         const DeviceCaps& caps);

/// Checks that the layers of a region are narrow enough for a fused network, which reads all
/// weights in every workgroup, and that its rows may stay in registers or enough of them fit shared
/// memory.
/// Errors: kUnsupported naming the layer, or the limit.
Status check_row_layers(const Graph& graph, const RowRegion& region, uint64_t rows_capacity,
                        const DeviceCaps& caps);

/// Returns the region of a graph that split_rows() has seen, or an empty one: the products over
/// rows that it left whole are kernels of their own, and no part of it.
/// Errors: those of check_row_layers for the region with them, which split_rows() leaves alone.
Result<RowRegion> find_split_region(const Graph& graph, uint64_t rows_capacity,
                                    const DeviceCaps& caps);

}  // namespace hearth
