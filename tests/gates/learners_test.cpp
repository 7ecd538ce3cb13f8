// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learners on a device: one update beside PyTorch's, and tasks that must be learned.

#include "gates/device_learner.hpp"
#include "gates/sanity_tasks.hpp"
#include "support/vulkan_fixture.hpp"
#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace hearth::gates {
namespace {

using namespace agents;

class LearnersTest : public test::VulkanTest {
  protected:
    std::unique_ptr<DeviceLearner> make_learner(const AgentGraphs& traces, uint64_t rows,
                                                const NamedTensors& first_contents = {},
                                                FuseMlp fused_networks = FuseMlp::kAuto) {
        auto learner =
            DeviceLearner::create(device(), traces, rows, first_contents, fused_networks);
        EXPECT_TRUE(learner.ok()) << learner.status().message();
        return learner.ok() ? std::move(learner).value() : nullptr;
    }
};

Ppo small_ppo() {
    Ppo ppo;
    ppo.n_agents = 4;
    ppo.n_steps = 8;
    ppo.n_minibatches = 4;
    ppo.n_epochs = 2;
    ppo.limits.target_kl = 0;
    return ppo;
}

AgentSpec small_schema() {
    return AgentSpec(ObservationSpec().box("x", 5),
                     ActionSpec().discrete("move", 3).continuous("aim", 2));
}

// On GPUs the whole network becomes one kernel; a software driver runs that only when told to.
class PpoOnADevice : public LearnersTest, public ::testing::WithParamInterface<FuseMlp> {
  protected:
    void expect_windows_follow_the_reference(const PolicyNetwork& network, const Ppo& ppo);
};

// Gate2: data/agents/make_ppo.py learned from the same samples in the same order.
TEST_P(PpoOnADevice, OneEpochGivesPyTorchsWeights) {
    nlohmann::json json;
    std::ifstream(HEARTH_TEST_DATA "/agents/ppo.json") >> json;
    Ppo ppo = small_ppo();
    ppo.learning_rate = 3e-3;
    ppo.ent_coef = 0.01;
    ppo.normalize_observations = false;
    ppo.limits.clip_obs = 100;
    const auto column = [&](const char* name, const Shape& shape, DType dtype = DType::kF32) {
        return HostTensor::of(shape, json.at(name).get<std::vector<double>>(), dtype);
    };
    NamedTensors first{{"batch.observation", column("observation", {32, 5})},
                       {"batch.decision", column("decision", {32, 3})},
                       {"batch.log_prob", column("log_prob", {32})},
                       {"batch.advantage", column("advantage", {32})},
                       {"batch.returns", column("returns", {32})},
                       {"batch.valid", HostTensor::of({32}, std::vector<float>(32, 1.0f))},
                       {"learn.order", column("order", {64}, DType::kI32)}};
    const auto advantage = json.at("advantage").get<std::vector<double>>();
    first["learn.minibatches"] =
        minibatch_statistics(json.at("order").get<std::vector<double>>(), 8,
                             [&](int64_t i) { return advantage[static_cast<size_t>(i)]; });
    const AgentGraphs traces = build_agent_graphs(small_schema(), mlp_network({8, 8}), ppo);
    for (const auto& trace : traces)
        for (const auto& [name, values] : json.at("first").items())
            for (const Tensor& param : trace->params())
                if (const auto id = param.value(); trace->graph().value(id).name == name)
                    first[name] = HostTensor::of(param.shape(), values.get<std::vector<double>>());
    const auto learner = make_learner(traces, 4, first, GetParam());
    ASSERT_NE(learner, nullptr);
    for (int epoch = 1; epoch <= 2; ++epoch) {
        for (int m = 0; m < 4; ++m) {
            const auto outputs = learner->run("learn");
            ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        }
        const auto slots = learner->runner().read_variables();
        ASSERT_TRUE(slots.ok());
        const auto& expected = json.at("after_epoch_" + std::to_string(epoch));
        for (const auto& [name, values] : expected.items())
            for (int64_t i = 0; i < slots->at(name).element_count(); ++i)
                ASSERT_NEAR(slots->at(name).get(i), values[static_cast<size_t>(i)].get<double>(),
                            1e-5)
                    << name << "[" << i << "] after epoch " << epoch;
    }
    EXPECT_EQ(learner->status()[Counter::kGradientSteps], 8u);
}

// Every entry as on the reference: sampling, rings, statistics, advantages, rails, publication.
void PpoOnADevice::expect_windows_follow_the_reference(const PolicyNetwork& network,
                                                       const Ppo& ppo) {
    const bool has_memory = network.recurrent_state_size > 0;
    const AgentGraphs traces = build_agent_graphs(small_schema(), network, ppo);
    InterpretedLearner reference(traces);
    const auto learner = make_learner(traces, 4, {}, GetParam());
    ASSERT_NE(learner, nullptr);
    const auto compare = [&](const char* entry, const NamedTensors& inputs) {
        const NamedTensors expected = reference.run(entry, inputs, 4);
        const auto found = learner->run(entry, inputs, 4);
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (const auto& [name, value] : expected) {
            if (name == "status") continue;
            for (int64_t i = 0; i < value.element_count(); ++i)
                ASSERT_NEAR(found->at(name).get(i), value.get(i), 1e-4) << entry << ": " << name;
        }
        for (size_t i = 0; i < kCounterCount; ++i)
            ASSERT_EQ(learner->status()[static_cast<Counter>(i)],
                      reference.status()[static_cast<Counter>(i)])
                << entry << ": " << kCounterNames[i];
        for (size_t i = 0; i < kMetricCount; ++i) {
            const auto value = static_cast<double>(reference.status()[static_cast<AgentMetric>(i)]);
            ASSERT_NEAR(static_cast<double>(learner->status()[static_cast<AgentMetric>(i)]), value,
                        1e-3 * std::max(1.0, std::abs(value)))
                << entry << ": " << kMetricNames[i];
        }
    };
    const auto wave = [](const Shape& shape, double phase) {
        HostTensor data(DType::kF32, shape);
        for (int64_t i = 0; i < data.element_count(); ++i)
            data.set(i, std::sin(1.3 * static_cast<double>(i) + phase));
        return data;
    };
    bool ended[4] = {};
    for (int window = 0; window < 2; ++window) {
        for (int t = 0; t < 8; ++t) {
            const double phase = 10 * window + t;
            NamedTensors acting{{"observation", wave({4, 5}, phase)},
                                {"exploration", HostTensor::scalar(1)}};
            HostTensor id(DType::kU32, {4});
            for (int64_t i = 0; i < 4; ++i) id.set(i, static_cast<double>(3 - i));
            if (has_memory) {
                acting["id"] = id;
                acting["episode_start"] = HostTensor(DType::kF32, {4});
                for (int64_t i = 0; i < 4; ++i) acting["episode_start"].set(i, t == 0 || ended[i]);
            }
            compare("act", acting);
            NamedTensors rows = reference.run("act", acting, 4);
            ASSERT_TRUE(learner->run("act", acting, 4).ok());  // the same draw on both
            rows["id"] = id;
            rows["observation"] = acting.at("observation");
            rows["next_observation"] = wave({4, 5}, phase + 1);
            rows["reward"] = wave({4}, 3 * phase);
            rows["done_kind"] = HostTensor(DType::kF32, {4});
            rows["done_kind"].set(t % 4, t % 3);
            for (int64_t i = 0; i < 4; ++i) ended[i] = rows["done_kind"].get(i) > 0;
            for (const char* output : {"action", "version"}) rows.erase(output);
            if (t == 5) rows["observation"].set(7, static_cast<double>(std::nanf("")));
            compare("store", rows);
        }
        compare("compute_advantages", {});
        for (int i = 0; i < 8; ++i) compare("learn", {});
        compare("publish", {});
    }
    const auto slots = learner->runner().read_variables();
    ASSERT_TRUE(slots.ok());
    for (const auto& [name, value] : *slots) {
        if (name == "agents.status") continue;  // bits of what was compared above
        for (int64_t i = 0; i < value.element_count(); ++i)
            ASSERT_NEAR(value.get(i), reference.weights.at(name).get(i), 2e-3) << name;
    }
}

TEST_P(PpoOnADevice, AWindowFollowsTheReference) {
    expect_windows_follow_the_reference(mlp_network({8, 8}), small_ppo());
}

// Sequences with ends within them, and a sample that was refused.
TEST_P(PpoOnADevice, AWindowWithMemoryFollowsTheReference) {
    Ppo ppo = small_ppo();
    ppo.bptt_length = 4;
    ppo.n_minibatches = 2;
    expect_windows_follow_the_reference(gru_network(6), ppo);
}

INSTANTIATE_TEST_SUITE_P(FuseMlp, PpoOnADevice, ::testing::Values(FuseMlp::kAuto, FuseMlp::kAlways),
                         [](const auto& instance) {
                             return instance.param == FuseMlp::kAlways ? "Always" : "WherePays";
                         });

/// Trains until the mean of the last 100 episodes is what the task asks, or `steps` are taken.
double train(DeviceLearner& learner, Crowd& crowd, const Ppo& ppo, int64_t steps) {
    while (crowd.steps() < steps) {
        for (int64_t t = 0; t < ppo.n_steps; ++t) {
            const Status status = crowd.step(learner, true);
            EXPECT_TRUE(status.ok()) << status.message();
            if (!status.ok()) return 0;
            EXPECT_TRUE(learner.run("store", crowd.transition(), crowd.count()).ok());
        }
        if (crowd.mean_return(100) >= crowd.info().solved_at) break;
        EXPECT_TRUE(learner.run("compute_advantages").ok());
        for (int64_t i = 0; i < ppo.n_epochs * ppo.n_minibatches; ++i)
            EXPECT_TRUE(learner.run("learn").ok());
        EXPECT_TRUE(learner.run("publish").ok());
    }
    return crowd.mean_return(100);
}

// Gate9.
class SanityTask : public LearnersTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(SanityTask, IsLearned) {
    const std::string name = GetParam();
    Ppo ppo;
    ppo.n_agents = 16;
    ppo.n_steps = 20;
    ppo.n_minibatches = 2;
    ppo.n_epochs = 4;
    ppo.learning_rate = 5e-3;
    ppo.gamma = 0.95;
    ppo.ent_coef = name == "stochastic" ? 0.0 : 0.02;
    ppo.limits.target_kl = 0.1;
    ppo.normalize_observations = false;
    PolicyNetwork network = mlp_network({16});
    if (name == "memory") {
        network = gru_network(16);
        ppo.bptt_length = 10;
    }
    const auto make = [&] { return make_sanity_task(name); };
    Crowd crowd(make, ppo.n_agents, 1);
    const auto learner =
        make_learner(build_agent_graphs(schema_of(crowd.info()), network, ppo, 1), 16);
    ASSERT_NE(learner, nullptr);
    const double reached = train(*learner, crowd, ppo, 60000);
    EXPECT_GE(reached, crowd.info().solved_at) << "after " << crowd.steps() << " steps";
    RecordProperty("steps", static_cast<int>(crowd.steps()));
}

INSTANTIATE_TEST_SUITE_P(Gate9, SanityTask,
                         ::testing::Values("bandit", "password", "stochastic", "memory"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace hearth::gates
