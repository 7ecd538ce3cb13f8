// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/plan/stages.hpp"

#include "unit/plan/synthetic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

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
            const uint32_t length = random.below(8), size = random.below(1000);
            blocks.push_back(block(1 + size, first, first + length));
        }
        const ArenaLayout layout = place_in_arena(blocks, 1);
        uint64_t bound = 0;
        for (uint32_t t = 0; t < 50; ++t) {
            uint64_t alive = 0;
            for (const Block& b : blocks)
                if (b.lifetime.overlaps({t, t})) alive += b.size_bytes;
            bound = std::max(bound, alive);
        }
        ASSERT_EQ(least_arena_bytes(blocks, 1), bound);
        for (size_t a = 0; a < blocks.size(); ++a)
            for (size_t b = 0; b < a; ++b)
                ASSERT_FALSE(blocks[a].lifetime.overlaps(blocks[b].lifetime) &&
                             layout.offsets[a] < layout.offsets[b] + blocks[b].size_bytes &&
                             layout.offsets[b] < layout.offsets[a] + blocks[a].size_bytes);
        worst =
            std::max(worst, static_cast<double>(layout.size_bytes) / static_cast<double>(bound));
    }
    EXPECT_LT(worst, 1.1);
}

/// The peak of arena bytes when operations run in the given intervals.
uint64_t peak_bytes(const EntryPlan& plan, std::span<const uint32_t> intervals, uint64_t rows) {
    std::vector<Lifetime> lifetimes(plan.storages.size());
    for (size_t i = 0; i < intervals.size(); ++i)
        for (const StorageUse& use : plan.operations[i].uses)
            if (use.storage != kRunStorage) lifetimes[use.storage].include(intervals[i]);
    uint64_t peak = 0;
    for (uint32_t at : intervals) {
        uint64_t alive = 0;
        for (size_t s = 0; s < lifetimes.size(); ++s)
            if (plan.storages[s].region == Region::kArena && lifetimes[s].overlaps({at, at}))
                alive += plan.storages[s].bytes.at(rows);
        peak = std::max(peak, alive);
    }
    return peak;
}

/// Tries every choice of intervals that needs no more barriers than the longest chain.
class ExhaustiveSearch {
  public:
    ExhaustiveSearch(const EntryPlan& plan, uint64_t rows)
        : plan_(plan), rows_(rows), before_(dependencies_of(plan)), intervals_(before_.size()) {
        const std::vector<uint32_t> levels = levels_of(before_);
        last_ = *std::max_element(levels.begin(), levels.end());
        latest_.assign(levels.size(), last_);
        for (size_t i = levels.size(); i-- > 0;)
            for (uint32_t b : before_[i]) latest_[b] = std::min(latest_[b], latest_[i] - 1);
    }

    /// The lowest peak, or nothing if there are too many choices.
    std::optional<uint64_t> run() {
        try_from(0);
        return choices_ <= kMostChoices ? std::optional(best_) : std::nullopt;
    }

  private:
    static constexpr size_t kMostChoices = 5'000;

    void try_from(size_t op) {
        if (choices_ > kMostChoices) return;
        if (op == intervals_.size()) {
            ++choices_;
            best_ = std::min(best_, peak_bytes(plan_, intervals_, rows_));
            return;
        }
        uint32_t first = plan_.operations[op].publishes ? last_ : 0;
        for (uint32_t b : before_[op]) first = std::max(first, intervals_[b] + 1);
        for (intervals_[op] = first; intervals_[op] <= latest_[op]; ++intervals_[op])
            try_from(op + 1);
    }

    const EntryPlan& plan_;
    uint64_t rows_;
    std::vector<std::vector<uint32_t>> before_;
    std::vector<uint32_t> intervals_, latest_;
    uint32_t last_ = 0;
    size_t choices_ = 0;
    uint64_t best_ = ~uint64_t{0};
};

TEST(Schedule, OfSmallModelsIsCloseToTheLowestPeak) {
    size_t count = 0;
    double sum = 0;
    for (uint64_t key = 0; key < 300; ++key) {
        const synthetic::Model model = synthetic::random_model(key, 12);
        const uint64_t rows = model.options.max_batch_size;
        const Result<Tables> tables =
            make_tables(model.graphs, model.lowered.entries, model.options);
        ASSERT_TRUE(tables.ok());
        Result<EntryPlan> plan = make_operations(model.graphs[0], model.lowered.entries[0],
                                                 model.lowered.kernels, *tables, 0);
        ASSERT_TRUE(plan.ok());
        add_updates(*plan, *tables, model.options);
        if (plan->operations.empty()) continue;
        const std::optional<uint64_t> best = ExhaustiveSearch(*plan, rows).run();
        if (best.value_or(0) == 0) continue;
        schedule(*plan, model.options);
        std::vector<uint32_t> intervals;
        for (const Operation& op : plan->operations) intervals.push_back(op.interval);
        const uint64_t peak = peak_bytes(*plan, intervals, rows);
        ASSERT_GE(peak, *best) << "key " << key;
        sum += static_cast<double>(peak) / static_cast<double>(*best);
        ++count;
    }
    EXPECT_GT(count, 100u);
    EXPECT_LT(sum / static_cast<double>(count), 1.01);
}

/// Whether storage 1, written, may lie where storage 0 does, which the call of these uses reads.
bool takes_over(std::vector<StorageUse> uses, bool is_copy = false, uint64_t bytes = 64) {
    EntryPlan plan;
    plan.storages = {{.bytes = {64, 0}}, {.bytes = {bytes, 0}}, {.bytes = {64, 0}}};
    Operation op;
    op.call = is_copy ? kInvalidId : 0;
    op.uses = std::move(uses);
    return may_take_over(plan, op, 0, 1);
}

TEST(MayTakeOver, OnlyWhatIsReadElementByElementAndInOnePart) {
    const auto use = [](uint32_t storage, Access access, bool is_elementwise, uint32_t part = 0) {
        return StorageUse{storage, storage, access, is_elementwise, part};
    };
    const StorageUse read = use(0, Access::kRead, true), write = use(1, Access::kWrite, false);
    EXPECT_TRUE(takes_over({read, write}));
    EXPECT_FALSE(takes_over({read, write}, true)) << "a copy onto itself";
    EXPECT_FALSE(takes_over({read, write}, false, 128)) << "of another size";
    EXPECT_FALSE(takes_over({read, use(0, Access::kRead, false), write}));
    EXPECT_FALSE(takes_over({use(0, Access::kReadWrite, true), write}));
    EXPECT_FALSE(takes_over({read, use(1, Access::kReadWrite, true)}));
    EXPECT_FALSE(takes_over({use(0, Access::kRead, true, 1), write}));
    EXPECT_TRUE(takes_over({use(0, Access::kRead, true, 1), use(1, Access::kWrite, false, 1)}));
    // What the call does with a third storage is its own business.
    EXPECT_TRUE(takes_over({read, write, use(2, Access::kReadWrite, false, 1)}));
    EXPECT_TRUE(takes_over({read, write, use(2, Access::kRead, false, 1)}));
    // Where written operands are marked, the others do not qualify.
    EXPECT_FALSE(takes_over({read, write, use(2, Access::kWrite, true)}));
    EXPECT_TRUE(takes_over({read, use(1, Access::kWrite, true), use(2, Access::kWrite, true)}));
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
