// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Calls an operator's kernel rule for a node.

#include "compiler/ir/custom_kernel.hpp"

namespace hearth {

namespace {

std::vector<TensorType> types_of(const Graph& graph, std::span<const ValueId> values) {
    std::vector<TensorType> types;
    for (ValueId v : values) types.push_back({graph.value(v).dtype, graph.value(v).shape});
    return types;
}

}  // namespace

NodeContext::NodeContext(const Graph& graph, const Node& node, const DeviceCaps& caps,
                         uint64_t rows_capacity, std::string_view variant)
    : inputs_(types_of(graph, node.inputs)),
      outputs_(types_of(graph, node.outputs)),
      context{node.attrs, inputs_, outputs_, caps, rows_capacity, variant} {}

std::optional<CustomKernel> custom_kernel_of(const Graph& graph, const Node& node,
                                             const DeviceCaps& caps, uint64_t rows_capacity,
                                             std::string_view variant) {
    if (node.op->kernel == nullptr) return std::nullopt;
    return node.op->kernel(NodeContext(graph, node, caps, rows_capacity, variant).context);
}

bool has_body(const Graph& graph, const Node& node, const DeviceCaps& caps,
              uint64_t rows_capacity) {
    const std::optional<CustomKernel> kernel = custom_kernel_of(graph, node, caps, rows_capacity);
    return kernel && kernel->body;
}

}  // namespace hearth
