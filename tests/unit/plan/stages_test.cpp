// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "plan/stages.hpp"

#include "unit/plan/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::planning {
namespace {

Block block(uint64_t size, uint32_t first, uint32_t last) {
    return {size, {first, last}, {}};
}

TEST(PlaceInArena, ValuesWithDisjointLifetimesShareBytes) {
    const Block blocks[] = {block(100, 0, 1), block(100, 2, 3), block(100, 4, 4)};
    const ArenaLayout layout = place_in_arena(blocks, 64);
    EXPECT_EQ(layout.offsets, (std::vector<uint64_t>{0, 0, 0}));
    EXPECT_EQ(layout.size_bytes, 128u);
}

TEST(PlaceInArena, ValuesThatMeetInOneIntervalAreApart) {
    const Block blocks[] = {block(64, 0, 1), block(64, 1, 2)};
    EXPECT_EQ(place_in_arena(blocks, 64).offsets, (std::vector<uint64_t>{0, 64}));
}

TEST(PlaceInArena, PutsASmallValueIntoTheTightestGap) {
    // At interval 5 the ranges [0, 300) and [400, 500) of earlier values are free around [300,
    // 400).
    const Block blocks[] = {block(400, 0, 3), block(300, 0, 3), block(200, 0, 9), block(90, 4, 9)};
    const ArenaLayout layout = place_in_arena(blocks, 1);
    EXPECT_EQ(layout.offsets, (std::vector<uint64_t>{0, 400, 700, 0}));
    const Block gaps[] = {block(100, 0, 3), block(99, 0, 9), block(50, 0, 3), block(49, 0, 9),
                          block(48, 4, 9)};
    // Free at interval 4: [0, 100) and [199, 249).
    EXPECT_EQ(place_in_arena(gaps, 1).offsets.back(), 199u);
}

TEST(PlaceInArena, OfRandomBlocksIsCloseToTheLowerBound) {
    double worst = 0;
    for (uint64_t key = 0; key < 200; ++key) {
        synthetic::Random random(key);
        std::vector<Block> blocks;
        for (int i = 0; i < 80; ++i) {
            const uint32_t first = random.below(40);
            blocks.push_back(block(1 + random.below(1000), first, first + random.below(8)));
        }
        const ArenaLayout layout = place_in_arena(blocks, 1);
        uint64_t bound = 0;  // what is alive at once
        for (uint32_t t = 0; t < 50; ++t) {
            uint64_t alive = 0;
            for (const Block& b : blocks)
                if (b.lifetime.overlaps({t, t})) alive += b.size_bytes;
            bound = std::max(bound, alive);
        }
        for (size_t a = 0; a < blocks.size(); ++a)
            for (size_t b = 0; b < a; ++b)
                ASSERT_FALSE(blocks[a].lifetime.overlaps(blocks[b].lifetime) &&
                             layout.offsets[a] < layout.offsets[b] + blocks[b].size_bytes &&
                             layout.offsets[b] < layout.offsets[a] + blocks[a].size_bytes);
        worst =
            std::max(worst, static_cast<double>(layout.size_bytes) / static_cast<double>(bound));
    }
    EXPECT_LT(worst, 1.25);
}

TEST(Conflict, IsAnyOverlapWithAWrite) {
    const ByteRange read{Region::kArena, 0, 0, 100, false}, write{Region::kArena, 0, 99, 200, true};
    EXPECT_TRUE(conflict(read, write));
    EXPECT_TRUE(conflict(write, read));
    EXPECT_TRUE(conflict(write, write));
    EXPECT_FALSE(conflict(read, read));
    EXPECT_FALSE(conflict(read, {Region::kArena, 0, 100, 200, true}));
    EXPECT_FALSE(conflict(read, {Region::kWeights, 0, 0, 100, true}));
    EXPECT_FALSE(conflict({Region::kExternal, 1, 0, 8, true}, {Region::kExternal, 2, 0, 8, true}));
    EXPECT_FALSE(conflict(write, {Region::kArena, 0, 150, 150, true})) << "an empty range";
}

TEST(BarriersBefore, StandsAsLateAsPossible) {
    const auto writes = [](uint64_t at) { return ByteRange{Region::kArena, 0, at, at + 1, true}; };
    const auto reads = [](uint64_t at) { return ByteRange{Region::kArena, 0, at, at + 1, false}; };
    const std::vector<ByteRange> groups[] = {{writes(0)}, {writes(1)}, {reads(0), writes(2)},
                                             {reads(0)},  {writes(1)}, {writes(1)}};
    EXPECT_EQ(barriers_before(groups), (std::vector<bool>{false, false, true, false, false, true}));
}

}  // namespace
}  // namespace hearth::planning
