// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What learners do with observations, rewards, weights and masks at their limits, on the reference
// interpreter, and how it is counted.

#include "unit/agents/learner_rig.hpp"

#include <hearth/agents/run_log.hpp>

#include <gtest/gtest.h>

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

    const std::vector<std::string> warnings = observation_warnings(schema, expected);
    std::string all;
    for (const std::string& warning : warnings) all += warning + "\n";
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
    const std::vector<std::string> warnings =
        observation_warnings(schema, words_of(learner, "agents.observation_limits"));
    std::string all;
    for (const std::string& warning : warnings) all += warning + "\n";
    EXPECT_NE(all.find("far: 100 % of samples too far away"), std::string::npos) << all;
    EXPECT_EQ(all.find("constant"), std::string::npos) << all;
    EXPECT_EQ(all.find("fine: 100 % of samples too far"), std::string::npos) << all;
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

}  // namespace
}  // namespace hearth::agents
