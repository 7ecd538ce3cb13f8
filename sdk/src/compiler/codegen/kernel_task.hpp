// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The groups of nodes that kernels are written of.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <cstdint>
#include <vector>

namespace hearth {

/// A group of nodes to write a kernel of.
struct KernelTask {
    const Graph& graph;
    const Group& group;
    const std::vector<bool>& inlined;  ///< FusionPlan::inlined
    const LowerOptions& options;

    /// The node that decides about the kernel's loops: the product, the operator with a custom
    /// kernel, else the last one.
    const Node& node() const;
};

/// The group's node of that class, of which it has one.
const Node& node_of(const Graph& graph, const Group& group, OpClass op_class);

/// A rough count of arithmetic: one operation for each element of each node.
uint64_t flops_of(const Graph& graph, const Group& group, const Shape& shape, uint64_t rows);

}  // namespace hearth
