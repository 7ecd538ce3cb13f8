// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/rewrite.hpp"
#include "passes/pass.hpp"

namespace hearth {

namespace {

bool has_composites(const Graph& graph) {
    for (const Node& n : graph.nodes)
        if (n.op->op_class == OpClass::kComposite) return true;
    return false;
}

std::optional<std::vector<Tensor>> decompose_node(Trace& trace, const Node& node,
                                                  std::span<const Tensor> inputs) {
    if (node.op->op_class != OpClass::kComposite) return std::nullopt;
    DecomposeCall call{trace, node.attrs, inputs};
    return node.op->decompose(call);
}

}  // namespace

Result<Graph> decompose(const Graph& graph, const PassOptions&) {
    Graph now = graph;
    // A decomposition may use composites itself; none uses itself, so this ends.
    while (has_composites(now)) {
        HEARTH_ASSIGN(now, rewrite(now, decompose_node));
    }
    return now;
}

}  // namespace hearth
