// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records of learners: names, defaults and entries are those of the structs and graphs, what is out
// of range is refused by name, and manifests hold the ranges.

#include "compiler/ir/graph.hpp"

#include <hearth/agents/learner_def.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

namespace hearth::agents {
namespace {

AgentSpec spec_of(const LearnerDef& def) {
    return AgentSpec(ObservationSpec().box("x"), def.name == "sac"
                                                     ? ActionSpec().continuous("aim")
                                                     : ActionSpec().discrete("move", 2));
}

class LearnerRecords : public ::testing::TestWithParam<const LearnerDef*> {};

INSTANTIATE_TEST_SUITE_P(Of, LearnerRecords, ::testing::ValuesIn(learners()),
                         [](const auto& test) { return std::string(test.param->name); });

TEST_P(LearnerRecords, NameEachHyperparameterOnce) {
    const LearnerDef& def = *GetParam();
    EXPECT_EQ(find_learner(def.name), &def);
    EXPECT_FALSE(def.paper.empty());
    std::set<std::string_view> names;
    for (const HyperparameterDef& h : def.hyperparameters) {
        EXPECT_TRUE(names.insert(h.name).second) << h.name;
        EXPECT_FALSE(h.description.empty()) << h.name;
        EXPECT_EQ(def.find(h.name), &h);
    }
    EXPECT_EQ(def.find("none"), nullptr);
}

TEST_P(LearnerRecords, HaveTheEntriesOfTheGraphs) {
    const LearnerDef& def = *GetParam();
    std::vector<std::string> expected(def.entries.begin(), def.entries.end());
    expected.insert(expected.end(), {"publish", "shrink_and_perturb"});
    std::vector<std::string> found;
    for (const auto& trace : AnyLearner(def).build_graphs(spec_of(def), mlp_network({4}))) {
        EXPECT_TRUE(trace->status().ok()) << trace->status().message();
        found.push_back(trace->graph().name);
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(AnyLearner(def).manifest(spec_of(def)).algorithm, def.algorithm);
}

// Each is a member of its own: what is set is read, and nothing else changes.
TEST_P(LearnerRecords, SetOneMemberEach) {
    const LearnerDef& def = *GetParam();
    const AnyLearner defaults(def);
    for (const HyperparameterDef& set : def.hyperparameters) {
        AnyLearner learner(def);
        const HyperparameterValue before = *learner.get(set.name);
        const double end = number_of(before) == set.range.high ? set.range.low : set.range.high;
        HyperparameterValue other = end;
        if (const bool* flag = std::get_if<bool>(&before))
            other = !*flag;
        else if (std::holds_alternative<int64_t>(before))
            other = static_cast<int64_t>(end);
        else if (std::holds_alternative<std::vector<double>>(before))
            other = std::vector<double>{end};
        ASSERT_TRUE(learner.set(set.name, other).ok()) << set.name;
        for (const HyperparameterDef& h : def.hyperparameters) {
            const auto is_equal = [](const HyperparameterValue& a, const HyperparameterValue& b) {
                const auto* list = std::get_if<std::vector<double>>(&a);
                if (list != nullptr) return *list == *std::get_if<std::vector<double>>(&b);
                const double x = number_of(a), y = number_of(b);
                return x == y || (std::isnan(x) && std::isnan(y));
            };
            EXPECT_EQ(is_equal(*learner.get(h.name), *defaults.get(h.name)), h.name != set.name)
                << set.name << " and " << h.name;
        }
    }
}

TEST_P(LearnerRecords, RefuseValuesOutOfRangeByName) {
    const LearnerDef& def = *GetParam();
    int count = 0;
    for (const HyperparameterDef& h : def.hyperparameters) {
        const HyperparameterValue now = h.get(def.create(nullptr).get());
        std::vector<HyperparameterValue> wrong;
        if (std::holds_alternative<int64_t>(now)) {
            wrong = {static_cast<int64_t>(h.range.low) - 1, static_cast<int64_t>(h.range.high) + 1};
        } else if (!std::holds_alternative<bool>(now)) {
            for (const double value :
                 {h.range.low - std::max(std::abs(h.range.low), 1e-9), h.range.high * 1.5 + 0.5,
                  std::numeric_limits<double>::quiet_NaN()}) {
                if (h.nan_is_automatic && std::isnan(value)) continue;
                wrong.push_back(value);
                if (std::holds_alternative<Hyperparameter>(now))
                    wrong.push_back(Hyperparameter::tunable(value));
                if (std::holds_alternative<std::vector<double>>(now))
                    wrong.back() = std::vector<double>{0.5, value};
            }
        }
        for (const HyperparameterValue& value : wrong) {
            AnyLearner learner(def);
            const std::string message = learner.set(h.name, value).message();
            EXPECT_NE(message.find(std::string(def.title) + ": " + std::string(h.name) + " is "),
                      std::string::npos)
                << h.name << message;
            ++count;
            if (!h.choices.empty()) continue;  // an enum does not hold them
            // The same in the struct, which is not checked before the graphs are built.
            const auto unchecked = def.create(nullptr);
            HyperparameterValue typed = value;
            if (std::holds_alternative<Hyperparameter>(now) &&
                std::holds_alternative<double>(value))
                typed = Hyperparameter(number_of(value));
            h.set(unchecked.get(), typed);
            const AgentGraphs graphs =
                def.build(spec_of(def), mlp_network({4}), unchecked.get(), 0);
            EXPECT_EQ(graphs[0]->status().message(), message) << h.name;
        }
    }
    EXPECT_GT(count, 20);
}

TEST(Learners, AreFoundByNameAndTheirTypesAreChecked) {
    EXPECT_EQ(find_learner("PPO"), nullptr);
    AnyLearner learner(*find_learner("ppo"));
    EXPECT_NE(learner.get("horizon").status().message().find(
                  "PPO has no hyperparameter 'horizon'; there are n_agents, n_steps"),
              std::string::npos);
    EXPECT_EQ(learner.set("n_epochs", 2.5).message(),
              "PPO: n_epochs: expected a whole number, found a number");
    EXPECT_EQ(learner.set("normalize_rewards", int64_t{1}).message(),
              "PPO: normalize_rewards: expected true or false, found a whole number");
    EXPECT_EQ(learner.set("gamma", Hyperparameter::tunable(0.5)).message(),
              "PPO: gamma: expected a number, found a number, tunable or not");
    ASSERT_TRUE(learner.set("gamma", int64_t{1}).ok());
    ASSERT_TRUE(learner.set("clip_range", Hyperparameter::tunable(0.1)).ok());
    ASSERT_NE(learner.as<Ppo>(), nullptr);
    EXPECT_EQ(learner.as<Ppo>()->gamma, 1);
    EXPECT_TRUE(learner.as<Ppo>()->clip_range.is_tunable());
    EXPECT_EQ(learner.as<Sac>(), nullptr);
    const AnyLearner copy = learner;
    ASSERT_TRUE(learner.set("gamma", 0.25).ok());
    EXPECT_EQ(copy.as<Ppo>()->gamma, 1) << "a copy is a learner of its own";
    EXPECT_EQ(AnyLearner(Dqn{.gamma = 0.5}).as<Dqn>()->gamma, 0.5);
}

template <class Learner>
std::string message_of(const Learner& learner) {
    return build_agent_graphs(spec_of(learner_def<Learner>()), mlp_network({4}), learner)[0]
        ->status()
        .message();
}

TEST(HyperparameterRanges, AreInTheMessage) {
    EXPECT_EQ(message_of(Ppo{.gamma = 1.5}), "PPO: gamma is 1.5, expected 0 to 1");
    EXPECT_EQ(message_of(Ppo{.learning_rate = Hyperparameter::tunable(-1)}),
              "PPO: learning_rate is -1, expected 0 to 1");
    Dqn dqn;
    dqn.replay.learning_starts = 60'000;
    EXPECT_EQ(message_of(dqn), "DQN: learning_starts is 60000, expected 1 to 50000");
    Sac sac;
    sac.limits.clip_reward = std::numeric_limits<double>::infinity();
    EXPECT_EQ(message_of(sac), "SAC: clip_reward is inf, expected 0 to 1e+09");
    EXPECT_EQ(build_regression_graphs(mlp_network({4}), {.huber_delta = -1})[0]->status().message(),
              "regression: huber_delta is -1, expected 0 to 1e+09");
}

// A width of 0 made a policy that sees nothing, a negative one ended the process.
TEST(Networks, OfLayersWithoutWidthAreErrors) {
    const AgentSpec spec(ObservationSpec().box("x"), ActionSpec().discrete("move", 2));
    for (const int64_t width : {int64_t{0}, int64_t{-1}}) {
        const auto message_of = [&](const PolicyNetwork& network) {
            for (const auto& graph : build_agent_graphs(spec, network, Ppo{.n_agents = 2}))
                if (!graph->status().ok()) return graph->status().message();
            return std::string("none");
        };
        const std::string of_width = "has a width of " + std::to_string(width);
        EXPECT_NE(message_of(mlp_network({8, width})).find("'actor.1' " + of_width),
                  std::string::npos)
            << message_of(mlp_network({8, width}));
        EXPECT_NE(message_of(gru_network(width)).find(of_width), std::string::npos)
            << message_of(gru_network(width));
    }
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
    EXPECT_EQ(made.n_steps, 64u);
    EXPECT_EQ(made.updates_per_rollout, 16u);
    EXPECT_EQ(made.replay_capacity, 0u);
    const auto loaded = AgentManifest::load(made.save());
    ASSERT_TRUE(loaded.ok()) << loaded.status().message();
    EXPECT_EQ(loaded->hyperparameters, expected);
    Dqn dqn;
    dqn.prioritized_beta = Hyperparameter::tunable(0.4);
    const AgentManifest replaying = make_manifest(schema, dqn);
    EXPECT_EQ(replaying.hyperparameters,
              (std::vector<RuntimeHyperparameter>{{"prioritized_beta", 0.4, 0, 10}}));
    EXPECT_EQ(replaying.replay_capacity, 50'000u);
    EXPECT_EQ(replaying.train_freq, 4u);
    EXPECT_EQ(replaying.learning_starts, 1'000u);
}

}  // namespace
}  // namespace hearth::agents
