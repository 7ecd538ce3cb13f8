// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns offsets to memory blocks with lifetimes: blocks of an arena, and of a workgroup's shared
// memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// First and last step in which a block is needed, both inclusive.
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
    std::vector<uint64_t> offsets;  ///< one per block
    uint64_t size = 0;              ///< end of the last block
};

/// Gap selection: the smallest gap that fits, after Pisarchyk and Lee, "Efficient Memory Management
/// for Deep Neural Net Inference", 2020 (offset calculation); or the first one.
enum class Gap : uint8_t { kSmallest, kFirst };

/// Places blocks one by one in `order`, each into a gap between the blocks whose lifetimes overlap
/// its own.  O(n^2) in blocks.
/// sizes  in any unit; the offsets have the same unit.
Placement place_in_order(std::span<const uint64_t> sizes, std::span<const Lifetime> lifetimes,
                         std::span<const size_t> order, Gap gap = Gap::kSmallest);

/// Block indices by descending size; ties keep input order.
std::vector<size_t> largest_first(std::span<const uint64_t> sizes);

}  // namespace hearth
