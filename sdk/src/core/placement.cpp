// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Greedy placement of memory blocks with lifetimes at non-overlapping offsets.

#include "core/placement.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace hearth {

namespace {

/// Returns the offset of a gap for `size` bytes between the taken ranges, or behind them.  `taken`
/// is sorted by begin.
uint64_t offset_between(std::span<const std::pair<uint64_t, uint64_t>> taken, uint64_t size,
                        Gap wanted) {
    uint64_t best_offset = 0, best_gap = 0, end = 0;
    for (const auto& [range_begin, range_end] : taken) {
        if (range_begin > end && range_begin - end >= size) {
            const uint64_t gap = range_begin - end;
            if (wanted == Gap::kFirst) return end;
            if (best_gap == 0 || gap < best_gap) {
                best_gap = gap;
                best_offset = end;
            }
        }
        end = std::max(end, range_end);
    }
    return best_gap != 0 ? best_offset : end;
}

}  // namespace

Placement place_in_order(std::span<const uint64_t> sizes, std::span<const Lifetime> lifetimes,
                         std::span<const size_t> order, Gap gap) {
    Placement layout;
    layout.offsets.resize(sizes.size());
    std::vector<size_t> placed;  // sorted by offset
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (const size_t b : order) {
        taken.clear();
        for (const size_t p : placed)
            if (lifetimes[p].overlaps(lifetimes[b]))
                taken.push_back({layout.offsets[p], layout.offsets[p] + sizes[p]});
        layout.offsets[b] = offset_between(taken, sizes[b], gap);
        layout.size = std::max(layout.size, layout.offsets[b] + sizes[b]);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                       [&](size_t x, size_t y) {
                                           return layout.offsets[x] < layout.offsets[y];
                                       }),
                      b);
    }
    return layout;
}

std::vector<size_t> largest_first(std::span<const uint64_t> sizes) {
    std::vector<size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, std::greater(), [&](size_t b) { return sizes[b]; });
    return order;
}

}  // namespace hearth
