// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "sampling.hpp"

#include <gtest/gtest.h>

namespace hearth::perf {
namespace {

constexpr double kFullClockUs = 30;

bool is_full_clock(double us) {
    return us <= 1.15 * kFullClockUs;
}

/// A card that lowers its clock to a quarter now and then; each sample takes a millisecond.
struct Card {
    /// Whether the n-th sample finds the clock lowered.
    std::function<bool(int)> is_low;
    int taken = 0;
    double now_us = 0;

    Result<SampleSet> sample(const SamplingOptions& options) {
        return take_samples(
            options,
            [this]() -> Result<Sample> {
                const double slower = is_low(taken++) ? 4 : 1;
                now_us += 1000;
                return Sample{.gpu_us = 10 * slower, .reference_us = kFullClockUs * slower};
            },
            is_full_clock, [this] { return now_us; });
    }
};

TEST(TakeSamples, KeepsThoseAtFullClockAndTakesTheOthersAgain) {
    Card card{.is_low = [](int n) { return n < 7 || n % 3 == 0; }};
    Result<SampleSet> set = card.sample({.wanted = 20, .least = 5, .patience_us = 1e9});
    ASSERT_TRUE(set.ok());
    EXPECT_TRUE(set->is_full_clock);
    ASSERT_EQ(set->kept.size(), 20u);
    for (const Sample& s : set->kept) EXPECT_EQ(s.gpu_us, 10);
    EXPECT_EQ(set->refused, card.taken - 20);
    EXPECT_GE(set->refused, 7);
}

TEST(TakeSamples, ACardThatStaysSlowIsSaidToBeSlowOncePatienceEnds) {
    Card card{.is_low = [](int) { return true; }};
    Result<SampleSet> set = card.sample({.wanted = 20, .least = 5, .patience_us = 50e3});
    ASSERT_TRUE(set.ok());
    EXPECT_FALSE(set->is_full_clock);
    EXPECT_EQ(set->kept.size(), 5u);
    EXPECT_EQ(card.taken, 51);
}

TEST(TakeSamples, FewerThanWantedButEnoughMakeAFigure) {
    Card card{.is_low = [](int n) { return n % 8 != 0; }};
    Result<SampleSet> set = card.sample({.wanted = 100, .least = 5, .patience_us = 60e3});
    ASSERT_TRUE(set.ok());
    EXPECT_TRUE(set->is_full_clock);
    EXPECT_EQ(set->kept.size(), 8u);
    for (const Sample& s : set->kept) EXPECT_EQ(s.gpu_us, 10);
}

TEST(TakeSamples, AFailureEndsIt) {
    const Result<SampleSet> set = take_samples(
        {.wanted = 3}, []() -> Result<Sample> { return internal_error("lost"); }, is_full_clock,
        [] { return 0.0; });
    EXPECT_FALSE(set.ok());
}

TEST(IsBimodal, FindsTwoGroupsAndNoneInASpread) {
    std::vector<double> one, two, outlier;
    for (int i = 0; i < 100; ++i) {
        one.push_back(100 + 0.3 * i);  // as wide as a third, but without a gap
        two.push_back(i % 5 == 0 ? 100 : 132);
        outlier.push_back(i == 50 ? 500 : 100);
    }
    EXPECT_FALSE(is_bimodal(one));
    EXPECT_TRUE(is_bimodal(two));
    EXPECT_FALSE(is_bimodal(outlier));
    EXPECT_FALSE(is_bimodal({}));
    EXPECT_FALSE(is_bimodal({1, 2, 3}));
}

}  // namespace
}  // namespace hearth::perf
