// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A seed is a state of a program and no constant of its kernels.

#include "compiler/driver/compile.hpp"
#include "compiler/driver/native_program.hpp"
#include "unit/agents/learner_rig.hpp"

#include <hearth/agents/simulation.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace hearth::agents {
namespace {

struct SeededLearner {
    const char* name;
    AgentGraphs (*graphs)(uint64_t seed);
};

AgentSpec hybrid() {
    return AgentSpec(ObservationSpec().box("x", 3).entities("near", 2, ObservationSpec().box("d")),
                     ActionSpec().discrete("move", 3).continuous("aim", 2));
}
AgentSpec drives() {
    return AgentSpec(ObservationSpec().box("x", 3), ActionSpec().continuous("aim", 2));
}
AgentSpec chooses() {
    return AgentSpec(ObservationSpec().box("x", 3), ActionSpec().discrete("move", 3));
}

PolicyNetwork network(uint64_t seed) {
    return mlp_network({8, 8}, relu, seed, nn::WeightInit::kPyTorchDefault);
}

constexpr ReplayOptions kReplay{
    .n_agents = 4, .buffer_size = 64, .batch_size = 8, .learning_starts = 8};

const SeededLearner kSeeded[] = {
    {"Ppo",
     [](uint64_t seed) {
         return build_agent_graphs(hybrid(), network(seed),
                                   Ppo{.n_agents = 4, .n_steps = 8, .demo_capacity = 16}, seed);
     }},
    {"Gru",
     [](uint64_t seed) {
         return build_agent_graphs(hybrid(), gru_network(4, seed),
                                   Ppo{.n_agents = 4, .n_steps = 8, .bptt_length = 4}, seed);
     }},
    {"Dqn",
     [](uint64_t seed) {
         return build_agent_graphs(chooses(), network(seed),
                                   Dqn{.replay = kReplay, .prioritized_alpha = 0.6}, seed);
     }},
    {"Sac",
     [](uint64_t seed) {
         return build_agent_graphs(drives(), network(seed), Sac{.replay = kReplay}, seed);
     }},
    {"Tamer",
     [](uint64_t seed) {
         return build_agent_graphs(chooses(), network(seed), Tamer{.n_agents = 4}, seed);
     }},
    {"Clone",
     [](uint64_t seed) {
         return build_agent_graphs(hybrid(), network(seed), BehaviorCloning{.n_agents = 4}, seed);
     }},
    {"Regression",
     [](uint64_t seed) { return build_regression_graphs(network(seed), Regression{}, seed); }}};

class Seed : public ::testing::TestWithParam<SeededLearner> {
  protected:
    static CompiledProgram compiled(uint64_t seed, const DeviceCaps& caps) {
        std::vector<Graph> graphs;
        for (const auto& trace : GetParam().graphs(seed)) {
            auto graph = trace->build();
            EXPECT_TRUE(graph.ok()) << graph.status().message();
            if (graph.ok()) graphs.push_back(std::move(graph).value());
        }
        auto program = compile_graphs(std::move(graphs), {.caps = caps, .max_batch_size = 4});
        EXPECT_TRUE(program.ok()) << program.status().message();
        return program.ok() ? std::move(program).value() : CompiledProgram();
    }
};

TEST_P(Seed, IsNoConstantOfAKernel) {
    const auto first = compiled(1, cpu_caps(CpuIsa::kScalar)),
               second = compiled(0x1234567890, cpu_caps(CpuIsa::kScalar));
    const auto a = cpu_kernels_of(first.program, "t"), b = cpu_kernels_of(second.program, "t");
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_TRUE(*a == *b);
    const auto kernels = [](const CompiledProgram& program) {
        std::set<std::vector<uint32_t>> spirv;
        for (const Kernel& kernel : program.program.kernels) spirv.insert(kernel.spirv);
        return spirv;
    };
    EXPECT_TRUE(kernels(compiled(1, {})) == kernels(compiled(2, {})));
}

INSTANTIATE_TEST_SUITE_P(All, Seed, ::testing::ValuesIn(kSeeded),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// Where a point is and what comes of a step, both random.
VectorEnv walk() {
    VectorEnv env;
    env.state_size = 3;
    env.reset = [](const Tensor& counter, uint64_t key, int64_t worlds) {
        return random_normal(counter, key, {worlds, 3});
    };
    env.observe = [](const Tensor& state) { return state; };
    env.step = [](const Tensor& state, const Tensor& action, const Tensor& counter, uint64_t key) {
        const Tensor next = state * 0.5 + random_normal(counter, key, state.shape());
        const Tensor reward = sum(next, {-1}) * 0.1 + sum(action, {-1});
        return StepResult{next, reward, greater(reward, 1)};
    };
    return env;
}

const SeededLearner kSimulated[] = {
    {"Simulated", [](uint64_t seed) {
         return build_agent_graphs(drives(), network(seed), Ppo{.n_agents = 4, .n_steps = 4},
                                   walk(), {.steps_per_recording = 2, .seed = seed}, seed);
     }}};

INSTANTIATE_TEST_SUITE_P(Rollout, Seed, ::testing::ValuesIn(kSimulated),
                         [](const auto& instance) { return std::string(instance.param.name); });

// The decision of a learner with these weights, which explores.
TEST(SeedState, CanBeSetAndDecidesWhatIsDrawn) {
    const auto graphs = [](uint64_t seed) {
        return build_agent_graphs(drives(), mlp_network({8}), Sac{.replay = kReplay}, seed);
    };
    const auto decided = [&](uint64_t built, double set) {
        InterpretedLearner learner(graphs(built)), weights(graphs(1));
        for (const auto& [name, value] : weights.weights)
            if (name != "seed") learner.weights.at(name) = value;
        if (set >= 0) learner.weights.at("seed").set(0, set);
        HostTensor observation(DType::kF32, {4, 3});
        std::vector<double> all;
        for (int i = 0; i < 3; ++i) {
            const HostTensor decision =
                learner
                    .run("act",
                         {{"observation", observation}, {"exploration", HostTensor::scalar(1)}}, 4)
                    .at("decision");
            for (int64_t k = 0; k < decision.element_count(); ++k) all.push_back(decision.get(k));
        }
        return all;
    };
    const std::vector<double> first = decided(1, -1), second = decided(2, -1);
    EXPECT_NE(first, second);
    EXPECT_EQ(decided(1, 2), second);
    EXPECT_EQ(decided(7, 1), first);
    // Not the same numbers a few draws later.
    for (const double a : first)
        for (const double b : second) EXPECT_NE(a, b);
}

}  // namespace
}  // namespace hearth::agents
