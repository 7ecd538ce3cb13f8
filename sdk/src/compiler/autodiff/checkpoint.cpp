// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Gradient checkpointing: marks regions of a trace and recomputes them in the backward pass.

#include "compiler/autodiff/checkpoint.hpp"

#include "compiler/ops/op_table.hpp"

#include <hearth/grad.hpp>

#include <algorithm>

namespace hearth {

size_t checkpoint_begin(const Trace& trace) {
    return trace.graph().nodes.size();
}

size_t checkpoint_begin(const Tensor& x) {
    return x.trace() == nullptr ? 0 : checkpoint_begin(*x.trace());
}

Tensor checkpoint_end(const Tensor& y, size_t begin) {
    if (!y.ok()) return y;
    const auto nodes = static_cast<int64_t>(y.trace()->graph().nodes.size() - begin);
    return apply_one(op("checkpoint"), {y}, {{"nodes", nodes}});
}

std::vector<Tensor> checkpoint_end(std::vector<Tensor> ys, size_t begin) {
    for (Tensor& y : ys) y = checkpoint_end(y, begin);
    return ys;
}

Recomputation::Recomputation(Trace& trace)
    : trace_(trace), value_count_(trace.graph().values.size()) {
    const std::vector<Node>& nodes = trace.graph().nodes;
    // The last marker of nested or overlapping regions covers the others: it spans the most nodes.
    for (size_t n = nodes.size(); n-- > 0;) {
        if (!nodes[n].op->traits.is_checkpoint) continue;
        const auto last = static_cast<NodeId>(n);
        const auto count =
            static_cast<size_t>(std::clamp<int64_t>(nodes[n].attrs.integer("nodes"), 0, last));
        const auto first = static_cast<NodeId>(n - count);
        if (parts_.empty() || last < parts_.back().first) parts_.push_back({first, last, {}});
    }
}

Recomputation::Part* Recomputation::part_of(NodeId node) {
    for (Part& part : parts_)
        if (part.first <= node && node <= part.last) return &part;
    return nullptr;
}

bool Recomputation::is_inside(const Part& part, ValueId value) const {
    const Value& v = trace_.graph().value(value);
    return v.kind == ValueKind::kNode && part.first <= v.node && v.node <= part.last;
}

Tensor Recomputation::value_for(NodeId node, ValueId value, const Tensor& cotangent) {
    Part* part = part_of(node);
    if (part == nullptr || !is_inside(*part, value)) return {&trace_, value};
    if (part->values.empty()) compute(*part, cotangent);
    return part->values[value];
}

void Recomputation::compute(Part& part, const Tensor& after) {
    part.values.resize(value_count_);
    const auto again = [&](ValueId v) {
        Tensor& now = part.values[v];
        if (now.trace() != nullptr) return now;
        const ValueKind kind = trace_.graph().value(v).kind;
        const bool waits = kind == ValueKind::kNode || kind == ValueKind::kInput;
        now = Tensor(&trace_, v);
        if (waits) now = apply_one(op("compute_after"), {now, after});
        return now;
    };
    for (NodeId n = part.first; n <= part.last && trace_.status().ok(); ++n) {
        // A copy: applying operators may move the graph's nodes.
        const Node node = trace_.graph().nodes[n];
        std::vector<Tensor> inputs;
        for (ValueId v : node.inputs) inputs.push_back(again(v));
        const std::vector<Tensor> outputs =
            node.op->traits.is_checkpoint ? inputs : apply(*node.op, inputs, node.attrs, &trace_);
        for (size_t i = 0; i < node.outputs.size(); ++i) part.values[node.outputs[i]] = outputs[i];
    }
}

}  // namespace hearth
