// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Assigns each block an offset in the arena so that blocks alive together never overlap.
//
// Greedy: largest block first, each into the smallest gap that fits (core/placement.hpp).  If the
// result is above the lower bound, a second search orders blocks by bytes times lifetime instead.
// Each search repeats while it is above the lower bound: it moves the block with the highest end
// offset to the front of the order and places all blocks again.  O(n^2) in blocks per trial; n <
// 2,000 in practice.

#include "compiler/plan/stages.hpp"

#include <algorithm>

namespace hearth::planning {

namespace {

/// Number of placement trials; fewer for many blocks, which bounds the total work.
int trials_for(size_t block_count) {
    constexpr size_t kMostTrials = 100, kMostWork = 20'000'000;
    return static_cast<int>(
        std::min(kMostTrials, kMostWork / std::max<size_t>(block_count * block_count, 1)));
}

/// The best layout found by a search that starts from `order`.
Placement improve(std::span<const uint64_t> sizes, std::span<const Lifetime> lifetimes,
                  std::vector<size_t> order, uint64_t least) {
    Placement best = place_in_order(sizes, lifetimes, order), layout = best;
    for (int trial = trials_for(sizes.size()); trial > 0 && best.size > least; --trial) {
        const auto last = std::ranges::max_element(
            order, {}, [&](size_t b) { return layout.offsets[b] + sizes[b]; });
        std::rotate(order.begin(), last, last + 1);
        layout = place_in_order(sizes, lifetimes, order);
        if (layout.size < best.size) best = layout;
    }
    return best;
}

}  // namespace

uint64_t least_arena_bytes(std::span<const Block> blocks, uint64_t alignment) {
    uint64_t least = 0;
    // The number of live bytes peaks at the start of some block's lifetime.
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
    std::vector<uint64_t> sizes, bytes, areas;
    std::vector<Lifetime> lifetimes;
    for (const Block& block : blocks) {
        sizes.push_back(align_up(block.size_bytes, alignment));
        bytes.push_back(block.size_bytes);
        areas.push_back(block.size_bytes * (1 + block.lifetime.last - block.lifetime.first));
        lifetimes.push_back(block.lifetime);
    }
    Placement best = improve(sizes, lifetimes, largest_first(bytes), least);
    if (best.size != least)
        if (Placement by_area = improve(sizes, lifetimes, largest_first(areas), least);
            by_area.size < best.size)
            best = std::move(by_area);
    return {std::move(best.offsets), best.size};
}

}  // namespace hearth::planning
