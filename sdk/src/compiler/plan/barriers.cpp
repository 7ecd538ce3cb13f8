// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds the barriers of an entry from the byte ranges that its operations touch, and nothing else.
//
// Operations between two barriers may run in any order and at the same time, so no two of them may
// touch a byte that one of them writes: read-after-write (RAW), write-after-read (WAR) and
// write-after-write (WAW) hazards.  A barrier orders everything before it against everything after
// it.  Placing each barrier as late as possible gives the fewest (greedy partition of a sequence
// into the fewest runs without conflicts).

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
