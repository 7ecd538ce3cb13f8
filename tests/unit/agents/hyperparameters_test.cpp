// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Ranges of hyperparameters: what is outside is refused by name, and manifests hold the ranges.

#include "model/agents/hyperparameters.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace hearth::agents {
namespace {

template <class Learner>
Status status_of(const Learner& learner) {
    if constexpr (std::is_same_v<Learner, Regression>) {
        return build_regression_graphs(mlp_network({4}), learner)[0]->status();
    } else {
        constexpr bool has_numbers = std::is_same_v<Learner, Sac>;
        const AgentSpec schema(ObservationSpec().box("x"), has_numbers
                                                               ? ActionSpec().continuous("aim")
                                                               : ActionSpec().discrete("move", 2));
        return build_agent_graphs(schema, mlp_network({4}), learner)[0]->status();
    }
}

template <class Learner>
class Hyperparameters : public ::testing::Test {};

using Learners = ::testing::Types<Ppo, Dqn, Sac, BehaviorCloning, Tamer, Regression>;
class LearnerName {
  public:
    template <class Learner>
    static std::string GetName(int) {
        return std::is_same_v<Learner, Ppo>               ? "Ppo"
               : std::is_same_v<Learner, Dqn>             ? "Dqn"
               : std::is_same_v<Learner, Sac>             ? "Sac"
               : std::is_same_v<Learner, BehaviorCloning> ? "BehaviorCloning"
               : std::is_same_v<Learner, Tamer>           ? "Tamer"
                                                          : "Regression";
    }
};
TYPED_TEST_SUITE(Hyperparameters, Learners, LearnerName);

/// Sets the `index`-th number of a learner, limits included.  Returns its name, or "".
template <class Learner>
std::string set(Learner& learner, int index, bool to_low, double value, Range& range) {
    std::string found;
    const auto visit = [&](const std::string& name, auto& member, Range own) {
        using Member = std::decay_t<decltype(member)>;
        if (std::is_same_v<Member, bool> || index-- != 0) return;
        found = name;
        range = own;
        // One beyond the range, or NaN where a member can be.
        if constexpr (std::is_same_v<Member, int64_t>)
            member = static_cast<int64_t>(to_low ? own.low - 1 : own.high + 1);
        else if constexpr (!std::is_same_v<Member, bool>)
            member = std::isnan(value) ? value
                     : to_low          ? own.low - std::max(std::abs(own.low), 1e-9)
                                       : own.high * 1.5 + 0.5;
    };
    for_each_hyperparameter(learner, visit);
    for_each_limit(learner.limits, [&](const char* name, double& member, Range own) {
        visit(std::string("limits.") + name, member, own);
    });
    return found;
}

TYPED_TEST(Hyperparameters, OutsideTheirRangesAreRefusedByName) {
    EXPECT_TRUE(status_of(TypeParam{}).ok()) << status_of(TypeParam{}).message();
    int count = 0;
    for (;; ++count) {
        Range range;
        std::string name;
        for (const bool to_low : {true, false})
            for (const double value : {0.0, std::numeric_limits<double>::quiet_NaN()}) {
                TypeParam learner;
                name = set(learner, count, to_low, value, range);
                if (name.empty() || (name == "target_entropy" && std::isnan(value))) continue;
                const std::string message = status_of(learner).message();
                EXPECT_NE(message.find(name + " is "), std::string::npos) << name << message;
                EXPECT_NE(message.find(", expected "), std::string::npos) << name << message;
            }
        if (name.empty()) break;
    }
    EXPECT_GT(count, 10);
}

TEST(HyperparameterRanges, AreInTheMessage) {
    EXPECT_NE(status_of(Ppo{.gamma = 1.5}).message().find("PPO: gamma is 1.5, expected 0 to 1"),
              std::string::npos);
    EXPECT_NE(status_of(Ppo{.learning_rate = Hyperparameter::tunable(-1)})
                  .message()
                  .find("PPO: learning_rate is -1, expected 0 to 1"),
              std::string::npos);
    Dqn dqn;
    dqn.replay.learning_starts = 60'000;
    EXPECT_NE(status_of(dqn).message().find("DQN: learning_starts is 60000, expected 1 to 50000"),
              std::string::npos);
    Sac sac;
    sac.limits.clip_reward = std::numeric_limits<double>::infinity();
    EXPECT_NE(status_of(sac).message().find("SAC: limits.clip_reward is inf, expected 0 to 1e+09"),
              std::string::npos);
}

// They can be changed while the game runs.
TEST(HyperparameterRanges, OfTunableOnesAreInTheManifest) {
    const AgentSpec schema(ObservationSpec().box("x"), ActionSpec().discrete("move", 2));
    Ppo ppo;
    ppo.learning_rate = Hyperparameter::tunable(1e-3);
    ppo.bc_coef = Hyperparameter::tunable(0.5);
    const AgentManifest made = make_manifest(schema, ppo);
    const std::vector<RuntimeHyperparameter> expected = {{"learning_rate", 1e-3, 0, 1},
                                                         {"bc_coef", 0.5, 0, 1000}};
    EXPECT_EQ(made.hyperparameters, expected);
    EXPECT_EQ(made.n_agents, 16u);
    EXPECT_EQ(made.replay_capacity, 0u);
    const auto loaded = AgentManifest::load(made.save());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->hyperparameters, expected);
    Dqn dqn;
    dqn.prioritized_beta = Hyperparameter::tunable(0.4);
    EXPECT_EQ(make_manifest(schema, dqn).hyperparameters,
              (std::vector<RuntimeHyperparameter>{{"prioritized_beta", 0.4, 0, 10}}));
    EXPECT_EQ(make_manifest(schema, dqn).replay_capacity, 50'000u);
}

}  // namespace
}  // namespace hearth::agents
