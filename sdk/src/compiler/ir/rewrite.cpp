// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rebuilds graphs node by node, and restores topological order.

#include "compiler/ir/rewrite.hpp"

#include "compiler/ir/graph.hpp"
#include "compiler/ir/shared_constant.hpp"

#include <hearth/core/assert.hpp>

namespace hearth {

namespace {

/// Declares the params, states and constants of `graph`, and enters them in `now`, indexed by
/// value.
void declare_persistent(const Graph& graph, Trace& trace, std::vector<Tensor>& now,
                        const LeafRule& rule = {}) {
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        if (rule && v.kind != ValueKind::kNode && v.kind != ValueKind::kInput) {
            if (std::optional<Tensor> replaced = rule(trace, v)) {
                now[id] = *replaced;
                continue;
            }
        }
        const Init init = v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
        if (v.kind == ValueKind::kParam) now[id] = trace.param(v.name, v.shape, init, v.dtype);
        if (v.kind == ValueKind::kState)
            now[id] = v.is_persistent ? trace.state(v.name, v.shape, init, v.dtype)
                                      : trace.non_persistent_state(v.name, v.shape, init, v.dtype);
        if (v.kind == ValueKind::kConstant) now[id] = shared_constant(trace, v.data);
    }
}

Status replay_nodes(const Graph& graph, Trace& trace, const RewriteRule& rule,
                    std::vector<Tensor>& now) {
    for (const Node& node : graph.nodes) {
        std::vector<Tensor> inputs;
        for (ValueId v : node.inputs) inputs.push_back(now[v]);
        std::optional<std::vector<Tensor>> results = rule(trace, node, inputs);
        if (!results) results = apply(*node.op, inputs, node.attrs, &trace);
        if (!trace.status().ok()) return trace.status();
        for (size_t i = 0; i < node.outputs.size(); ++i) now[node.outputs[i]] = (*results)[i];
    }
    return {};
}

}  // namespace

Result<Graph> rewrite(const Graph& graph, const RewriteRule& rule, const LeafRule& leaf_rule) {
    Trace trace(graph.name);
    std::vector<Tensor> now(graph.values.size());
    for (ValueId id : graph.inputs) {
        const Value& v = graph.values[id];
        now[id] = trace.input(v.name, v.shape, v.dtype);
    }
    declare_persistent(graph, trace, now, leaf_rule);
    HEARTH_TRY(replay_nodes(graph, trace, rule, now));
    for (const GraphOutput& o : graph.outputs) {
        trace.output(o.name, now[o.value]);
        if (!trace.graph().outputs.empty()) mutable_graph(trace).outputs.back().scalars = o.scalars;
    }
    for (const Assignment& u : graph.updates) trace.assign(now[u.target], now[u.value]);
    return trace.build();
}

std::vector<Tensor> replay(const Graph& graph, Trace& trace, std::span<const Tensor> inputs) {
    HEARTH_ASSERT(inputs.size() == graph.inputs.size());
    std::vector<Tensor> now(graph.values.size(), Tensor(&trace, kInvalidId));
    for (size_t i = 0; i < inputs.size(); ++i) now[graph.inputs[i]] = inputs[i];
    declare_persistent(graph, trace, now);
    const RewriteRule keep = [](Trace&, const Node&, std::span<const Tensor>) {
        return std::nullopt;
    };
    // The trace keeps its first error; later results are failed tensors.
    (void)replay_nodes(graph, trace, keep, now);
    return now;
}

bool asks_for_rows(const Attrs& attrs) {
    for (const Attr& a : attrs.all())
        if (const auto* shape = std::get_if<Shape>(&a.value);
            shape != nullptr && shape->has_batch())
            return true;
    return false;
}

void restore_order(Graph& graph) {
    enum class Visit : uint8_t { kNew, kBegun, kDone };
    std::vector<Visit> visits(graph.nodes.size(), Visit::kNew);
    std::vector<NodeId> order, stack;
    for (NodeId root = 0; root < graph.nodes.size(); ++root) {
        stack.push_back(root);
        while (!stack.empty()) {
            const NodeId n = stack.back();
            if (visits[n] != Visit::kNew) {
                stack.pop_back();
                if (visits[n] == Visit::kBegun) order.push_back(n);
                visits[n] = Visit::kDone;
                continue;
            }
            visits[n] = Visit::kBegun;
            for (ValueId v : graph.nodes[n].inputs) {
                if (graph.values[v].kind != ValueKind::kNode) continue;
                const NodeId maker = graph.values[v].node;
                HEARTH_ASSERT(visits[maker] != Visit::kBegun);  // otherwise a cycle
                if (visits[maker] == Visit::kNew) stack.push_back(maker);
            }
        }
    }
    std::vector<Node> nodes;
    for (NodeId n : order) {
        for (ValueId v : graph.nodes[n].outputs)
            graph.values[v].node = static_cast<NodeId>(nodes.size());
        nodes.push_back(std::move(graph.nodes[n]));
    }
    graph.nodes = std::move(nodes);
}

}  // namespace hearth
