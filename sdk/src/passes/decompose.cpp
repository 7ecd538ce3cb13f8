// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/own_kernel.hpp"
#include "ir/rewrite.hpp"
#include "passes/pass.hpp"

#include <algorithm>

namespace hearth {

namespace {

bool must_decompose(const Graph& graph, const Node& node, const PassOptions& options) {
    if (node.op->op_class == OpClass::kComposite) return true;
    if (node.op->op_class != OpClass::kKernel || node.op->decompose == nullptr) return false;
    return !own_kernel_of(graph, node, options.caps, options.rows_capacity);
}

bool any_left(const Graph& graph, const PassOptions& options) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& n) { return must_decompose(graph, n, options); });
}

}  // namespace

Result<Graph> decompose(const Graph& graph, const PassOptions& options) {
    Graph now = graph;
    // A decomposition may use composites itself; none uses itself, so this ends.
    while (any_left(now, options)) {
        auto decompose_node =
            [&](Trace& trace, const Node& node,
                std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
            if (!must_decompose(now, node, options)) return std::nullopt;
            DecomposeCall call{trace, node.attrs, inputs};
            return node.op->decompose(call);
        };
        HEARTH_ASSIGN(now, rewrite(now, decompose_node));
    }
    return now;
}

}  // namespace hearth
