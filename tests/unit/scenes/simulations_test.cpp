// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "classic/simulations.hpp"

#include "compiler/driver/compile.hpp"

#include <hearth/eval.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hearth::classic {
namespace {

/// Steps of one task, a row each.
struct Steps {
    std::vector<double> before, actions, rewards, over, after, seen;
    int64_t count = 0;
};

Steps read_steps(std::string_view task, const TaskInfo& info) {
    // data/classic/make_trajectories.py wrote them.
    std::ifstream file(HEARTH_TEST_DATA "/classic/trajectories.txt");
    Steps steps;
    std::vector<double> state;
    bool is_ours = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string kind, name, bar;
        words >> kind;
        if (kind == "task") {
            words >> name;
            is_ours = name == task;
        }
        if (!is_ours) continue;
        const auto read = [&](int count) {
            std::vector<double> numbers(static_cast<size_t>(count));
            for (double& n : numbers) words >> n;
            return numbers;
        };
        const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
            to.insert(to.end(), from.begin(), from.end());
        };
        if (kind == "start") state = read(info.state_width);
        if (kind != "step") continue;
        const std::vector<double> head = read(3);
        append(steps.before, state);
        state = read(info.state_width);
        append(steps.after, state);
        words >> bar;
        append(steps.seen, read(info.observation_width));
        steps.actions.push_back(head[0]);
        steps.rewards.push_back(head[1]);
        steps.over.push_back(head[2]);
        ++steps.count;
    }
    return steps;
}

class ClassicSimulation : public ::testing::TestWithParam<std::string_view> {
  protected:
    const agents::VectorEnv simulation_ = make_simulation(GetParam()).value();
    const TaskInfo info_ = make_task(GetParam())->info();
};

// In f32, from the state before each of them; angles are the same a turn later.
TEST_P(ClassicSimulation, TakesEachStepAsGymnasiumDoes) {
    const Steps steps = read_steps(GetParam(), info_);
    ASSERT_EQ(steps.count, 200);
    Trace trace("step");
    const int64_t n = steps.count;
    const auto rows = [&](const std::vector<double>& values, int64_t width) {
        return trace.constant(HostTensor::of({n, width}, values));
    };
    const agents::StepResult step =
        simulation_.step(rows(steps.before, info_.state_width), rows(steps.actions, 1),
                         trace.constant(0, DType::kU32), 0);
    const std::vector<Tensor> asked = {step.state, step.reward, cast(step.terminated, DType::kF32),
                                       simulation_.observe(step.state)};
    const auto found = eval(asked);
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (int64_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(i);
        const double size = std::max(1.0, std::abs(steps.rewards[row]));
        // Costs are squares of angles that are some turns away, in f32.
        EXPECT_NEAR((*found)[1].get(i), steps.rewards[row], 5e-6 * size) << "step " << i;
        EXPECT_EQ((*found)[2].get(i), steps.over[row]) << "step " << i;
        const auto near = [&](const HostTensor& values, const std::vector<double>& expected,
                              int width, double period, const char* what) {
            for (int64_t k = i * width; k < (i + 1) * width; ++k) {
                const double wanted = expected[static_cast<size_t>(k)];
                double apart = values.get(k) - wanted;
                if (period > 0) apart = std::remainder(apart, period);
                // A dozen roundings of numbers up to 10.
                EXPECT_LT(std::abs(apart), 1e-5)
                    << "step " << i << ", " << what << " " << k % width;
            }
        };
        const bool turns = info_.name == "Pendulum";
        near((*found)[0], steps.after, info_.state_width, turns ? 2 * std::acos(-1.0) : 0, "state");
        near((*found)[3], steps.seen, info_.observation_width, 0, "observation");
    }
}

// Drawn from the distributions that the tasks draw from.
TEST_P(ClassicSimulation, BeginsWhereTheTaskDoes) {
    constexpr int64_t kWorlds = 512;
    Trace trace("begin");
    const auto found = eval(simulation_.reset(trace.constant(7, DType::kU32), 3, kWorlds));
    ASSERT_TRUE(found.ok()) << found.status().message();
    ASSERT_EQ(found->shape(), Shape({kWorlds, info_.state_width}));
    const auto task = make_task(GetParam());
    for (int64_t k = 0; k < info_.state_width; ++k) {
        double low = 1e9, high = -1e9, task_low = 1e9, task_high = -1e9;
        for (int64_t i = 0; i < kWorlds; ++i) {
            task->reset(static_cast<uint64_t>(i));
            const double ours = found->get(i * info_.state_width + k);
            const double theirs = task->state()[static_cast<size_t>(k)];
            low = std::min(low, ours);
            high = std::max(high, ours);
            task_low = std::min(task_low, theirs);
            task_high = std::max(task_high, theirs);
        }
        // Ends of 512 uniform numbers: a thirtieth of the extent is far more than they vary.
        const double slack = (task_high - task_low) / 30;
        EXPECT_NEAR(low, task_low, slack + 1e-12) << "state " << k;
        EXPECT_NEAR(high, task_high, slack + 1e-12) << "state " << k;
    }
}

INSTANTIATE_TEST_SUITE_P(All, ClassicSimulation, ::testing::ValuesIn(kTaskNames),
                         [](const auto& instance) { return std::string(instance.param); });

/// How many dispatches and barriers a recording of so many steps of CartPole may be; steps 0: a
/// whole window.
struct Recording {
    const char* name;
    int64_t steps;
    int dispatches, barriers;
};

class RolloutRecording : public testing::TestWithParam<Recording> {};

// Acting and stepping, all steps of a recording, are one kernel on a GPU, and what they said is put
// into the window by one more.
TEST_P(RolloutRecording, HasAtMostSoManyDispatchesAndBarriers) {
    agents::Ppo ppo;
    ppo.n_agents = ppo.n_steps = 8;
    CompileOptions options;
    options.caps.name = "H200";  // kernels of any size
    options.max_batch_size = 8;
    options.fuse_mlp = FuseMlp::kAlways;
    options.caps.subgroup_arithmetic = true;
    options.caps.max_compute_shared_memory_size = 49152;
    options.caps.max_compute_work_group_invocations = options.caps.max_compute_work_group_size_x =
        1024;
    const agents::AgentGraphs traces = build_agent_graphs(
        schema_of(make_task("CartPole")->info()), agents::mlp_network({64, 64}), ppo,
        make_simulation("CartPole").value(), {.steps_per_recording = GetParam().steps});
    for (const auto& trace : traces) {
        if (trace->graph().name != "rollout") continue;
        auto graph = trace->build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        std::vector<Graph> graphs;
        graphs.push_back(std::move(graph).value());
        const auto compiled = compile_graphs(std::move(graphs), options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        int dispatches = 0, barriers = 0, fused_networks = 0;
        for (const Command& step : compiled->program.commands) {
            ++(step.kind == CommandKind::kBarrier ? barriers : dispatches);
            if (step.kind == CommandKind::kDispatch)
                fused_networks +=
                    compiled->program.kernels[step.kernel].name.starts_with("fused_network");
        }
        EXPECT_EQ(fused_networks, 1);
        EXPECT_LE(dispatches, GetParam().dispatches) << dump(compiled->program);
        EXPECT_LE(barriers, GetParam().barriers) << dump(compiled->program);
    }
}

constexpr Recording kRecordings[] = {
    {"OneStep", 1, 3, 1}, {"TwoSteps", 2, 3, 1}, {"AWindow", 0, 8, 2}};

INSTANTIATE_TEST_SUITE_P(CartPole, RolloutRecording, testing::ValuesIn(kRecordings),
                         [](const auto& instance) { return std::string(instance.param.name); });

// What is no simulation is named, before anything is traced.
TEST(ClassicSimulations, WhatARolloutCannotPlayIsAnError) {
    const agents::AgentSpec schema = schema_of(make_task("CartPole")->info());
    const agents::VectorEnv simulation = make_simulation("CartPole").value();
    const auto status_of = [&](const agents::AgentSpec& seen, const agents::PolicyNetwork& network,
                               const agents::VectorEnv& played, int64_t steps) {
        return build_agent_graphs(seen, network, agents::Ppo{}, played,
                                  {.steps_per_recording = steps})[0]
            ->status();
    };
    const auto mlp = agents::mlp_network({8});
    EXPECT_TRUE(status_of(schema, mlp, simulation, 16).ok());
    EXPECT_NE(status_of(schema, mlp, simulation, 7).message().find("do not divide n_steps"),
              std::string::npos);
    EXPECT_EQ(status_of(schema, mlp, {}, 0).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(status_of(schema, agents::gru_network(8), simulation, 0).code(),
              StatusCode::kUnsupported);
    const agents::AgentSpec masked(agents::ObservationSpec().box("observation", 4),
                                   agents::ActionSpec().discrete("action", 2, true));
    EXPECT_EQ(status_of(masked, mlp, simulation, 0).code(), StatusCode::kUnsupported);
}

TEST(ClassicSimulations, UnknownNamesGiveNothing) {
    EXPECT_FALSE(make_simulation("CartPole-v9").has_value());
}

}  // namespace
}  // namespace hearth::classic
