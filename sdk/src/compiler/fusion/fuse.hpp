// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Divides a graph into groups, each of which becomes one kernel.
//
// A group has one iteration space and one of four kinds:
//   elementwise  one thread per element
//   reduction    one workgroup (or thread) per row: reductions over the row, then an epilogue on it
//   matmul       a matrix product, with its prologue and epilogue
//   custom       an operator with a custom kernel, with its epilogue
// A node joins the group of a reader that uses it at the element that it computes.  Views (slice,
// transpose, ...) and scalar arithmetic belong to no group: each reader recomputes them, which is
// cheaper than a round trip through memory and a barrier.

#pragma once

#include "compiler/fusion/row_region.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <memory>
#include <vector>

namespace hearth {

enum class GroupKind : uint8_t { kElementwise, kReduction, kMatmul, kCustom };

struct Group {
    GroupKind kind = GroupKind::kElementwise;
    /// Elementwise, matmul, custom: shape of the result. Reduction: shape of the input.
    Shape space;
    std::vector<int64_t> axes;    ///< reduction: the reduced axes of `space`
    std::vector<NodeId> nodes;    ///< in the graph's order
    std::vector<ValueId> stores;  ///< values read by others, in the graph's order
    bool in_region = false;       ///< part of FusionOptions::region
    /// Replicated scalars: groups that store only scalars, which every workgroup of this group's
    /// kernel computes itself instead of waiting for another kernel; in data-flow order
    /// (compiler/codegen/reduction/replicated_scalars.hpp).
    std::vector<std::shared_ptr<const Group>> replicated_scalars;

    /// The group among `replicated_scalars` that stores `v`, or null.
    const Group* number(ValueId v) const;
};

struct FusionOptions {
    bool enabled = true;    ///< false: every node that can be a kernel of its own becomes one
    int max_operands = 14;  ///< buffers that one kernel may touch
    /// Addresses or descriptors of one kernel, which are those of the application's buffers, of
    /// both regions, and of the run block (program/program.hpp, Kernel).  Arithmetic is stored if a
    /// reader that recomputed it would exceed the limit.  0: no limit.
    int max_bound = 0;
    /// Limit of nodes in one group, and in a chain that readers recompute. Fusion and code
    /// generation take time quadratic in it, and a driver may; longer chains become several
    /// kernels.
    size_t max_nodes = 512;
    bool any_operands = false;  ///< no operand limit for kernels that reduce replicated scalars
    /// Nodes that will run as one kernel: their groups contain no other nodes and may use any
    /// number of buffers. May be empty.
    RowRegion region;
    /// Keeps kernels that update params from also computing their gradients. Updates run last, and
    /// such a kernel would keep all inputs of the gradients alive until then. Costs memory traffic,
    /// so it is for graphs that trade time for memory; implied where spares_memory() is true.
    bool spare_memory = false;
    /// Materializes the image windows (unfold) that products read, for devices on which computing
    /// an element's address takes longer than storing the element.
    bool store_windows = false;
    /// Stores gathered values (kInjective) instead of consuming them in the same loop, for devices
    /// whose compiler vectorizes a loop only if all its loads are contiguous.
    bool store_gathered = false;
    /// Per node: true if the kernel of this product can reduce rows of its left operand (mean and
    /// variance of a layer norm) and compute the operand from them. The product then takes in the
    /// nodes of the operand if nothing else reads them. Empty: none can.
    std::vector<bool> folds_rows;
};

struct FusionPlan {
    std::vector<Group> groups;  ///< in topological order
    std::vector<bool> inlined;  ///< per node: recomputed by each reader
};

/// True if the node reduces blocks of neighbouring elements (compiler/ops/records/partial.ops.cpp).
bool is_block_fold(const Node& node);

/// True if the graph contains values that are recomputed to save memory.
bool spares_memory(const Graph& graph);

/// Requires a graph without composites.
FusionPlan fuse(const Graph& graph, const FusionOptions& options);

/// Values that a group's kernel reads from memory, sorted by id; includes the loads of its
/// replicated scalars.
std::vector<ValueId> loads_of(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined);

}  // namespace hearth
