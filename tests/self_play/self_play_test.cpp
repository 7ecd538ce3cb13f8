// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include <hearth/hearth.hpp>

#include <gtest/gtest.h>

#include <random>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr size_t kCourts = 16;
constexpr float kStep = 0.05f, kReach = 0.1f;
constexpr int kMaxAge = 80;

struct Point {
    float x = 0, y = 0;
    float distance_to(Point p) const { return std::hypot(p.x - x, p.y - y); }
};

/// A race of two for food: whoever reaches it first has won.
struct Court {
    AgentId ids[2]{};  // the learner's, the opponent's
    Point places[2], food;
    int age = 0;

    void start(std::mt19937& random) {
        std::uniform_real_distribution<float> anywhere(-1, 1);
        for (Point* p : {&places[0], &places[1], &food})
            p->x = anywhere(random), p->y = anywhere(random);
        places[1] = {2 * food.x - places[0].x, 2 * food.y - places[0].y};  // equally far
        age = 0;
    }
    void observe(Agents& agents, size_t side) const {
        const auto seen = agents.observation(ids[side]);
        seen[0] = food.x - places[side].x, seen[1] = food.y - places[side].y;
        seen[2] = places[1 - side].x - places[side].x,
        seen[3] = places[1 - side].y - places[side].y;
    }
    /// Moves a runner and rewards its approach; returns true if it has reached the food.
    bool move(Agents& agents, size_t side) {
        const auto step = agents.action(ids[side]);
        if (step.empty()) return false;
        const float before = places[side].distance_to(food);
        places[side].x += kStep * step[0], places[side].y += kStep * step[1];
        const float after = places[side].distance_to(food);
        EXPECT_TRUE(agents.add_reward(ids[side], before - after).ok());
        return after < kReach;
    }
};

AgentSpec spec() {
    return {ObservationSpec().position("food", 2, 1).position("rival", 2, 1),
            ActionSpec().continuous("step", 2)};
}

class SelfPlayTest : public ::testing::Test {
  protected:
    void SetUp() override {
        auto device = cpu::open_device({.progress = [](std::string_view) {}});
        ASSERT_TRUE(device.ok()) << device.status().message();
        device_.emplace(std::move(*device));
    }
    Agents make(uint64_t seed = 0, int64_t width = 32) {
        auto agents =
            make_agents(device_->context(), spec(), mlp_network({width, width}),
                        Ppo{.n_agents = kCourts, .n_steps = 32},
                        {.agents = {.max_snapshots = 8, .snapshot_interval = 100}, .seed = seed});
        EXPECT_TRUE(agents.ok()) << agents.status().message();
        return agents.ok() ? std::move(*agents) : Agents();
    }
    Status record(Agents& agents) {
        return device_->run([&](VkCommandBuffer commands) {
            return agents.record(commands, {.learning_budget_us = 1e5});
        });
    }
    /// Plays frames of all courts and returns the learner's share of games that were won.
    Result<double> play(SelfPlay* match, Agents& learners, Agents& opponents, int frames) {
        std::vector<Court> courts(kCourts);
        std::mt19937 random(1);
        for (Court& court : courts) {
            HEARTH_ASSIGN(court.ids[0], learners.add());
            HEARTH_ASSIGN(court.ids[1], opponents.add());
            court.start(random);
        }
        double games = 0, won = 0;
        for (int frame = 0; frame < frames; ++frame) {
            HEARTH_TRY(device_->context().begin_frame());
            learners.poll(), opponents.poll();
            if (match) HEARTH_TRY(match->update());
            for (Court& court : courts) {
                const bool first = court.move(learners, 0), second = court.move(opponents, 1);
                if (first || second || ++court.age >= kMaxAge) {
                    const double score = first == second ? 0.5 : first ? 1 : 0;
                    HEARTH_TRY(
                        learners.add_reward(court.ids[0], static_cast<float>(2 * score - 1)));
                    for (Agents* agents : {&learners, &opponents})
                        HEARTH_TRY(agents->end_episode(court.ids[agents == &opponents],
                                                       EpisodeEnd::kTerminated));
                    if (match) HEARTH_TRY(match->end_game(score));
                    ++games, won += score;
                    court.start(random);
                }
                court.observe(learners, 0), court.observe(opponents, 1);
            }
            HEARTH_TRY(record(learners));
            HEARTH_TRY(record(opponents));
        }
        for (Court& court : courts) {
            HEARTH_TRY(learners.remove(court.ids[0]));
            HEARTH_TRY(opponents.remove(court.ids[1]));
        }
        return won / games;
    }

    std::optional<cpu::Device> device_;
};

TEST_F(SelfPlayTest, RatingsRiseWhileTheAgentsLearn) {
    for (const OpponentChoice choice :
         {OpponentChoice::kLatest, OpponentChoice::kUniform, OpponentChoice::kPrioritized}) {
        SCOPED_TRACE(static_cast<int>(choice));
        Agents learners = make(1), opponents = make(2);
        SelfPlay match(learners, opponents, {.choice = choice});
        std::vector<double> ratings;
        for (int i = 0; i < 4; ++i) {
            const auto won = play(&match, learners, opponents, 1'000);
            ASSERT_TRUE(won.ok()) << won.status().message();
            ratings.push_back(match.elo());
        }
        EXPECT_GT(ratings[0], 1250) << "from 1200";
        EXPECT_GT(ratings[3], ratings[0]);
        EXPECT_GT(match.opponent(), 0u) << "a snapshot";
        ASSERT_EQ(learners.custom_metrics().size(), 2u);
        EXPECT_STREQ(learners.custom_metrics()[0].name, "elo");
        EXPECT_NEAR(learners.custom_metrics()[0].last, match.elo(), 100);

        // The rating means something: the brain beats its initial weights.
        Agents beginners = make(1);
        beginners.freeze(true), learners.freeze(true);
        const auto won = play(nullptr, learners, beginners, 400);
        EXPECT_GT(*won, 0.8) << "half of the games are won by beginners";
        std::printf("choice %d: Elo %.0f %.0f %.0f %.0f, wins %.0f %% against its beginning\n",
                    static_cast<int>(choice), ratings[0], ratings[1], ratings[2], ratings[3],
                    100 * *won);
    }
}

TEST_F(SelfPlayTest, TwoBrainsPlayAgainstEachOthersPast) {
    Agents ones = make(1), others = make(2), past_ones = make(3), past_others = make(4);
    SelfPlay match_of_ones(ones, past_others), match_of_others(others, past_ones);
    match_of_ones.set_rival(match_of_others), match_of_others.set_rival(match_of_ones);
    for (int i = 0; i < 5; ++i) {
        ASSERT_TRUE(play(&match_of_ones, ones, past_others, 300).ok());
        ASSERT_TRUE(play(&match_of_others, others, past_ones, 300).ok());
    }
    EXPECT_GT(match_of_ones.opponent(), 0u);
    EXPECT_LE(match_of_ones.opponent(), others.status().snapshots_taken);
    EXPECT_GT(match_of_others.opponent(), 0u);
    for (Agents* brain : {&ones, &others}) {
        Agents beginners = make(1);
        beginners.freeze(true), brain->freeze(true);
        EXPECT_GT(*play(nullptr, *brain, beginners, 400), 0.8);
    }
}

TEST_F(SelfPlayTest, RatingsFollowElo) {
    Agents learners = make(1), opponents = make(2);
    SelfPlay match(learners, opponents, {.games_per_opponent = 2, .initial_elo = 1000});
    ASSERT_TRUE(match.update().ok());
    EXPECT_EQ(match.opponent(), 0u);
    ASSERT_TRUE(match.end_game(1).ok());
    EXPECT_DOUBLE_EQ(match.elo(), 1016) << "equals: half of the factor";
    EXPECT_DOUBLE_EQ(match.win_rate(0), 0.75) << "one drawn, one won";
    const double expected = 1 / (1 + std::pow(10, -16.0 / 400));
    ASSERT_TRUE(match.end_game(0).ok());
    EXPECT_DOUBLE_EQ(match.elo(), 1016 - 32 * expected);
    EXPECT_EQ(match.end_game(1.5).message(), "the score of a game is 1.500000, expected 0 to 1");
    EXPECT_FALSE(match.end_game(std::nan("")).ok());
}

TEST_F(SelfPlayTest, OpponentsThatAreHardToBeatComeMoreOftenWherePrioritized) {
    for (const auto& [choice, low, high] : {std::tuple(OpponentChoice::kLatest, 0, 0),
                                            {OpponentChoice::kUniform, 70, 130},
                                            {OpponentChoice::kPrioritized, 200, 300}}) {
        Agents learners = make(1), opponents = make(2);
        SelfPlay match(learners, opponents,
                       {.choice = choice, .play_against_latest_ratio = 0, .games_per_opponent = 1});
        for (int i = 0; i < 3; ++i) {
            ASSERT_TRUE(learners.take_snapshot().ok());
            ASSERT_TRUE(play(nullptr, learners, opponents, 10).ok());
        }
        ASSERT_EQ(learners.status().snapshots_taken, 3u);
        int hard = 0;  // games against the second snapshot, which always wins
        for (int i = 0; i < 300; ++i) {
            ASSERT_TRUE(match.update().ok());
            hard += match.opponent() == 2;
            ASSERT_TRUE(match.end_game(match.opponent() == 2 ? 0 : 1).ok());
        }
        EXPECT_GE(hard, low) << static_cast<int>(choice);
        EXPECT_LE(hard, high) << static_cast<int>(choice);
    }
}

TEST_F(SelfPlayTest, OpponentsOfAnotherNetworkAreRefused) {
    Agents learners = make(1), opponents = make(2, 8);
    SelfPlay match(learners, opponents);
    Status status;
    for (int i = 0; i < 4 && status.ok(); ++i) {
        const auto won = play(&match, learners, opponents, 300);
        status = won.status();
    }
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("'actor.0.bias' is f32[8] in the program and f32[32]"),
              std::string::npos)
        << status.message();
}

}  // namespace
