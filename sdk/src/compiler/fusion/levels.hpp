// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Dependencies between groups, and so which of them may run concurrently, as batches of one kernel.

#pragma once

#include "compiler/fusion/fuse.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Per call of a kernel; a call may stand for several groups.
struct GroupLevels {
    std::vector<uint32_t> depth;    ///< length of the longest dependency chain before it
    std::vector<bool> is_followed;  ///< true if another call depends on it
};

/// Topological levels of an acyclic call graph. Each call runs as early as possible, except that
/// one that loads no computed value and is not `fixed` runs in the level before its first reader,
/// where there are more calls to run beside.
GroupLevels find_levels(const Graph& graph, std::span<const Group* const> calls,
                        const std::vector<bool>& inlined, const std::vector<bool>& fixed);

/// Calls that may be batched, grouped by level: non-empty lists, in the order of levels. Calls
/// without dependents all move to the level of the last of them, in a list apart from calls with
/// dependents: they may write params in place. may_be_batched: per call.
struct LevelBatch {
    uint32_t depth = 0;
    std::vector<size_t> calls;
};
std::vector<LevelBatch> find_batches(const GroupLevels& levels,
                                     const std::vector<bool>& may_be_batched);

}  // namespace hearth
