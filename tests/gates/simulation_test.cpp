// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Worlds on the device: windows that the entry `rollout` plays, beside the tasks in C++ and beside
// the reference.

#include "gates/device_learner.hpp"
#include "support/vulkan_fixture.hpp"
#include "unit/agents/learner_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hearth::gates {
namespace {

using namespace agents;

constexpr int64_t kWorlds = 4, kHorizon = 4;

Ppo small_ppo() {
    Ppo ppo;
    ppo.n_agents = kWorlds;
    ppo.n_steps = kHorizon;
    ppo.n_minibatches = 2;
    ppo.n_epochs = 2;
    return ppo;
}

/// A state with this observation.
std::vector<double> state_of(const classic::TaskInfo& info, std::span<const double> seen) {
    if (info.name == "Pendulum") return {std::atan2(seen[1], seen[0]), seen[2]};
    if (info.name == "Acrobot")
        return {std::atan2(seen[1], seen[0]), std::atan2(seen[3], seen[2]), seen[4], seen[5]};
    return {seen.begin(), seen.end()};
}

class RolloutOnADevice : public test::VulkanTest,
                         public ::testing::WithParamInterface<const char*> {
  protected:
    /// Without what the tests do not record.
    AgentGraphs traces(const Ppo& ppo, int64_t steps, int64_t step_limit = 0) const {
        VectorEnv simulation = classic::make_simulation(GetParam()).value();
        if (step_limit > 0) simulation.max_episode_steps = step_limit;
        AgentGraphs all = build_agent_graphs(schema_of(classic::make_task(GetParam())->info()),
                                             mlp_network({8, 8}), ppo, simulation,
                                             {.steps_per_recording = steps, .seed = 5});
        std::erase_if(all, [](const auto& trace) {
            return trace->graph().name == "act" || trace->graph().name == "shrink_and_perturb";
        });
        return all;
    }
    std::unique_ptr<DeviceLearner> make_learner(const AgentGraphs& traces,
                                                FuseMlp fused_networks = FuseMlp::kAuto) {
        auto learner = DeviceLearner::create(device(), traces, kWorlds, {}, fused_networks);
        EXPECT_TRUE(learner.ok()) << learner.status().message();
        return learner.ok() ? std::move(learner).value() : nullptr;
    }
};

// Episodes that end or are cut off after three steps, within windows and across them.
TEST_P(RolloutOnADevice, TakesEachStepAsTheTaskDoes) {
    constexpr int64_t kLimit = 3;
    Ppo ppo = small_ppo();
    ppo.normalize_rewards = false;
    ppo.limits.clip_reward = 100;
    AgentGraphs played = traces(ppo, 2, kLimit);
    std::erase_if(played, [](const auto& trace) {
        return trace->graph().name != "rollout" && trace->graph().name != "compute_advantages";
    });
    const auto learner = make_learner(played);
    ASSERT_NE(learner, nullptr);
    const auto task = classic::make_task(GetParam());
    const classic::TaskInfo& info = task->info();
    const int64_t width = info.observation_width;
    std::vector<double> expected(static_cast<size_t>(kWorlds * width));
    std::vector<int64_t> age(kWorlds, 0);
    std::vector<double> sum(kWorlds, 0);
    std::vector<bool> goes_on(kWorlds, false);
    int ended = 0;
    for (int window = 0; window < 3; ++window) {
        for (int part = 0; part < 2; ++part) {
            const auto outputs = learner->run("rollout");
            ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        }
        auto slots = learner->runner().read_variables();
        ASSERT_TRUE(slots.ok()) << slots.status().message();
        const auto value = [&](const char* name, int64_t i) { return slots->at(name).get(i); };
        for (int64_t i = 0; i < kWorlds * kHorizon; ++i) {
            const int64_t world = i % kWorlds;
            const auto w = static_cast<size_t>(world);
            std::vector<double> seen;
            for (int64_t k = 0; k < width; ++k)
                seen.push_back(value("rollout.observation", i * width + k));
            for (int64_t k = 0; goes_on[w] && k < width; ++k)
                ASSERT_EQ(seen[static_cast<size_t>(k)],
                          expected[static_cast<size_t>(world * width + k)])
                    << "sample " << i;
            task->set_state(state_of(info, seen));
            double action = value("rollout.decision", i);
            if (info.choices == 0)
                action = std::clamp(action, -1.0, 1.0) * static_cast<double>(info.high);
            const classic::Outcome outcome = task->step(static_cast<float>(action));
            std::vector<float> next(static_cast<size_t>(width));
            task->observe(next);
            for (int64_t k = 0; k < width; ++k) {
                const double found = value("rollout.next_observation", i * width + k);
                ASSERT_NEAR(found, static_cast<double>(next[static_cast<size_t>(k)]), 1e-5)
                    << "sample " << i << ", observation " << k;
                expected[static_cast<size_t>(world * width + k)] = found;
            }
            ASSERT_NEAR(value("rollout.reward", i), outcome.reward, 1e-5) << "sample " << i;
            sum[w] += value("rollout.reward", i);
            ++age[w];
            const double end = outcome.terminated ? 1 : age[w] == kLimit ? 2 : 0;
            ASSERT_EQ(value("rollout.end", i), end) << "sample " << i;
            ASSERT_NEAR(value("rollout.episode_return", i), end > 0 ? sum[w] : 0, 1e-4)
                << "sample " << i;
            goes_on[w] = end == 0;
            if (end == 0) continue;
            ++ended;
            age[w] = 0;
            sum[w] = 0;
        }
        const auto prepared = learner->run("compute_advantages");
        ASSERT_TRUE(prepared.ok()) << prepared.status().message();
        const auto valid = learner->runner().read_variable("batch.valid");
        ASSERT_TRUE(valid.ok()) << valid.status().message();
        for (int64_t i = 0; i < kWorlds * kHorizon; ++i) EXPECT_EQ(valid->get(i), 1) << i;
    }
    EXPECT_EQ(ended, 3 * kWorlds * kHorizon / kLimit);
    EXPECT_EQ(learner->status()[Counter::kSamples], 48u);
    EXPECT_EQ(learner->status()[Counter::kEpisodes], static_cast<uint64_t>(ended));
}

TEST_P(RolloutOnADevice, IsTheSameHoweverAWindowIsCut) {
    NamedTensors whole;
    for (const int64_t steps : {4, 1}) {
        const auto learner = make_learner(traces(small_ppo(), steps, 3));
        ASSERT_NE(learner, nullptr);
        for (int window = 0; window < 3; ++window) {
            for (int64_t i = 0; i < kHorizon / steps; ++i)
                ASSERT_TRUE(learner->run("rollout").ok());
            for (const char* entry : {"compute_advantages", "learn", "publish"})
                ASSERT_TRUE(learner->run(entry).ok()) << entry;
        }
        auto slots = learner->runner().read_variables();
        ASSERT_TRUE(slots.ok()) << slots.status().message();
        slots->erase("rollout.runs");
        if (whole.empty()) whole = *slots;
        ASSERT_EQ(slots->size(), whole.size());
        for (const auto& [name, value] : *slots)
            EXPECT_TRUE(std::ranges::equal(value.bytes(), whole.at(name).bytes()))
                << name << " in recordings of " << steps;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RolloutOnADevice,
                         ::testing::Values("CartPole", "Acrobot", "Pendulum"),
                         [](const auto& instance) { return std::string(instance.param); });

class RolloutPrograms : public RolloutOnADevice {};

// Whole windows as one kernel where they fit, and every entry behind them.
TEST_P(RolloutPrograms, LearnAsTheReferenceDoes) {
    Ppo ppo = small_ppo();
    ppo.n_steps = 2;
    const AgentGraphs all = traces(ppo, 0);
    InterpretedLearner reference(all);
    const auto learner = make_learner(all, FuseMlp::kAlways);
    ASSERT_NE(learner, nullptr);
    for (const char* entry : {"rollout", "compute_advantages", "learn", "learn", "learn", "learn",
                              "publish", "rollout"}) {
        (void)reference.run(entry);
        const auto outputs = learner->run(entry);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        const auto slots = learner->runner().read_variables();
        ASSERT_TRUE(slots.ok());
        for (const auto& [name, value] : *slots)
            for (int64_t i = 0; name != "agents.status" && i < value.element_count(); ++i)
                ASSERT_NEAR(value.get(i), reference.weights.at(name).get(i), 2e-3)
                    << name << "[" << i << "] after " << entry;
    }
}

INSTANTIATE_TEST_SUITE_P(All, RolloutPrograms, ::testing::Values("CartPole"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace hearth::gates
