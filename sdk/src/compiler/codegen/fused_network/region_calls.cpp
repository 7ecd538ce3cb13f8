// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/region_calls.hpp"

#include "compiler/codegen/fused_network/fused_network.hpp"
#include "compiler/codegen/kernel_draft.hpp"
#include "core/device_model.hpp"

#include <optional>
#include <utility>

namespace hearth {

namespace {

/// The region without the nodes of its other members.
RowRegion part_of_region(const Graph& graph, const RowRegion& region,
                         std::span<const Group* const> members,
                         std::span<const Group* const> groups) {
    RowRegion part = region;
    for (const Group* member : members)
        for (const NodeId n : member->nodes) part.contains[n] = false;
    for (const Group* group : groups)
        for (const NodeId n : group->nodes) part.contains[n] = true;
    part.nodes.clear();
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        if (part.contains[n]) part.nodes.push_back(n);
    return part;
}

}  // namespace

Result<RegionCalls> region_calls(const Graph& graph, const RowRegion& region,
                                 const FusionPlan& plan, std::span<const Group* const> members,
                                 std::deque<Group>& wholes, const LowerOptions& options) {
    RegionCalls result;
    std::vector<PlannedCall>& calls = result.calls;
    const auto add = [&](std::span<const Group* const> groups, KernelDraft kernel) {
        Group& whole = wholes.emplace_back(union_of(groups));
        whole.stores = kernel.stores;
        calls.push_back({{&whole}, std::move(kernel), 0, "fused network"});
    };
    Result<KernelDraft> undivided = fused_network(graph, region, members, plan.inlined, options);
    if (!undivided.ok() && undivided.status().code() != StatusCode::kOutOfRange)
        return undivided.status();
    if (undivided.ok() && compiles_quickly(*undivided, options.caps)) {
        add(members, std::move(*undivided));
        return result;
    }
    result.division = undivided.ok()
                          ? "its kernel is longer than " +
                                std::to_string(device_model(options.caps).max_instructions) +
                                " instructions, which drivers compile for seconds"
                          : undivided.status().message();
    for (std::span<const Group* const> rest = members; !rest.empty();) {
        std::optional<KernelDraft> largest;
        size_t fits = 1, exceeds = rest.size() + 1;
        while (exceeds - fits > 1) {
            const size_t count = (fits + exceeds) / 2;
            const auto groups = rest.first(count);
            Result<KernelDraft> kernel =
                fused_network(graph, part_of_region(graph, region, members, groups), groups,
                              plan.inlined, options);
            const bool does_fit = kernel.ok() && compiles_quickly(*kernel, options.caps);
            (does_fit ? fits : exceeds) = count;
            if (does_fit) largest = std::move(*kernel);
        }
        if (largest) {
            // A variant is measured for the region as a whole.
            largest->tunable.clear();
            largest->variants.clear();
            add(rest.first(fits), std::move(*largest));
        } else {
            calls.push_back({{rest[0]}, std::nullopt, 0, ""});
        }
        rest = rest.subspan(fits);
    }
    if (wholes.empty()) return unsupported(result.division);
    return result;
}

}  // namespace hearth
