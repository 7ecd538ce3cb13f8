// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "train/evaluate.hpp"
#include "train/trainer.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace hearth::train {
namespace {

TEST(TrainConfig, WhatIsWrittenIsReadAsItWas) {
    const auto config = parse_config(R"({"task": "Pendulum", "seed": 7, "steps": 1000,
        "network": [32, 16], "decays": true, "checkpoint_windows": 3,
        "ppo": {"n_agents": 12, "learning_rate": 0.003, "clip_range": 0.1, "ent_coef": 0.01,
                "normalize_rewards": false, "target_kl": 0}})");
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->ppo.n_agents, 12);
    EXPECT_EQ(config->ppo.learning_rate.value(), 0.003);
    EXPECT_TRUE(config->ppo.learning_rate.is_tunable());
    EXPECT_EQ(config->ppo.ent_coef.value(), 0.01);
    EXPECT_FALSE(config->ppo.normalize_rewards);
    EXPECT_EQ(config->network, (std::vector<int64_t>{32, 16}));
    const auto again = parse_config(config->text());
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(again->text(), config->text());
    EXPECT_EQ(again->seed, 7u);
    EXPECT_EQ(again->checkpoint_windows, 3);
}

TEST(TrainConfig, MissingKeysAreDefaults) {
    const auto config = parse_config("{}");
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->text(), parse_config(TrainConfig{}.text())->text());
}

TEST(TrainConfig, WhatIsWrongIsNamed) {
    const auto message = [](const char* text) { return parse_config(text).status().message(); };
    const auto says = [&](const char* text, const char* part) {
        EXPECT_NE(message(text).find(part), std::string::npos) << message(text);
    };
    says("{", "configuration: expected JSON, found other text");
    says("[]", "expected an object");
    says(R"({"setps": 5})", "unknown key 'setps'; there are checkpoint_windows, decays");
    says(R"({"ppo": {"learning_rat": 1}})",
         "ppo.learning_rat: PPO has no hyperparameter 'learning_rat'; there are n_agents");
    says(R"({"steps": "many"})", "steps: expected a whole number from 1");
    says(R"({"steps": -5})", "found -5");
    says(R"({"steps": 1.5})", "found 1.5");
    says(R"({"ppo": {"ent_coef": {"tunable": 0.01}}})",
         "ppo.ent_coef: expected a number, found {\"tunable\":0.01}; training tunes learning_rate");
    says(R"({"ppo": {"gamma": 1.5}})", "ppo.gamma: expected a number from 0.0 to 1.0, found 1.5");
    says(R"({"ppo": {"learning_rate": -1}})", "ppo.learning_rate: expected a number from 0.0 to 1");
    says(R"({"ppo": {"clip_reward": 1e300}})", "ppo.clip_reward: expected a number from 0.0 to 1");
    says(R"({"ppo": 3})", "expected an object, found 3");
    says(R"({"decays": 1})", "decays: expected true or false");
    says(R"({"network": []})", "network: expected a list");
    says(R"({"network": [64, 0]})", "network: expected whole numbers");
    says(R"({"task": "CartPole-v1"})", "expected one of CartPole, Acrobot");
}

TEST(TrainConfig, DeepNestingIsRefusedAndNothingRefusedIsPrinted) {
    const auto nested = [](size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };
    const auto message_of = [](const std::string& text) {
        const auto config = parse_config(text);
        return config.ok() ? std::string() : config.status().message();
    };
    for (const char* key : {"seed", "task", "network", "ppo", "other"}) {
        const std::string deep = R"({")" + std::string(key) + R"(":)" + nested(200'000) + "}";
        EXPECT_EQ(message_of(deep),
                  "configuration: expected JSON of at most 64 levels, found deeper nesting")
            << key;
    }
    EXPECT_EQ(message_of(R"({"seed":)" + nested(63) + "}"),
              "seed: expected a whole number from 0 to 9007199254740992, found a list");
    EXPECT_EQ(message_of(R"({"ppo":{"n_agents":{"a":)" + nested(60) + "}}}"),
              "ppo.n_agents: expected a whole number from 1 to 1048576, found an object");
    const std::string longest = R"({"seed":")" + std::string(100'000, 'x') + R"("})";
    EXPECT_LT(message_of(longest).size(), 200u);
    EXPECT_NE(message_of(R"({"seed":[])"), "") << "the end is missing";
}

TEST(TrainConfig, SettingsFallToZeroWhereTheyDecay) {
    TrainConfig config;
    config.steps = 1000;
    config.ppo.learning_rate = agents::Hyperparameter::tunable(0.5);
    EXPECT_EQ(settings_at(config, 500).learning_rate, 0.5f);
    config.decays = true;
    EXPECT_EQ(settings_at(config, 0).learning_rate, 0.5f);
    EXPECT_EQ(settings_at(config, 500).learning_rate, 0.25f);
    EXPECT_EQ(settings_at(config, 2000).learning_rate, 0.0f);
}

TEST(ReturnWindow, IsTheMeanOfTheLastTwenty) {
    ReturnWindow returns;
    for (int i = 0; i < 19; ++i) returns.add(1);
    EXPECT_EQ(returns.mean(), -INFINITY);
    for (int i = 0; i < 20; ++i) returns.add(static_cast<float>(i));
    EXPECT_EQ(returns.mean(), 9.5);
}

TEST(Rating, OfEqualBrainsIsEqual) {
    const std::vector<Rating> ratings = rate({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}});
    for (const Rating& r : ratings) {
        EXPECT_NEAR(r.elo, 1500, 1e-6);
        EXPECT_NEAR(r.high - r.low, 0, 1e-6);
    }
}

// Three wins of four, over many seeds, are 400 log10(3) = 191 points.
TEST(Rating, TellsHowOftenOneWins) {
    std::vector<std::vector<double>> returns(2);
    for (int i = 0; i < 1000; ++i) {
        returns[0].push_back(i % 4 == 0 ? 0 : 2);
        returns[1].push_back(1);
    }
    const std::vector<Rating> ratings = rate(returns);
    EXPECT_NEAR(ratings[0].elo - ratings[1].elo, 400 * std::log10(3.0), 2);
    EXPECT_NEAR(ratings[0].elo + ratings[1].elo, 3000, 1e-6);
    for (const Rating& r : ratings) {
        EXPECT_LT(r.low, r.elo);
        EXPECT_GT(r.high, r.elo);
        // Of 1,000 games the deviation of a difference is 13 points; a rating has half of it.
        EXPECT_NEAR(r.high - r.low, 4 * 6.4, 10);
    }
}

TEST(Rating, OfOneThatAlwaysWinsIsFiniteAndTheHighest) {
    const std::vector<Rating> ratings = rate({{1, 1, 1}, {9, 9, 9}, {5, 5, 5}});
    EXPECT_GT(ratings[1].elo, ratings[2].elo);
    EXPECT_GT(ratings[2].elo, ratings[0].elo);
    EXPECT_LT(ratings[1].elo, 3000);
}

}  // namespace
}  // namespace hearth::train
