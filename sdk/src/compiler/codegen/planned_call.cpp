// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/planned_call.hpp"

#include <algorithm>
#include <memory>

namespace hearth {

namespace {

/// The group's replicated scalars, and those within them.
std::vector<const Group*> with_replicated_scalars_within(const Group& group) {
    std::vector<const Group*> all;
    for (const std::shared_ptr<const Group>& number : group.replicated_scalars) {
        all.push_back(number.get());
        const std::vector<const Group*> inner = with_replicated_scalars_within(*number);
        all.insert(all.end(), inner.begin(), inner.end());
    }
    return all;
}

}  // namespace

std::string label_of(const Graph& graph, const Group& group) {
    std::string label;
    for (NodeId n : group.nodes)
        label += (label.empty() ? "" : "+") + std::string(graph.nodes[n].op->name);
    return label;
}

Group union_of(std::span<const Group* const> groups) {
    Group whole;
    for (const Group* group : groups) {
        whole.nodes.insert(whole.nodes.end(), group->nodes.begin(), group->nodes.end());
        whole.stores.insert(whole.stores.end(), group->stores.begin(), group->stores.end());
        for (const std::shared_ptr<const Group>& number : group->replicated_scalars)
            if (std::find(whole.replicated_scalars.begin(), whole.replicated_scalars.end(),
                          number) == whole.replicated_scalars.end())
                whole.replicated_scalars.push_back(number);
    }
    std::sort(whole.nodes.begin(), whole.nodes.end());
    return whole;
}

std::vector<uint32_t> computed_values(const Graph& graph, const Group& group,
                                      const std::vector<bool>& inlined) {
    std::vector<bool> wanted(graph.nodes.size());
    std::vector<NodeId> stack(group.nodes);
    const std::vector<const Group*> numbers = with_replicated_scalars_within(group);
    const auto is_number = [&](ValueId v) {
        return std::any_of(numbers.begin(), numbers.end(), [&](const Group* number) {
            return std::binary_search(number->nodes.begin(), number->nodes.end(),
                                      graph.values[v].node);
        });
    };
    while (!stack.empty()) {
        const NodeId n = stack.back();
        stack.pop_back();
        if (wanted[n]) continue;
        wanted[n] = true;
        if (graph.nodes[n].op->is_opaque) continue;
        for (ValueId v : graph.nodes[n].inputs)
            if (const Value& in = graph.values[v];
                in.kind == ValueKind::kNode && (inlined[in.node] || is_number(v)))
                stack.push_back(in.node);
    }
    std::vector<uint32_t> values;
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (wanted[n])
            values.insert(values.end(), graph.nodes[n].outputs.begin(),
                          graph.nodes[n].outputs.end());
    return values;
}

std::string note_on_levels(const Graph& graph, const std::vector<bool>& inlined,
                           std::span<const PlannedCall> calls) {
    constexpr uint32_t kLevels = 3;
    const auto last = std::max_element(
        calls.begin(), calls.end(),
        [](const PlannedCall& a, const PlannedCall& b) { return a.depth < b.depth; });
    const bool has_fused_network =
        std::any_of(calls.begin(), calls.end(), [](const auto& call) { return call.kernel; });
    if (!has_fused_network || graph.updates.empty() || last->depth < kLevels) return "";
    std::string chain;
    for (const PlannedCall* call = &*last; call != nullptr;) {
        const Group& group = *call->groups[0];
        std::string label = call->kernel ? call->label : label_of(graph, group);
        if (group.kind == GroupKind::kReduction && !call->kernel)
            label += " of " + to_string(group.space);
        chain = label + (chain.empty() ? "" : ", then ") + chain;
        const std::vector<ValueId> loads = loads_of(graph, group, inlined);
        const auto before = std::find_if(calls.begin(), calls.end(), [&](const auto& c) {
            const std::vector<ValueId>& stores = c.groups[0]->stores;
            return c.depth + 1 == call->depth &&
                   std::any_of(stores.begin(), stores.end(), [&](ValueId v) {
                       return std::binary_search(loads.begin(), loads.end(), v);
                   });
        });
        call = before == calls.end() ? nullptr : &*before;
    }
    return "entry '" + graph.name + "' trains in " + std::to_string(last->depth + 1) +
           " dependent dispatches, not " + std::to_string(kLevels) + ": " + chain;
}

}  // namespace hearth
