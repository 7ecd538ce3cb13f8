// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// SAC, DQN and cloning on the reference interpreter, beside PyTorch: losses, the first step's
// gradients, and the weights after six steps.  PPO's are in ppo_test.cpp.  Data:
// data/agents/make_learners.py.

#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace hearth::agents {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kSeed = 9;
constexpr int64_t kSamples = 48, kBatch = 16, kWidth = 3;
constexpr double kTolerance = 1e-4;  // of gradients, relative to the largest of a weight's

Json reference(const char* learner) {
    Json json;
    std::ifstream(HEARTH_TEST_DATA "/agents/learners.json") >> json;
    return json.at(learner);
}

void set_weights(InterpretedLearner& learner, const Json& named) {
    for (const auto& [name, values] : named.items())
        for (const std::string& prefix : {std::string(), std::string("target.")}) {
            const auto at = learner.weights.find(prefix + name);
            if (prefix.empty()) {
                ASSERT_NE(at, learner.weights.end()) << name;
            } else if (at == learner.weights.end()) {
                continue;
            }
            ASSERT_EQ(at->second.element_count(), static_cast<int64_t>(values.size())) << name;
            at->second = HostTensor::of(at->second.shape(), values.get<std::vector<double>>());
        }
}

/// All samples, in order, one agent each, so that the ring holds them as they are in the data.
void store(InterpretedLearner& learner, const Json& samples) {
    NamedTensors rows;
    HostTensor id(DType::kU32, {kSamples});
    for (int64_t i = 0; i < kSamples; ++i) id.set(i, static_cast<double>(i));
    if (samples.contains("reward")) rows["id"] = id;
    for (const auto& [name, values] : samples.items()) {
        const int64_t width = static_cast<int64_t>(values.size()) / kSamples;
        const bool is_vector = name == "reward" || name == "done_kind";
        rows[name] = HostTensor::of(is_vector ? Shape{kSamples} : Shape{kSamples, width},
                                    values.get<std::vector<double>>());
    }
    learner.run("store", rows, kSamples);
    ASSERT_EQ(learner.status()[Counter::kSamples], static_cast<uint64_t>(kSamples));
}

void expect_weights(const InterpretedLearner& learner, const Json& expected) {
    for (const auto& [name, values] : expected.items()) {
        const HostTensor& found = learner.weights.at(name);
        for (int64_t i = 0; i < found.element_count(); ++i)
            ASSERT_NEAR(found.get(i), values[static_cast<size_t>(i)].get<double>(), 1e-5)
                << name << "[" << i << "]";
    }
}

/// Adam's first moment after one step is a tenth of the gradient.
void expect_gradients(const InterpretedLearner& learner, const Json& expected) {
    for (const auto& [name, values] : expected.items()) {
        const HostTensor& moment = learner.weights.at(name + ".m");
        double largest = 0;
        for (const Json& v : values) largest = std::max(largest, std::abs(v.get<double>()));
        ASSERT_GT(largest, 0) << name;
        for (int64_t i = 0; i < moment.element_count(); ++i)
            ASSERT_NEAR(moment.get(i) * 10, values[static_cast<size_t>(i)].get<double>(),
                        kTolerance * largest)
                << name << "[" << i << "]";
    }
}

/// Learns as often as the reference did; `look` compares a step's diagnostics with the reference's
/// losses.
template <class Look>
void learn_beside(InterpretedLearner& learner, const Json& losses, const Look& look) {
    for (const Json& loss : losses) {
        learner.run("learn");
        look(loss);
    }
    ASSERT_EQ(learner.status()[Counter::kGradientSteps], losses.size());
}

void expect_near(float found, const Json& expected) {
    EXPECT_NEAR(static_cast<double>(found), expected.get<double>(),
                1e-5 * std::max(1.0, std::abs(expected.get<double>())));
}

TEST(LearnersBesidePyTorch, Sac) {
    const Json json = reference("sac");
    Sac sac;
    sac.replay = {
        .n_agents = kSamples, .buffer_size = kSamples, .batch_size = kBatch, .learning_starts = 1};
    sac.gamma = 0.97;
    sac.tau = 0.05;
    sac.learning_rate = 3e-3;
    sac.ent_coef_init = 0.7;
    const AgentSpec schema(ObservationSpec().box("x", kWidth), ActionSpec().continuous("aim", 2));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({8}), sac, kSeed));
    set_weights(learner, json.at("first"));
    store(learner, json.at("samples"));
    bool is_first = true;
    learn_beside(learner, json.at("losses"), [&](const Json& loss) {
        if (is_first) expect_gradients(learner, json.at("gradients"));
        is_first = false;
        expect_near(learner.status()[AgentMetric::kValueLoss], loss[0]);
        expect_near(learner.status()[AgentMetric::kPolicyLoss], loss[1]);
        expect_near(learner.status()[AgentMetric::kEntCoef], loss[2]);
    });
    expect_weights(learner, json.at("after"));
}

TEST(LearnersBesidePyTorch, Dqn) {
    const Json json = reference("dqn");
    Dqn dqn;
    dqn.replay = {.n_agents = kSamples,
                  .buffer_size = 4 * kSamples,
                  .batch_size = kBatch,
                  .learning_starts = 1};
    dqn.gamma = 0.97;
    dqn.learning_rate = 2e-3;
    dqn.target_update_interval = 4;
    const AgentSpec schema(ObservationSpec().box("x", kWidth), ActionSpec().discrete("move", 4));
    InterpretedLearner learner(build_agent_graphs(schema, mlp_network({8}), dqn, kSeed));
    set_weights(learner, json.at("first"));
    store(learner, json.at("samples"));
    bool is_first = true;
    learn_beside(learner, json.at("losses"), [&](const Json& loss) {
        if (is_first) expect_gradients(learner, json.at("gradients"));
        is_first = false;
        expect_near(learner.status()[AgentMetric::kLoss], loss);
    });
    expect_weights(learner, json.at("after"));
}

TEST(LearnersBesidePyTorch, BehaviorCloning) {
    const Json json = reference("clone");
    const AgentSpec schema(ObservationSpec().box("x", kWidth),
                           ActionSpec().discrete("side", 3).continuous("aim", 2));
    for (const auto& [kind, name] : {std::pair{BcLoss::kNegativeLogLikelihood, "likelihood"},
                                     std::pair{BcLoss::kMse, "squared"}}) {
        SCOPED_TRACE(name);
        BehaviorCloning clone;
        clone.buffer_size = kSamples;
        clone.batch_size = kBatch;
        clone.learning_starts = 1;
        clone.learning_rate = 3e-3;
        clone.loss = kind;
        InterpretedLearner learner(build_agent_graphs(schema, mlp_network({8}), clone, kSeed));
        set_weights(learner, json.at("first"));
        store(learner, json.at("samples"));
        learn_beside(learner, json.at(name).at("losses"), [&](const Json& loss) {
            expect_near(learner.status()[AgentMetric::kLoss], loss);
        });
        expect_weights(learner, json.at(name).at("after"));
    }
}

}  // namespace
}  // namespace hearth::agents
