// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which groups wait for which, and so which of them may run side by side, as batches of one kernel.

#pragma once

#include "compiler/fusion/fuse.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Per call: a kernel that may hold several groups, of which one stands for all.
struct GroupLevels {
    std::vector<uint32_t> depth;    ///< the longest chain of calls that it waits for
    std::vector<bool> is_followed;  ///< whether another call waits for it
};

/// The levels of calls that form no circle.  What waits for nothing runs just ahead of those that wait for it, where
/// there are more to run beside; but for calls that are `fixed`, which run as early as they can.
GroupLevels find_levels(const Graph& graph, std::span<const Group* const> calls,
                        const std::vector<bool>& inlined, const std::vector<bool>& fixed);

/// Calls that may be batched, by those that run at one level: lists of at least one, in the order of levels.  What
/// nothing waits for runs with the last of its kind, apart from what others wait for: it may write params in place.
/// may_be_batched: per call.
struct LevelBatch {
    uint32_t depth = 0;
    std::vector<size_t> calls;
};
std::vector<LevelBatch> find_batches(const GroupLevels& levels,
                                     const std::vector<bool>& may_be_batched);

}  // namespace hearth
