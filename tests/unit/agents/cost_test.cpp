// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/cost_meter.hpp"
#include "device/agents/learning_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hearth::agents {
namespace {

/// What a GPU would take: one step as long as all others together, and barriers between all.
const std::vector<double> kTruth = {10, 0, 20, 0, 400, 0, 30, 5, 0, 60, 0, 15, 0, 100};

std::vector<CostMeter::Command> steps() {
    std::vector<CostMeter::Command> out;
    for (const double us : kTruth) out.push_back({us == 0});
    return out;
}
double truth(uint32_t first, uint32_t end) {
    double sum = 0;
    for (uint32_t i = first; i < end; ++i) sum += kTruth[i];
    return sum;
}
double us_of(const CostMeter& meter, uint32_t first, uint32_t end) {
    return meter.us({first}, {end});
}

TEST(CostMeter, KnowsNothingBeforeTheFirstSliceWasMeasured) {
    std::vector<CostMeter::Command> list = steps();
    CostMeter meter;
    meter.set_up(list);
    EXPECT_FALSE(meter.is_known());
    EXPECT_EQ(meter.us(), 0);
    meter.measure({0}, {4}, 0);  // of a GPU whose clock stands still
    EXPECT_FALSE(meter.is_known());
    meter.measure({0}, {4}, 30);
    EXPECT_TRUE(meter.is_known());
    EXPECT_DOUBLE_EQ(us_of(meter, 0, 4), 30);
}

// As the driver does: unused time is kept for a step that is longer than a frame's budget, and for
// no more.
TEST(CostMeter, FramesKeepToTheirBudgetOnceStepsAreKnown) {
    constexpr double kBudget = 120;
    std::vector<CostMeter::Command> list = steps();
    CostMeter meter;
    meter.set_up(list);
    uint32_t at = 0;
    double tokens = 0, worst = 0, spent = 0;
    int frames = 0;
    for (int frame = 0; frame < 2000; ++frame) {
        tokens = std::min(tokens, std::max(meter.us_of_least({at}) - kBudget, 0.0)) + kBudget;
        uint32_t dispatches = meter.is_known() ? meter.within({at}, tokens).dispatches : 1;
        if (dispatches == 0) continue;
        uint32_t end = at;
        for (; end < kTruth.size() && dispatches > 0; ++end) dispatches -= kTruth[end] > 0 ? 1 : 0;
        while (end < kTruth.size() && kTruth[end] == 0) ++end;
        const double us = truth(at, end);
        tokens -= us_of(meter, at, end);
        meter.measure({at}, {end}, us);
        at = end == kTruth.size() ? 0 : end;
        if (frame < 500) continue;
        worst = std::max(worst, us == 400 ? 0 : us);  // what cannot be cut alone may be longer
        spent += us;
        ++frames;
    }
    EXPECT_LE(worst, kBudget);
    // An item of 640 us takes 4 frames for its long step, and is not stretched without need.
    EXPECT_NEAR(us_of(meter, 4, 5), 400, 60);
    EXPECT_NEAR(meter.us(), 640, 100);
    EXPECT_GT(spent / 1500, 0.6 * kBudget);
}

// A cold start, or others' work, may make the first slice a thousand times as long.
TEST(CostMeter, RecoversFromAFirstSliceThatWaited) {
    std::vector<CostMeter::Command> list = steps();
    CostMeter meter;
    meter.set_up(list);
    meter.measure({0}, {3}, 1000 * truth(0, 3));
    uint32_t at = 3;
    int frames = 0;
    double tokens = 0;
    for (int items = 0; items < 3; ++frames) {
        tokens = std::min(tokens, std::max(meter.us_of_least({at}) - 100, 0.0)) + 100;
        uint32_t dispatches = meter.within({at}, tokens).dispatches;
        if (dispatches == 0) continue;
        uint32_t end = at;
        for (; end < kTruth.size() && dispatches > 0; ++end) dispatches -= kTruth[end] > 0 ? 1 : 0;
        tokens -= us_of(meter, at, end);
        meter.measure({at}, {end}, truth(at, end));
        at = end == kTruth.size() ? 0 : end;
        items += at == 0 ? 1 : 0;
    }
    EXPECT_LT(frames, 2500);
    EXPECT_LT(meter.us(), 2 * 640);
}

TEST(CostMeter, WhatIsLongerThanAFramesBudgetIsSavedForAndThenTaken) {
    for (int n = 1; n < 200; ++n) {
        std::vector<CostMeter::Command> list = steps();
        CostMeter meter;
        meter.set_up(list);
        meter.measure({0}, meter.end(), 640.0 / n + 0.1);
        const double budget = meter.us() / (n + 0.37);
        for (const uint32_t at : {0u, 4u, 6u}) {
            const double unit = meter.us_of_least({at});
            double tokens = 0;
            for (int frame = 0; frame < 2 * n + 2; ++frame)
                tokens = std::min(tokens, std::max(unit - budget, 0.0)) + budget;
            EXPECT_GE(meter.within({at}, tokens).dispatches, 1u) << n;
        }
    }
}

/// An entry with one long dispatch on a GPU that runs so many workgroups at once, a budget for each
/// frame, and what its slices take.
struct Played {
    double worst = 0, spent = 0;  ///< of the frames behind the first 500
    uint64_t items = 0;
};
Played play(uint32_t workgroups, uint32_t at_once, double budget, bool is_divisible = true) {
    constexpr double kLong = 1800, kShort = 20;
    std::vector<CostMeter::Command> list(5);
    list[1].is_barrier = list[3].is_barrier = true;
    list[2].part_count = is_divisible ? workgroups / 2 : 1;
    list[2].workgroups = workgroups;
    const auto waves = [&](uint32_t parts) { return (2 * parts + at_once - 1) / at_once; };
    const double us_of_wave = kLong / waves(workgroups / 2);
    CostMeter meter;
    meter.set_up(list);
    Played played;
    Position at;
    double tokens = 0;
    for (int frame = 0; frame < 4000; ++frame) {
        meter.set_budget(budget);
        tokens = std::min(tokens, std::max(meter.us_of_least(at) - budget, 0.0)) + budget;
        Limits limits = meter.is_known() ? meter.within(at, tokens) : Limits{.dispatches = 1};
        if (limits.is_nothing()) continue;
        // As hearth_record does.
        const Position first = at;
        double us = 0;
        if (limits.workgroups > 0) {
            const uint32_t parts =
                std::min(std::max(limits.workgroups / 2, 1u), workgroups / 2 - at.part);
            us = waves(parts) * us_of_wave;
            at.part += parts;
            if (at.part == workgroups / 2) at = {4};
        } else {
            for (uint32_t left = limits.dispatches; left > 0 && at.command < 5;
                 --left, at = {at.command + 2})
                us += at.command == 2 ? waves(workgroups / 2 - at.part) * us_of_wave : kShort;
        }
        const Position end = at.command > 4 ? meter.end() : at;
        tokens -= meter.us(first, end);
        meter.measure(first, end, us);
        if (at.command > 4) {
            at = {};
            played.items += frame >= 500;
        }
        if (frame < 500) continue;
        played.worst = std::max(played.worst, us);
        played.spent += us / 3500;
    }
    return played;
}

TEST(CostMeter, ADispatchThatIsLongerThanTheBudgetIsRecordedInPieces) {
    // Sixteen waves of 112.5 us.
    const Played whole = play(512, 32, 2000), cut = play(512, 32, 1000);
    EXPECT_EQ(whole.worst, 1840);
    EXPECT_LE(cut.worst, 1000);
    EXPECT_GT(cut.spent, 550);
    EXPECT_GT(cut.items, 3500 * 1000 / 1840 / 2);
    EXPECT_LE(play(512, 32, 200).worst, 200);
}

TEST(CostMeter, APreferenceMakesSlicesHalfOrTwiceAsLong) {
    const double balanced = budget_us(1000, HEARTH_AGENTS_PRIORITY_BALANCED),
                 graphics = budget_us(1000, HEARTH_AGENTS_PRIORITY_GRAPHICS),
                 learning = budget_us(1000, HEARTH_AGENTS_PRIORITY_LEARNING);
    EXPECT_EQ(balanced, 1000);
    EXPECT_EQ(occupancy_priority(HEARTH_AGENTS_PRIORITY_GRAPHICS), 0.25f);
    EXPECT_EQ(occupancy_priority(HEARTH_AGENTS_PRIORITY_BALANCED), 0);
    EXPECT_EQ(occupancy_priority(HEARTH_AGENTS_PRIORITY_LEARNING), 0.75f);
    EXPECT_LE(play(512, 32, graphics).worst, 500);
    EXPECT_GT(play(512, 32, learning).worst, 1000);
    EXPECT_GT(play(512, 32, learning).items, play(512, 32, balanced).items);
    EXPECT_GT(play(512, 32, balanced).items, play(512, 32, graphics).items);
}

TEST(CostMeter, WhatAGpuRunsAtOnceIsNotCutInVain) {
    // One wave: half of it takes as long.
    const Played played = play(512, 512, 1000);
    EXPECT_EQ(played.worst, 1800);
    // As often as if it could not be cut: nothing is done twice.
    EXPECT_GT(static_cast<double>(played.items),
              0.95 * static_cast<double>(play(512, 512, 1000, false).items));
    // Two waves: halves help, and no more.
    const Played halves = play(512, 256, 500);
    EXPECT_EQ(halves.worst, 900);
    EXPECT_GT(static_cast<double>(halves.items),
              0.9 * static_cast<double>(play(512, 256, 500, false).items));
}

TEST(CostMeter, PredictsWithAMarginForSlicesThatTookLonger) {
    std::vector<CostMeter::Command> list(1);
    CostMeter meter;
    meter.set_up(list);
    for (int i = 0; i < 200; ++i)
        meter.measure({0}, {1}, i % 10 == 9 ? 200 : 100);  // each tenth waits for others
    EXPECT_GT(meter.us(), 160);
    EXPECT_LT(meter.us(), 260);
}

TEST(CostMeter, WhatWasNeverMeasuredIsAsItsEstimateBesideThoseThatWere) {
    std::vector<CostMeter::Command> list(4);
    list[1].is_barrier = true;
    list[0].estimate = list[0].us = 10;
    list[2].estimate = list[2].us = 30;
    list[3].estimate = list[3].us = 60;
    CostMeter meter;
    meter.set_up(list);
    EXPECT_DOUBLE_EQ(meter.us(), 100);
    meter.measure({0}, {1}, 2);  // a fifth of what was expected
    EXPECT_DOUBLE_EQ(us_of(meter, 0, 1), 2);
    EXPECT_DOUBLE_EQ(us_of(meter, 2, 4), 18);
    meter.measure({2}, meter.end(), 36);
    EXPECT_DOUBLE_EQ(us_of(meter, 2, 3), 12);
}

TEST(CostMeter, TheLeastIsWhatWithinAllowsWhenTheBudgetIsSpent) {
    std::vector<CostMeter::Command> list(3);
    list[0].us = 10;
    list[1].us = 40;
    list[1].part_count = 8;
    list[1].workgroups = 64;
    list[1].pieces = 4;
    list[2].is_barrier = true;
    CostMeter meter;
    meter.set_up(list);
    EXPECT_EQ(meter.least({0}).dispatches, 2u);  // as far as the barrier
    meter.set_budget(20);
    EXPECT_EQ(meter.least({0}).dispatches, 1u);
    EXPECT_EQ(meter.least({0}).workgroups, 0u);
    EXPECT_EQ(meter.least({1}).workgroups, 16u);
    EXPECT_EQ(meter.least({1, 6}).workgroups, 0u);  // what is left of it fits
    EXPECT_EQ(meter.within({1}, 20).workgroups, 32u);
    EXPECT_TRUE(meter.within({1}, 5).is_nothing());
}

}  // namespace
}  // namespace hearth::agents
