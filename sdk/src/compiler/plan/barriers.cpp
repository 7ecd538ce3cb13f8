// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds where barriers must stand, from the bytes that are touched and nothing else.
//
// Operations since the last barrier may run in any order and at the same time, so no two of them
// may touch a byte that one of them writes: reading after writing (RAW), writing after reading
// (WAR), writing twice (WAW).  A barrier orders everything.  Placing each as late as possible gives
// the fewest (the partition of a sequence into the fewest parts without conflicts is greedy).

#include "compiler/plan/stages.hpp"

#include <algorithm>

namespace hearth::planning {

bool conflict(const ByteRange& a, const ByteRange& b) {
    return (a.is_written || b.is_written) && a.region == b.region && a.binding == b.binding &&
           std::max(a.begin, b.begin) < std::min(a.end, b.end);
}

std::vector<bool> barriers_before(std::span<const std::vector<ByteRange>> groups) {
    const auto races = [](const std::vector<ByteRange>& since_barrier,
                          const std::vector<ByteRange>& group) {
        for (const ByteRange& a : since_barrier)
            for (const ByteRange& b : group)
                if (conflict(a, b)) return true;
        return false;
    };
    std::vector<bool> result;
    std::vector<ByteRange> since_barrier;
    for (const std::vector<ByteRange>& group : groups) {
        result.push_back(races(since_barrier, group));
        if (result.back()) since_barrier.clear();
        since_barrier.insert(since_barrier.end(), group.begin(), group.end());
    }
    return result;
}

}  // namespace hearth::planning
