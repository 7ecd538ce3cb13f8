// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/rewrite.hpp"
#include "passes/pass.hpp"

#include <hearth/core/hash.hpp>

#include <map>

namespace hearth {

Result<Graph> share_common(const Graph& graph, const PassOptions&) {
    struct Known {
        const Node* node;
        std::vector<ValueId> inputs;
        std::vector<Tensor> outputs;
    };
    std::multimap<uint64_t, Known> known;
    return rewrite(graph,
                   [&](Trace& trace, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                       Hash hash;
                       hash.text(node.op->name);
                       add_to(hash, node.attrs);
                       std::vector<ValueId> ids;
                       for (const Tensor& t : inputs) ids.push_back(t.value());
                       for (ValueId id : ids) hash.number(id);
                       auto [first, last] = known.equal_range(hash.value());
                       for (auto at = first; at != last; ++at)
                           if (at->second.node->op == node.op &&
                               at->second.node->attrs == node.attrs && at->second.inputs == ids)
                               return at->second.outputs;
                       std::vector<Tensor> outputs = apply(*node.op, inputs, node.attrs, &trace);
                       known.emplace(hash.value(), Known{&node, std::move(ids), outputs});
                       return outputs;
                   });
}

}  // namespace hearth
