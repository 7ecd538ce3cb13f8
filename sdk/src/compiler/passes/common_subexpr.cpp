// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Common subexpression elimination; also merges chains of reshapes.

#include "compiler/fusion/row_region.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/passes/pass.hpp"

#include <hearth/core/hash.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <map>

namespace hearth {

namespace {

/// Merges a reshape of a reshape into one, or into none if the shape is the original. Row regions
/// (compiler/fusion/row_region.hpp) would not recognize rows through a round trip between windows
/// and rows.
std::optional<Tensor> reshaped_once(const Node& node, const Tensor& x) {
    const Node* before = x.trace()->graph().producer(x.value());
    if (before == nullptr || !before->op->is_reshape) return {};
    return reshape(Tensor(x.trace(), before->inputs[0]), node.attrs.shape("shape"));
}

}  // namespace

Result<Graph> share_common(const Graph& graph, const PassOptions&) {
    struct Known {
        const Node* node;
        std::vector<ValueId> inputs;
        std::vector<Tensor> outputs;
    };
    std::multimap<uint64_t, Known> known;
    const bool has_walks = std::ranges::any_of(graph.nodes, walks_windows);
    return rewrite(graph,
                   [&](Trace& trace, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                       if (has_walks && node.op->is_reshape)
                           if (const auto once = reshaped_once(node, inputs[0]))
                               return std::vector<Tensor>{*once};
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
