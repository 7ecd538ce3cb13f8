// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/rewrite.hpp"

namespace hearth {

Result<Graph> rewrite(const Graph& graph, const RewriteRule& rule) {
    Trace trace(graph.name);
    std::vector<Tensor> now(graph.values.size());
    for (ValueId id : graph.inputs) {
        const Value& v = graph.values[id];
        now[id] = trace.input(v.name, v.shape, v.dtype);
    }
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        const Init init = v.data ? Init{Init::Kind::kData, 0, 0, 0, v.data} : Init::zeros();
        if (v.kind == ValueKind::kParam) now[id] = trace.param(v.name, v.shape, init, v.dtype);
        if (v.kind == ValueKind::kState) now[id] = trace.state(v.name, v.shape, init, v.dtype);
        if (v.kind == ValueKind::kConstant) now[id] = trace.constant(*v.data);
    }
    for (const Node& node : graph.nodes) {
        std::vector<Tensor> inputs;
        for (ValueId v : node.inputs) inputs.push_back(now[v]);
        std::optional<std::vector<Tensor>> results = rule(trace, node, inputs);
        if (!results) results = apply(*node.op, inputs, node.attrs, &trace);
        if (!trace.status().ok()) return trace.status();
        for (size_t i = 0; i < node.outputs.size(); ++i) now[node.outputs[i]] = (*results)[i];
    }
    for (const GraphOutput& o : graph.outputs) trace.output(o.name, now[o.value]);
    for (const GraphUpdate& u : graph.updates) trace.assign(now[u.target], now[u.value]);
    return trace.finish();
}

}  // namespace hearth
