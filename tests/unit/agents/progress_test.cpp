// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "device/agents/progress.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace hearth::agents {
namespace {

constexpr uint32_t kBar = 225;

/// Feeds bars whose decisions score about `mean`, with noise as large as a game's rare rewards are.
class Game {
  public:
    explicit Game(uint32_t seed) : random_(seed) {}
    void bars(int count, double mean, double noise = 0.2) {
        std::normal_distribution<double> score(mean, noise);
        for (int i = 0; i < count * static_cast<int>(kBar); ++i) monitor.add(score(random_));
    }
    ProgressMonitor monitor{kBar};

  private:
    std::mt19937 random_;
};

TEST(ProgressMonitor, ToldThatItIsStuckAfterFourLowBars) {
    Game game(1);
    game.bars(1, 0.4);
    game.bars(3, 0.05);
    EXPECT_FALSE(game.monitor.is_stuck());
    game.bars(1, 0.05);
    EXPECT_TRUE(game.monitor.is_stuck());
    EXPECT_NEAR(game.monitor.first_score(), 0.4, 0.05);
    EXPECT_NEAR(game.monitor.score(), 0.05, 0.05);
    game.bars(1, 0.3);
    EXPECT_FALSE(game.monitor.is_stuck()) << "it has recovered";
}

// Healthy runs dip below where they began: what is measured of hatchlings with a soft penalty.
TEST(ProgressMonitor, HealthyRunsRaiseNoAlarm) {
    int alarms = 0;
    for (uint32_t seed = 0; seed < 20; ++seed) {
        Game game(seed);
        for (const double mean :
             {0.16, 0.15, 0.12, 0.14, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.9, 0.95}) {
            game.bars(1, mean);
            alarms += game.monitor.is_stuck() || game.monitor.has_changed() ? 1 : 0;
        }
    }
    EXPECT_LE(alarms, 1);
}

TEST(ProgressMonitor, OtherRulesShowInTheFirstBarOfThem) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
        Game game(seed);
        for (const double mean : {0.2, 0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.8}) game.bars(1, mean);
        EXPECT_FALSE(game.monitor.has_changed());
        game.bars(1, -0.6);
        EXPECT_TRUE(game.monitor.has_changed()) << seed;
        game.bars(3, -0.3);
        EXPECT_TRUE(game.monitor.has_changed()) << "it is still degraded";
        game.bars(1, 0.8);
        EXPECT_FALSE(game.monitor.has_changed());
    }
}

TEST(ProgressMonitor, BarsOfOtherRulesDoNotCountAsUsual) {
    Game game(4);
    game.bars(8, 0.8);
    game.bars(9, -0.5);  // more than are remembered
    ASSERT_TRUE(game.monitor.has_changed());
    game.bars(1, 0.8);
    ASSERT_FALSE(game.monitor.has_changed());
    game.bars(1, -0.5);
    EXPECT_TRUE(game.monitor.has_changed());
}

TEST(ProgressMonitor, BeginsAnewWhenItIsTold) {
    Game game(3);
    game.bars(6, 0.5);
    game.bars(1, -0.5);
    EXPECT_TRUE(game.monitor.has_changed());
    game.monitor.reset();
    EXPECT_FALSE(game.monitor.has_changed());
    game.bars(4, -0.5);
    EXPECT_FALSE(game.monitor.has_changed());
    EXPECT_FALSE(game.monitor.is_stuck());
    EXPECT_EQ(game.monitor.bars(), 4u);
}

TEST(ProgressMonitor, LeavesOutWhatIsNotFiniteAndCanBeOff) {
    ProgressMonitor off(0), on(2);
    for (const double score : {1.0, std::nan(""), std::numeric_limits<double>::infinity(), 3.0}) {
        off.add(score);
        on.add(score);
    }
    EXPECT_EQ(off.bars(), 0u);
    EXPECT_EQ(on.bars(), 1u);
    EXPECT_EQ(on.score(), 2.0);
}

}  // namespace
}  // namespace hearth::agents
