// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Where blocks of memory lie that are needed for a time each: an arena's, and those of a workgroup's shared memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// From the first to the last step in which bytes are needed, both included.
struct Lifetime {
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;

    void include(uint32_t step) {
        first = step < first ? step : first;
        last = step > last ? step : last;
    }
    bool overlaps(const Lifetime& other) const {
        return first <= other.last && other.first <= last;
    }
};

struct Placement {
    std::vector<uint64_t> offsets;  ///< one for each block
    uint64_t size = 0;              ///< of all together
};

/// Which of the gaps that fit a block gets: the smallest, after Pisarchyk and Lee, "Efficient Memory Management for
/// Deep Neural Net Inference", 2020 (offset calculation); or the first.
enum class Gap : uint8_t { kSmallest, kFirst };

/// Places blocks one after the other in `order`, each into a gap between those that are needed while it is.  O(n^2) in
/// blocks.
/// sizes  in any unit, which is that of the offsets.
Placement place_in_order(std::span<const uint64_t> sizes, std::span<const Lifetime> lifetimes,
                         std::span<const size_t> order, Gap gap = Gap::kSmallest);

/// Indices of the blocks, the largest first; equal ones as they come.
std::vector<size_t> largest_first(std::span<const uint64_t> sizes);

}  // namespace hearth
