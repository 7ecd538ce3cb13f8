// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_task.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth {

const Node& KernelTask::node() const {
    if (group.kind == GroupKind::kMatmul) return node_of(graph, group, OpClass::kMatmul);
    if (group.kind == GroupKind::kCustom) return node_of(graph, group, OpClass::kKernel);
    return graph.nodes[group.nodes.back()];
}

const Node& node_of(const Graph& graph, const Group& group, OpClass op_class) {
    for (const NodeId n : group.nodes)
        if (graph.nodes[n].op->op_class == op_class) return graph.nodes[n];
    HEARTH_ASSERT(false && "a group without the operator that it is about");
    return graph.nodes[group.nodes[0]];
}

uint64_t flops_of(const Graph& graph, const Group& group, const Shape& shape, uint64_t rows) {
    uint64_t flops = 0;
    for (NodeId n : group.nodes) {
        const Shape& out = graph.values[graph.nodes[n].outputs[0]].shape;
        flops +=
            static_cast<uint64_t>(std::max(out.element_count(static_cast<int64_t>(rows)),
                                           graph.nodes[n].op->op_class == OpClass::kReduce
                                               ? shape.element_count(static_cast<int64_t>(rows))
                                               : 0));
    }
    return flops;
}

}  // namespace hearth
