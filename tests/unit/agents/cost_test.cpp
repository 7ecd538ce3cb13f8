// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "driver/cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace hearth::agents {
namespace {

/// What a GPU would take: one step as long as all others together, and barriers between all.
const std::vector<double> kTruth = {10, 0, 20, 0, 400, 0, 30, 5, 0, 60, 0, 15, 0, 100};

std::vector<CostMeter::Step> steps() {
    std::vector<CostMeter::Step> out;
    for (const double us : kTruth) out.push_back({us == 0});
    return out;
}
double truth(uint32_t first, uint32_t end) {
    double sum = 0;
    for (uint32_t i = first; i < end; ++i) sum += kTruth[i];
    return sum;
}

TEST(CostMeter, KnowsNothingBeforeTheFirstSliceWasMeasured) {
    CostMeter meter;
    meter.set_up(steps(), 4);
    EXPECT_FALSE(meter.is_known());
    EXPECT_EQ(meter.us(), 0);
    meter.record(0, 4);
    meter.measure(2, 30);  // of a slice that was left out
    EXPECT_FALSE(meter.is_known());
    meter.record(0, 4);
    meter.measure(0, 30);
    EXPECT_TRUE(meter.is_known());
    EXPECT_DOUBLE_EQ(meter.us(0, 4), 30);
}

// As the driver does: unused time is kept for a step that is longer than a frame's budget, and for no more.
TEST(CostMeter, FramesKeepToTheirBudgetOnceStepsAreKnown) {
    constexpr double kBudget = 120;
    CostMeter meter;
    meter.set_up(steps(), 4);
    uint32_t at = 0;
    double tokens = 0, worst = 0, spent = 0;
    int frames = 0;
    for (int frame = 0; frame < 2000; ++frame) {
        tokens = std::min(tokens, std::max(meter.us_to_barrier(at) - kBudget, 0.0)) + kBudget;
        uint32_t dispatches = meter.is_known() ? meter.dispatches_within(at, tokens) : 1;
        if (dispatches == 0) continue;
        uint32_t end = at;
        for (; end < kTruth.size() && dispatches > 0; ++end) dispatches -= kTruth[end] > 0 ? 1 : 0;
        while (end < kTruth.size() && kTruth[end] == 0) ++end;
        const double us = truth(at, end);
        meter.record(at, end);
        tokens -= meter.us(at, end);
        meter.measure(at, us);
        at = end == kTruth.size() ? 0 : end;
        if (frame < 500) continue;
        worst = std::max(worst, us == 400 ? 0 : us);  // what cannot be cut alone may be longer
        spent += us;
        ++frames;
    }
    EXPECT_LE(worst, kBudget);
    // An item of 640 us takes 4 frames for its long step, and is not stretched without need.
    EXPECT_NEAR(meter.us(4, 5), 400, 60);
    EXPECT_NEAR(meter.us(), 640, 100);
    EXPECT_GT(spent / 1500, 0.6 * kBudget);
}

// A cold start, or others' work, may make the first slice a thousand times as long.
TEST(CostMeter, RecoversFromAFirstSliceThatWaited) {
    CostMeter meter;
    meter.set_up(steps(), 4);
    meter.record(0, 3);
    meter.measure(0, 1000 * truth(0, 3));
    uint32_t at = 3;
    int frames = 0;
    double tokens = 0;
    for (int items = 0; items < 3; ++frames) {
        tokens = std::min(tokens, std::max(meter.us_to_barrier(at) - 100, 0.0)) + 100;
        uint32_t dispatches = meter.dispatches_within(at, tokens);
        if (dispatches == 0) continue;
        uint32_t end = at;
        for (; end < kTruth.size() && dispatches > 0; ++end) dispatches -= kTruth[end] > 0 ? 1 : 0;
        meter.record(at, end);
        tokens -= meter.us(at, end);
        meter.measure(at, truth(at, end));
        at = end == kTruth.size() ? 0 : end;
        items += at == 0 ? 1 : 0;
    }
    EXPECT_LT(frames, 2500);
    EXPECT_LT(meter.us(), 2 * 640);
}

TEST(CostMeter, WhatIsLongerThanAFramesBudgetIsSavedForAndThenTaken) {
    for (int n = 1; n < 200; ++n) {
        CostMeter meter;
        meter.set_up(steps(), 4);
        meter.record(0, meter.step_count());
        meter.measure(0, 640.0 / n + 0.1);
        const double budget = meter.us() / (n + 0.37);
        for (const uint32_t at : {0u, 4u, 6u}) {
            const double unit = meter.us_to_barrier(at);
            double tokens = 0;
            for (int frame = 0; frame < 2 * n + 2; ++frame)
                tokens = std::min(tokens, std::max(unit - budget, 0.0)) + budget;
            EXPECT_GE(meter.dispatches_within(at, tokens), 1u) << n;
        }
    }
}

TEST(CostMeter, PredictsWithAMarginForSlicesThatTookLonger) {
    CostMeter meter;
    meter.set_up({{}}, 4);
    for (int i = 0; i < 200; ++i) {
        meter.record(0, 1);
        meter.measure(0, i % 10 == 9 ? 200 : 100);  // each tenth waits for others
    }
    EXPECT_GT(meter.us(), 160);
    EXPECT_LT(meter.us(), 260);
}

}  // namespace
}  // namespace hearth::agents
