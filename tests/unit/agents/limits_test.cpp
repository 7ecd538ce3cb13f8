// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What learners do with observations, rewards, weights and masks at their limits, on the reference
// interpreter, and how it is counted.

#include "unit/agents/learner_rig.hpp"

#include <hearth/agents/run_log.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace hearth::agents {
namespace {

HostTensor ids(int64_t count) {
    HostTensor id(DType::kU32, {count});
    for (int64_t i = 0; i < count; ++i) id.set(i, static_cast<double>(i));
    return id;
}

HostTensor row(std::vector<double> values) {
    return HostTensor::of({static_cast<int64_t>(values.size())}, values);
}
HostTensor rows(int64_t count, std::vector<double> values) {
    return HostTensor::of({count, static_cast<int64_t>(values.size()) / count}, values);
}

std::vector<uint32_t> words_of(const InterpretedLearner& learner, const char* state) {
    const auto words = learner.weights.at(state).as<uint32_t>();
    return {words.begin(), words.end()};
}

// --- Observations ---

AgentSpec chooses(const ObservationSpec& observations) {
    return AgentSpec(observations, ActionSpec().discrete("move", 2));
}

/// Stores samples that observe the values of `sees`, with `store` of BehaviorCloning, DQN or PPO.
template <class Sees>
void store(InterpretedLearner& learner, int count, bool demonstrates, Sees sees) {
    for (int i = 0; i < count; ++i) {
        const std::vector<double> now = sees(i), next = sees(i + 1);
        NamedTensors sample{{"observation", rows(1, now)}};
        if (demonstrates) {
            sample["action"] = rows(1, {i % 2 * 1.0});
        } else {
            sample["id"] = ids(1);
            sample["decision"] = rows(1, {i % 2 * 1.0});
            sample["reward"] = row({0});
            sample["done_kind"] = row({0});
            sample["next_observation"] = rows(1, next);
        }
        learner.run("store", sample);
    }
}

// A position in centimetres.
TEST(Observations, TwentyThousandAndSixtyThousandDoNotLookAlike) {
    const AgentSpec schema = chooses(ObservationSpec().box("place"));
    Dqn dqn;
    dqn.replay = {.n_agents = 1,
                  .buffer_size = 64,
                  .batch_size = 8,
                  .learning_starts = 8,
                  .normalize_observations = true};
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({8}), dqn));
    store(learner, 64, false, [](int i) {
        return std::vector<double>{20'000 + 40'000 * std::fmod(0.618034 * i, 1.0)};
    });
    EXPECT_NEAR(learner.weights.at("observations.mean").get(0), 40'000, 1000);
    EXPECT_NEAR(std::sqrt(learner.weights.at("observations.variance").get(0)),
                40'000 / std::sqrt(12.0), 500);
    learner.run("publish");
    HostTensor& weight = learner.weights.at("published.param.q.choices.move.weight");
    for (int64_t i = 0; i < weight.element_count(); ++i)
        weight.set(i, std::sin(2.0 * static_cast<double>(i + 1)));
    // The decisions of a network whose values change with what it observes.
    const auto value = [&](double place) {
        HostTensor& bias = learner.weights.at("published.param.q.choices.move.bias");
        for (double low = -8, high = 8;;) {
            const double middle = (low + high) / 2;
            if (high - low < 1e-4) return middle;
            bias.set(1, middle);
            const NamedTensors said = learner.run(
                "act", {{"observation", rows(1, {place})}, {"exploration", HostTensor::scalar(0)}});
            (said.at("decision").get(0) == 1 ? high : low) = middle;
        }
    };
    EXPECT_GT(std::abs(value(20'000) - value(60'000)), 0.1);
}

TEST(Observations, WithoutNormalizationNothingIsCut) {
    const AgentSpec schema = chooses(ObservationSpec().box("place").position("at", 2, 100));
    BehaviorCloning clone;
    clone.buffer_size = 16;
    clone.batch_size = clone.learning_starts = 8;
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({}), clone));
    store(learner, 8, true, [](int i) { return std::vector<double>{20'000.0 + i, -30'000, 1e9}; });
    EXPECT_EQ(learner.status()[Counter::kObservationsClamped], 0u);
    EXPECT_EQ(words_of(learner, "agents.observation_limits"),
              (std::vector<uint32_t>{0, 0, 0, 0, 0, 0, 8}));
    const HostTensor head = rows(2, {0, 0, 0, 1, 0, 0});
    learner.weights.at("published.param.actor.head.weight") = head;
    learner.weights.at("published.param.actor.head.bias") = row({40'000, 0});
    for (const double place : {20'000.0, 60'000.0}) {
        const NamedTensors said = learner.run("act", {{"observation", rows(1, {place, 0, 0})},
                                                      {"exploration", HostTensor::scalar(0)}});
        EXPECT_EQ(said.at("action").get(0), place > 40'000 ? 1 : 0);
    }
}

TEST(Observations, ThoseAtALimitAreCountedByElementAndNamed) {
    const AgentSpec schema =
        chooses(ObservationSpec()
                    .box("speed", 2)
                    .discrete("kind", 3)
                    .angle("yaw")
                    .quaternion("turret")
                    .array("wheels", 2, ObservationSpec().binary("down").box("load"))
                    .entities("others", 2, ObservationSpec().position("place", 1, 10)));
    BehaviorCloning clone;
    clone.buffer_size = 256;
    clone.normalize_observations = true;
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({4}), clone));
    //                               speed   kind yaw turret      wheels      others
    std::vector<double> usual = {0.1, 0.2, 1, 0.5, 0, 0, 0, 1, 1, 0, 0, 0, 2, 5, 5};
    ASSERT_EQ(schema.frame_size(), 15);
    store(learner, 40, true, [&](int i) {
        std::vector<double> seen = usual;
        for (const size_t k : {0, 1, 9, 11}) seen[k] = std::sin(1.3 * i + static_cast<double>(k));
        return seen;
    });
    const std::vector<uint32_t> before = words_of(learner, "agents.observation_limits");
    const uint64_t counted = learner.status()[Counter::kObservationsClamped];
    EXPECT_EQ(before.size(), 31u);
    EXPECT_EQ(before.back(), 40u);
    std::vector<double> far = usual;
    far[1] = 1e4;    // deviations
    far[3] = 1e7;    // radians
    far[11] = -500;  // of wheels[1]
    far[14] = 1e20;  // an entity
    store(learner, 1, true, [&](int) { return far; });
    std::vector<uint32_t> expected = before;
    for (const size_t k : {1, 3, 11, 14}) ++expected[k];
    ++expected.back();
    EXPECT_EQ(words_of(learner, "agents.observation_limits"), expected);
    EXPECT_EQ(learner.status()[Counter::kObservationsClamped], counted + 4);
    // What is refused counts for nothing.
    far[0] = std::numeric_limits<double>::quiet_NaN();
    store(learner, 1, true, [&](int) { return far; });
    EXPECT_EQ(words_of(learner, "agents.observation_limits"), expected);

    std::string all;
    for (const ObservationAtLimit& observation : observations_at_limit(schema, expected))
        all += observation_warning(observation) + "\n";
    for (const char* part : {"speed[1]: 7 % of samples at the limit",
                             "yaw: ", "wheels[1]/load: ", "others[1]/place.x: "})
        EXPECT_NE(all.find(part), std::string::npos) << part << "\n" << all;
}

TEST(Observations, ThoseThatAnF32DoesNotTellApartAreNamed) {
    const AgentSpec schema = chooses(ObservationSpec().box("far").box("fine").box("constant"));
    BehaviorCloning clone;
    clone.buffer_size = 256;
    clone.normalize_observations = true;
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({4}), clone));
    store(learner, 40, true, [](int i) {
        return std::vector<double>{1e7 + 1e-3 * std::sin(i), 1e7 + 1e4 * std::sin(i), 9.81};
    });
    std::string all;
    for (const ObservationAtLimit& observation :
         observations_at_limit(schema, words_of(learner, "agents.observation_limits")))
        all += observation_warning(observation) + "\n";
    EXPECT_NE(all.find("far: 98 % of samples too far away"), std::string::npos) << all;
    EXPECT_EQ(all.find("constant"), std::string::npos) << all;
    // Only while its spread is that of two samples.
    EXPECT_NE(all.find("fine: 3 % of samples too far away"), std::string::npos) << all;
}

TEST(Observations, CountsOfLimitsAreHalvedBeforeTheyOverflow) {
    const AgentSpec schema = chooses(ObservationSpec().box("x"));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({4}), BehaviorCloning{}));
    HostTensor& words = learner.weights.at("agents.observation_limits");
    words.set(0, 1000);
    words.set(2, kMostObservationSamples - 1);
    store(learner, 1, true, [](int) { return std::vector<double>{1e20}; });
    EXPECT_EQ(words_of(learner, "agents.observation_limits"),
              (std::vector<uint32_t>{500, 0, kMostObservationSamples / 2}));
}

// --- Actions, skipped steps and rewards of every learner ---

constexpr int64_t kAgents = 4;

struct LimitedLearner {
    const char* name;
    AgentGraphs (*graphs)();
    bool has_rollouts, has_numbers;
};

AgentSpec hybrid() {
    return AgentSpec(ObservationSpec().box("x", 3),
                     ActionSpec().discrete("move", 3, true).continuous("aim", 2, {2, 10}));
}
AgentSpec drives() {
    return AgentSpec(ObservationSpec().box("x", 3), ActionSpec().continuous("aim", 2, {2, 10}));
}
AgentSpec chooses_masked() {
    return AgentSpec(ObservationSpec().box("x", 3), ActionSpec().discrete("move", 3, true));
}

constexpr ReplayOptions kReplay{
    .n_agents = kAgents, .buffer_size = 64, .batch_size = 8, .learning_starts = 8};

const LimitedLearner kLimited[] = {
    {"Ppo",
     [] {
         return build_agent_graphs(hybrid(), mlp_network({8}),
                                   Ppo{.n_agents = kAgents, .n_steps = 8});
     },
     true, true},
    {"Gru",
     [] {
         return build_agent_graphs(hybrid(), gru_network(4),
                                   Ppo{.n_agents = kAgents, .n_steps = 8, .bptt_length = 4});
     },
     true, true},
    {"Dqn",
     [] { return build_agent_graphs(chooses_masked(), mlp_network({8}), Dqn{.replay = kReplay}); },
     false, false},
    {"Sac",
     [] { return build_agent_graphs(drives(), mlp_network({8}, relu), Sac{.replay = kReplay}); },
     false, true},
    {"Tamer",
     [] {
         return build_agent_graphs(chooses_masked(), mlp_network({8}),
                                   Tamer{.n_agents = kAgents, .buffer_size = 64, .batch_size = 8});
     },
     false, false},
    {"Clone",
     [] {
         return build_agent_graphs(hybrid(), mlp_network({8}),
                                   BehaviorCloning{.n_agents = kAgents});
     },
     false, true}};

class LearnerAtItsLimits : public ::testing::TestWithParam<LimitedLearner> {
  protected:
    LearnerAtItsLimits() : graphs_(GetParam().graphs()), learner_(graphs_) {
        for (const auto& graph : graphs_)
            if (graph->graph().name == "frame")
                for (const Value& v : graph->graph().values)
                    if (v.kind == ValueKind::kInput) inputs_.push_back(v.name);
    }

    /// One frame of all agents.  mask: of each of them.
    void frame(double reward, std::vector<double> mask = {1, 0, 1}, double done_kind = 0) {
        const auto spread = [](int64_t width, double phase) {
            HostTensor values(DType::kF32, {kAgents, width});
            for (int64_t i = 0; i < values.element_count(); ++i)
                values.set(i, std::sin(1.9 * static_cast<double>(i) + phase));
            return values;
        };
        const auto same = [](double value) { return row(std::vector<double>(kAgents, value)); };
        std::vector<double> masks;
        for (int64_t i = 0; i < kAgents; ++i) masks.insert(masks.end(), mask.begin(), mask.end());
        const NamedTensors all{{"id", ids(kAgents)},
                               {"observation", spread(3, frames_)},
                               {"mask", rows(kAgents, masks)},
                               {"exploration", HostTensor::scalar(frames_ % 2)},
                               {"reward", same(reward)},
                               {"praise", same(reward)},
                               {"done_kind", same(done_kind)},
                               {"episode_start", same(frames_ == 0 ? 1 : 0)},
                               {"final_observation", spread(3, -frames_)},
                               {"final_mask", rows(kAgents, masks)}};
        ++frames_;
        NamedTensors used;
        for (const std::string& name : inputs_) used[name] = all.at(name);
        learner_.frame(used, kAgents);
    }

    /// As many steps as a rollout takes.
    void learn() {
        if (GetParam().has_rollouts) learner_.run("compute_advantages");
        for (int i = 0; i < 16; ++i) learner_.run("learn");
        learner_.run("publish");
    }

    int64_t action_size() const { return learner_.weights.at("last.action").shape()[1].count; }
    double action(int64_t agent, int64_t i) const {
        return learner_.weights.at("last.action").get(agent * action_size() + i);
    }

    AgentGraphs graphs_;
    InterpretedLearner learner_;
    std::vector<std::string> inputs_;
    int frames_ = 0;
};

// A brain may be finite and its network's outputs not.
TEST_P(LearnerAtItsLimits, HandsOutFiniteActionsInRangeWhateverItsWeightsAre) {
    for (auto& [name, value] : learner_.weights)
        if (name.starts_with("published.param."))
            for (int64_t i = 0; i < value.element_count(); ++i)
                value.set(i, i % 3 == 1 ? -3e38 : 3e38);
    const bool has_choice = action_size() != 2;
    for (int i = 0; i < 20; ++i) {
        frame(0);
        for (int64_t agent = 0; agent < kAgents; ++agent)
            for (int64_t k = 0; k < action_size(); ++k) {
                const double value = action(agent, k);
                if (has_choice && k == 0) {
                    EXPECT_TRUE(value == 0 || value == 2) << value;  // 1 is masked
                } else {
                    EXPECT_GE(value, 2) << k;
                    EXPECT_LE(value, 10) << k;
                }
            }
    }
    EXPECT_EQ(learner_.status()[Counter::kActionsReplaced] > 0, GetParam().has_numbers);
    uint64_t total = 0;
    for (const uint32_t count : words_of(learner_, "agents.actions_replaced")) total += count;
    EXPECT_EQ(total, learner_.status()[Counter::kActionsReplaced]);
}

TEST_P(LearnerAtItsLimits, TakesTheFirstOptionWhereAllAreMaskedAndCountsIt) {
    if (action_size() == 2) GTEST_SKIP() << "no choice";
    for (int i = 0; i < 8; ++i) {
        frame(0, {0, 0, 0});
        for (int64_t agent = 0; agent < kAgents; ++agent) EXPECT_EQ(action(agent, 0), 0);
    }
    EXPECT_EQ(learner_.status()[Counter::kChoicesAllMasked], 8u * kAgents);
    EXPECT_EQ(learner_.status()[Counter::kSamplesRejected], 0u);
    frame(0);
    EXPECT_EQ(learner_.status()[Counter::kChoicesAllMasked], 8u * kAgents);
    learn();
    EXPECT_EQ(learner_.first_not_finite(), "");
}

TEST_P(LearnerAtItsLimits, CountsSkippedStepsInARowUntilOneIsTaken) {
    if (std::string_view(GetParam().name) == "Clone") GTEST_SKIP() << "nothing was demonstrated";
    EXPECT_EQ(learner_.status()[Counter::kSkippedInARow], 0u);
    for (int i = 0; i < 9; ++i) frame(1);
    const NamedTensors sound = learner_.weights;
    for (auto& [name, value] : learner_.weights)
        if (name.starts_with("actor") || name.starts_with("critic") || name.starts_with("q.") ||
            name.starts_with("judge"))
            for (int64_t i = 0; i < value.element_count(); ++i)
                value.set(i, i % 3 == 1 ? -3e38 : 3e38);
    learn();
    EXPECT_EQ(learner_.status()[Counter::kSkippedInARow], 16u);
    EXPECT_EQ(learner_.status()[Counter::kGradientSteps], 0u);
    for (const auto& [name, value] : sound)
        if (!name.starts_with("agents.") && name != "learn.skipped_in_a_row")
            learner_.weights.at(name) = value;
    frame(1);
    // The sum that the driver reads is as old as the last frame.
    const auto words =
        status_words(words_of(learner_, "agents.status"), words_of(learner_, "agents.recent"));
    EXPECT_EQ(StatusView(words)[Counter::kSkippedInARow], 16u);
    EXPECT_EQ(StatusView(words)[Counter::kSamples],
              learner_.status()[Counter::kSamples] - (learner_.adds_samples() ? kAgents : 0));
    learn();
    EXPECT_EQ(learner_.status()[Counter::kSkippedInARow], 0u);
    EXPECT_GT(learner_.status()[Counter::kGradientSteps], 0u);
}

TEST_P(LearnerAtItsLimits, AddsUpHugeRewardsToFiniteNumbers) {
    for (int i = 0; i < 24; ++i) {
        frame(i % 3 == 2 ? -3e38 : 3e38, {1, 0, 1}, i % 8 == 7 ? 2 : 0);
        if (i % 8 == 0 && i > 0) learn();
    }
    EXPECT_EQ(learner_.first_not_finite(), "");
    for (int i = 0; i < 9; ++i) frame(1, {1, 0, 1}, i == 8 ? 1 : 0);
    learn();
    EXPECT_EQ(learner_.first_not_finite(), "");
    if (learner_.weights.contains("episodes.return")) {
        EXPECT_LT(std::abs(learner_.status()[AgentMetric::kEpisodeReturn]), 1.1e15f);
    }
}

INSTANTIATE_TEST_SUITE_P(All, LearnerAtItsLimits, ::testing::ValuesIn(kLimited),
                         [](const auto& instance) { return std::string(instance.param.name); });

// --- Ends with masks ---

// In the first state options 0 and 1 can be taken and lead to the second, whose only option, 2,
// pays 1 for ever: it is worth 10, and the first state 9.  Each episode is cut off on arriving in
// the second state, or a while later.
TEST(Dqn, ACutOffEpisodeIsWorthWhatTheMaskOfItsLastObservationAllows) {
    Dqn dqn;
    dqn.replay = {.n_agents = 1, .buffer_size = 256, .batch_size = 32, .learning_starts = 32};
    dqn.learning_rate = 3e-3;
    dqn.gamma = 0.9;
    dqn.target_update_interval = 1;
    dqn.tau = 0.05;
    dqn.dueling = false;
    dqn.limits.max_update_ratio = 0;
    const AgentSpec schema(ObservationSpec().box("o", 3), ActionSpec().discrete("a", 3, true));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({16}, relu), dqn, 2));
    const HostTensor first = rows(1, {1, 0, 0}), second = rows(1, {0, 1, 0});
    const HostTensor first_mask = rows(1, {1, 1, 0}), second_mask = rows(1, {0, 0, 1});
    const auto frame = [&](bool is_first, double reward, double done_kind, double begins) {
        learner.frame({{"id", ids(1)},
                       {"observation", is_first ? first : second},
                       {"mask", is_first ? first_mask : second_mask},
                       {"exploration", HostTensor::scalar(1)},
                       {"reward", row({reward})},
                       {"done_kind", row({done_kind})},
                       {"episode_start", row({begins})},
                       {"final_observation", second},
                       {"final_mask", second_mask}});
    };
    frame(true, 0, 0, 1);
    for (int k = 0; k < 1500; ++k) {
        if (k % 2 == 0) {
            frame(true, 0, 2, 0);
        } else {
            frame(false, 0, 0, 0);
            frame(false, 1, 0, 0);
            frame(true, 1, 2, 0);
        }
        learner.run("learn");
    }
    const auto value = [&](int64_t state, int64_t option) {
        const HostTensor &weight = learner.weights.at("q.0.weight"),
                         &bias = learner.weights.at("q.0.bias"),
                         &head = learner.weights.at("q.choices.a.weight");
        double sum = learner.weights.at("q.choices.a.bias").get(option);
        for (int64_t i = 0; i < 16; ++i)
            sum +=
                head.get(16 * option + i) * std::max(weight.get(3 * i + state) + bias.get(i), 0.0);
        return sum;
    };
    EXPECT_NEAR(value(1, 2), 10, 0.5);
    EXPECT_NEAR(value(0, 0), 9, 0.5);
    EXPECT_NEAR(value(0, 1), 9, 0.5);
}

}  // namespace
}  // namespace hearth::agents
