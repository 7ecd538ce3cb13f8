// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/reduction/replicated_scalar_functions.hpp"

#include <string>

namespace hearth {

Expr replicated_scalar_variable(const Graph& graph, ValueId v, Body& body) {
    return body.global("number" + std::to_string(v), LocalKind::kPrivate,
                       scalar_type(graph.values[v].dtype));
}

void define_replicated_scalars(const Graph& graph, const Group& group,
                               GroupExpressions& expressions, KernelWriter& writer, Body& body) {
    for (const std::shared_ptr<const Group>& number : group.replicated_scalars)
        for (ValueId v : number->stores) {
            const Scalar variable = expressions.arena().symbol(scalar_type(graph.values[v].dtype));
            writer.bind(variable, replicated_scalar_variable(graph, v, body));
            expressions.define(v, variable);
        }
}

void note_replicated_scalar_loads(const Graph& graph, const Group& group,
                                  const std::vector<bool>& inlined, const Body& body,
                                  std::vector<bool>& is_elementwise) {
    for (const std::shared_ptr<const Group>& number : group.replicated_scalars)
        for (ValueId v : loads_of(graph, *number, inlined))
            for (size_t b = 0; b < body.buffers.size(); ++b)
                if (body.buffers[b].value == v) is_elementwise[b] = false;
}

}  // namespace hearth
