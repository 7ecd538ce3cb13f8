// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds topological levels of kernel calls by relaxation, and batches calls of equal level.

#include "compiler/fusion/levels.hpp"

#include <algorithm>
#include <map>

namespace hearth {

namespace {

/// Loaded values per call.
std::vector<std::vector<ValueId>> loads_of_calls(const Graph& graph,
                                                 std::span<const Group* const> calls,
                                                 const std::vector<bool>& inlined) {
    std::vector<std::vector<ValueId>> loads;
    for (const Group* call : calls) loads.push_back(loads_of(graph, *call, inlined));
    return loads;
}

}  // namespace

GroupLevels find_levels(const Graph& graph, std::span<const Group* const> calls,
                        const std::vector<bool>& inlined, const std::vector<bool>& fixed) {
    GroupLevels levels{std::vector<uint32_t>(calls.size(), 0),
                       std::vector<bool>(calls.size(), false)};
    std::vector<size_t> maker(graph.values.size(), calls.size());
    for (size_t c = 0; c < calls.size(); ++c)
        for (const ValueId v : calls[c]->stores) maker[v] = c;
    const std::vector<std::vector<ValueId>> loads = loads_of_calls(graph, calls, inlined);
    // Terminates because the call graph is acyclic; there are few calls, mostly in topological
    // order.
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t c = 0; c < calls.size(); ++c)
            for (const ValueId v : loads[c]) {
                if (maker[v] == calls.size() || maker[v] == c) continue;
                levels.is_followed[maker[v]] = true;
                const uint32_t least = levels.depth[maker[v]] + 1;
                if (levels.depth[c] >= least) continue;
                levels.depth[c] = least;
                changed = true;
            }
    }
    std::vector<uint32_t> latest(calls.size(), kInvalidId);
    std::vector<bool> waits(calls.size(), false);
    for (size_t c = 0; c < calls.size(); ++c)
        for (const ValueId v : loads[c]) {
            waits[c] = waits[c] || graph.value(v).kind == ValueKind::kNode;
            if (maker[v] != calls.size() && maker[v] != c)
                latest[maker[v]] = std::min(latest[maker[v]], levels.depth[c] - 1);
        }
    for (size_t c = 0; c < calls.size(); ++c)
        if (!fixed[c] && !waits[c] && latest[c] != kInvalidId) levels.depth[c] = latest[c];
    return levels;
}

std::vector<LevelBatch> find_batches(const GroupLevels& levels,
                                     const std::vector<bool>& may_be_batched) {
    uint32_t last = 0;
    for (size_t c = 0; c < levels.depth.size(); ++c)
        if (!levels.is_followed[c]) last = std::max(last, levels.depth[c]);
    std::map<std::pair<uint32_t, bool>, std::vector<size_t>> alike;
    for (size_t c = 0; c < levels.depth.size(); ++c)
        if (may_be_batched[c])
            alike[{levels.is_followed[c] ? levels.depth[c] : last, levels.is_followed[c]}]
                .push_back(c);
    std::vector<LevelBatch> batches;
    for (auto& [key, calls] : alike) batches.push_back({key.first, std::move(calls)});
    return batches;
}

}  // namespace hearth
