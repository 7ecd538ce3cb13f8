// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns each block an offset in the arena so that blocks alive together never overlap.
// Greedy by size, largest first, into the smallest gap that fits; after Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020 (offset calculation).
// O(n^2) in blocks; n < 2,000 in practice.

#include "plan/stages.hpp"

#include <algorithm>
#include <numeric>

namespace hearth::planning {

namespace {

/// The best offset for `size` bytes between ranges that are taken.  `taken` is sorted by begin.
uint64_t smallest_gap(std::span<const std::pair<uint64_t, uint64_t>> taken, uint64_t size) {
    uint64_t best_offset = 0, best_gap = 0, end = 0;
    for (const auto& [range_begin, range_end] : taken) {
        if (range_begin > end && range_begin - end >= size &&
            (best_gap == 0 || range_begin - end < best_gap)) {
            best_gap = range_begin - end;
            best_offset = end;
        }
        end = std::max(end, range_end);
    }
    return best_gap != 0 ? best_offset : end;
}

}  // namespace

ArenaLayout place_in_arena(std::span<const Block> blocks, uint64_t alignment) {
    std::vector<size_t> order(blocks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return blocks[a].size_bytes > blocks[b].size_bytes;
    });
    ArenaLayout layout;
    layout.offsets.resize(blocks.size());
    std::vector<size_t> placed;  // by offset
    for (size_t b : order) {
        std::vector<std::pair<uint64_t, uint64_t>> taken;
        for (size_t p : placed)
            if (blocks[p].lifetime.overlaps(blocks[b].lifetime))
                taken.push_back({layout.offsets[p],
                                 layout.offsets[p] + align_up(blocks[p].size_bytes, alignment)});
        const uint64_t size = align_up(blocks[b].size_bytes, alignment);
        layout.offsets[b] = smallest_gap(taken, size);
        layout.size_bytes = std::max(layout.size_bytes, layout.offsets[b] + size);
        placed.insert(std::upper_bound(placed.begin(), placed.end(), b,
                                       [&](size_t x, size_t y) {
                                           return layout.offsets[x] < layout.offsets[y];
                                       }),
                      b);
    }
    return layout;
}

}  // namespace hearth::planning
