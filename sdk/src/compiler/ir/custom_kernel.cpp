// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Calls an operator's kernel rule for a node.

#include "compiler/ir/custom_kernel.hpp"

namespace hearth {

std::optional<CustomKernel> custom_kernel_of(const Graph& graph, const Node& node,
                                             const DeviceCaps& caps, uint64_t rows_capacity,
                                             std::string_view variant) {
    if (node.op->kernel == nullptr) return std::nullopt;
    std::vector<TensorType> inputs, outputs;
    for (ValueId v : node.inputs) inputs.push_back({graph.value(v).dtype, graph.value(v).shape});
    for (ValueId v : node.outputs) outputs.push_back({graph.value(v).dtype, graph.value(v).shape});
    return node.op->kernel({node.attrs, inputs, outputs, caps, rows_capacity, variant});
}

bool has_body(const Graph& graph, const Node& node, const DeviceCaps& caps,
              uint64_t rows_capacity) {
    const std::optional<CustomKernel> kernel = custom_kernel_of(graph, node, caps, rows_capacity);
    return kernel && kernel->body;
}

}  // namespace hearth
