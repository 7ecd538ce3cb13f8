// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Constant folding: evaluates nodes whose inputs are all constants with the CPU reference.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/passes/pass.hpp"

#include <algorithm>

namespace hearth {

namespace {

// Folding must not turn a small expression (such as an expand) into megabytes of weights.
constexpr int64_t kLargestFolded = 1 << 16;

const HostTensor* constant_of(const Tensor& t) {
    const Value& v = t.trace()->graph().values[t.value()];
    return v.kind == ValueKind::kConstant ? v.data.get() : nullptr;
}

/// True if folding would enlarge the constants: packed and narrow weights stay as they are.
bool grows(const Graph& graph, const Node& node) {
    constexpr int64_t kSmall = 1024;
    const auto bytes_of = [&](const std::vector<ValueId>& values) {
        int64_t bytes = 0;
        for (ValueId v : values) {
            const Value& value = graph.values[v];
            bytes += value.shape.element_count(1) * size_bytes(value.dtype);
        }
        return bytes;
    };
    return bytes_of(node.outputs) > std::max(kSmall, bytes_of(node.inputs));
}

bool may_fold(const Graph& graph, const Node& node) {
    if (node.inputs.empty() || asks_for_rows(node.attrs)) return false;
    // Elements that are packed for want of narrow storage stay packed.
    if (node.op->is_view && size_bytes(graph.values[node.outputs[0]].dtype) <
                                size_bytes(graph.values[node.inputs[0]].dtype))
        return false;
    for (ValueId v : node.outputs) {
        const Shape& shape = graph.values[v].shape;
        if (shape.has_batch() || shape.element_count(1) > kLargestFolded) return false;
    }
    return !grows(graph, node);
}

}  // namespace

Result<Graph> fold_constants(const Graph& graph, const PassOptions&) {
    return rewrite(graph,
                   [&](Trace& trace, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                       if (!may_fold(graph, node)) return std::nullopt;
                       std::vector<const HostTensor*> operands;
                       for (const Tensor& t : inputs) {
                           operands.push_back(constant_of(t));
                           if (operands.back() == nullptr) return std::nullopt;
                       }
                       Result<std::vector<HostTensor>> values =
                           evaluate_node(*node.op, node.attrs, operands);
                       if (!values.ok()) return std::nullopt;
                       std::vector<Tensor> folded;
                       for (HostTensor& value : *values)
                           folded.push_back(trace.constant(std::move(value)));
                       return folded;
                   });
}

}  // namespace hearth
