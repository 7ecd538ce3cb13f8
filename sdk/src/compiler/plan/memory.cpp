// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns each block an offset in the arena so that blocks alive together never overlap.
// Greedy by size, largest first, into the smallest gap that fits; after Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020 (offset calculation).  The same
// with bytes times lifetime for the size, where the first is above the lower bound.
// In both, while that is above the lower bound: the block that ends last goes first in the order, and
// all are placed anew.  O(n^2) in blocks each time; n < 2,000 in practice.

#include "compiler/plan/stages.hpp"

#include <algorithm>
#include <functional>
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

/// Places the blocks one after the other in `order`.
ArenaLayout place_in_order(std::span<const Block> blocks, std::span<const size_t> order,
                           uint64_t alignment) {
    ArenaLayout layout;
    layout.offsets.resize(blocks.size());
    std::vector<size_t> placed;  // by offset
    std::vector<std::pair<uint64_t, uint64_t>> taken;
    for (size_t b : order) {
        taken.clear();
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

/// How often to place all blocks anew: less often when there are many.
int trials_for(size_t block_count) {
    constexpr size_t kMostTrials = 100, kMostWork = 20'000'000;
    return static_cast<int>(
        std::min(kMostTrials, kMostWork / std::max<size_t>(block_count * block_count, 1)));
}

/// The best layout that is found from `order` on.
ArenaLayout improve(std::span<const Block> blocks, std::vector<size_t> order, uint64_t alignment,
                    uint64_t least) {
    ArenaLayout best = place_in_order(blocks, order, alignment), layout = best;
    for (int trial = trials_for(blocks.size()); trial > 0 && best.size_bytes > least; --trial) {
        const auto last = std::ranges::max_element(order, {}, [&](size_t b) {
            return layout.offsets[b] + align_up(blocks[b].size_bytes, alignment);
        });
        std::rotate(order.begin(), last, last + 1);
        layout = place_in_order(blocks, order, alignment);
        if (layout.size_bytes < best.size_bytes) best = layout;
    }
    return best;
}

}  // namespace

uint64_t least_arena_bytes(std::span<const Block> blocks, uint64_t alignment) {
    uint64_t least = 0;
    // The most that is alive at once is alive where some block begins.
    for (const Block& begun : blocks) {
        uint64_t alive = 0;
        for (const Block& block : blocks)
            if (block.lifetime.overlaps({begun.lifetime.first, begun.lifetime.first}))
                alive += align_up(block.size_bytes, alignment);
        least = std::max(least, alive);
    }
    return least;
}

ArenaLayout place_in_arena(std::span<const Block> blocks, uint64_t alignment) {
    const uint64_t least = least_arena_bytes(blocks, alignment);
    const auto largest_first = [&](auto size_of) {
        std::vector<size_t> order(blocks.size());
        std::iota(order.begin(), order.end(), size_t{0});
        std::ranges::stable_sort(order, std::greater(), size_of);
        return improve(blocks, std::move(order), alignment, least);
    };
    const ArenaLayout by_bytes = largest_first([&](size_t b) { return blocks[b].size_bytes; });
    if (by_bytes.size_bytes == least) return by_bytes;
    const ArenaLayout by_area = largest_first([&](size_t b) {
        const Lifetime& life = blocks[b].lifetime;
        return blocks[b].size_bytes * (1 + life.last - life.first);
    });
    return by_area.size_bytes < by_bytes.size_bytes ? by_area : by_bytes;
}

}  // namespace hearth::planning
