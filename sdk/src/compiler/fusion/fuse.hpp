// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Divides a graph into groups, each of which becomes one kernel.
//
// A group has one iteration space and one of four shapes:
//   elementwise  one thread for each element
//   reduction    one workgroup (or thread) for each row: reductions over the row, then the row again
//   matmul       a matrix product, with its prologue and epilogue
//   custom       an operator with a custom kernel, with its epilogue
// Nodes join the group of a node that reads them at the very element they were computed for.  Views
// (slice, transpose, ...) and single-number arithmetic belong to no group: each reader computes
// them again, which is cheaper than a trip through memory and a barrier.

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
    /// Elementwise, matmul, custom: the shape of the elements.  Reduction: the shape before it.
    Shape space;
    std::vector<int64_t> axes;    ///< reduction: the reduced axes of `space`
    std::vector<NodeId> nodes;    ///< in the graph's order
    std::vector<ValueId> stores;  ///< values read by others, in the graph's order
    bool in_region = false;       ///< of FusionOptions::region
    /// Replicated scalars: groups of which each store is a single number, which every workgroup of
    /// this one's kernel works out itself instead of waiting for a kernel that does; in data-flow order
    /// (compiler/codegen/replicated_scalars.hpp).
    std::vector<std::shared_ptr<const Group>> replicated_scalars;

    /// The group among `replicated_scalars` that stores `v`, or null.
    const Group* number(ValueId v) const;
};

struct FusionOptions {
    bool enabled = true;    ///< off: every node that can be a kernel of its own is one
    int max_operands = 14;  ///< buffers that one kernel may touch
    /// No kernel may touch more than that: rather than be computed again by a reader that would, arithmetic is
    /// stored.
    bool must_fit = false;
    /// Nodes of one group, and of a chain that readers compute again.  Fusing and writing a kernel
    /// take the square of it, and so may a driver; longer chains become several kernels.
    size_t max_nodes = 512;
    bool any_operands = false;  ///< it may touch any number of them where it folds numbers
    /// Its groups will run as one kernel: they hold none of the other nodes, and may touch any
    /// number of buffers.  May be empty.
    RowRegion region;
    /// Lets no kernel that updates params also make their gradients: updates run last of all, and
    /// until then such a kernel would keep all that gradients are made of.  Costs memory trips, so
    /// it is for graphs that spare memory; those of which spares_memory() is true are taken to.
    bool spare_memory = false;
    /// Gives windows of images (unfold) memory of their own where products read them, for devices on
    /// which finding an element takes longer than storing it.
    bool store_windows = false;
    /// Stores what is gathered (kIndexed) instead of going on with it in the same loop, for devices whose compiler
    /// makes vectors of loops only where all that they read lies side by side.
    bool store_gathered = false;
    /// Per node: whether the kernel of this product can fold rows of its left operand (a layer norm's
    /// mean and variance) and work out the operand from them: it then takes in what makes the operand,
    /// if nothing else reads that.  Empty: none can.
    std::vector<bool> folds_rows;
};

struct FusionPlan {
    std::vector<Group> groups;  ///< in an order that respects data flow
    std::vector<bool> inlined;  ///< per node: computed again by each reader
};

/// Whether the node folds blocks of neighbouring elements (compiler/ops/partial.ops.cpp).
bool is_block_fold(const Node& node);

/// Whether something in the graph is computed again in order to spare memory.
bool spares_memory(const Graph& graph);

/// The graph must hold no composites.
FusionPlan fuse(const Graph& graph, const FusionOptions& options);

/// Values that a group's kernel reads from memory, in a deterministic order; those that it reads to
/// work out numbers included.
std::vector<ValueId> loads_of(const Graph& graph, const Group& group,
                              const std::vector<bool>& inlined);

}  // namespace hearth
