// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How many dispatches and barriers one item of learning is on a GPU: what it costs there.  The numbers are
// what is reached, not what is wished for; make them smaller when they are.

#include "compiler/driver/compile.hpp"

#include <hearth/agents/learners.hpp>

#include <gtest/gtest.h>

namespace hearth::agents {
namespace {

struct Item {
    const char* name;
    Traces (*trace)();
    int dispatches, barriers;
};

class LearningItem : public ::testing::TestWithParam<Item> {};

TEST_P(LearningItem, HasAtMostSoManyDispatchesAndBarriers) {
    CompileOptions options;
    options.rows_capacity = 16;
    options.fused_networks = FusedNetworks::kAlways;
    options.caps.subgroup_arithmetic = true;
    options.caps.shared_memory_bytes = 49152;
    options.caps.max_workgroup_invocations = options.caps.max_workgroup_size_x = 1024;
    const Traces traces = GetParam().trace();
    for (const auto& trace : traces) {
        if (trace->graph().name != "learn") continue;
        std::vector<Graph> graphs;
        auto graph = trace->finish();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        graphs.push_back(std::move(graph).value());
        const auto compiled = compile_graphs(std::move(graphs), options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        int dispatches = 0, barriers = 0;
        for (const Step& step : compiled->program.steps)
            ++(step.kind == StepKind::kBarrier ? barriers : dispatches);
        const std::string chain = compiled->notes.empty() ? "" : compiled->notes.back();
        EXPECT_LE(dispatches, GetParam().dispatches) << chain;
        EXPECT_LE(barriers, GetParam().barriers) << chain;
    }
}

AgentSchema drives() {
    return AgentSchema(Fields().numbers("x", 26), Actions().drive("thrust", 2));
}
AgentSchema chooses() {
    return AgentSchema(Fields().numbers("x", 26), Actions().choose("move", 4));
}

const Item kItems[] = {
    {"Ppo",
     [] {
         return trace_agents(drives(), mlp_network({64, 64}), Ppo{});
     },
     5, 4},
    {"PpoWithMemory", [] { return trace_agents(drives(), gru_network(64), Ppo{.sequence = 16}); },
     6, 4},
    {"Sac",
     [] {
         return trace_agents(drives(), mlp_network({64, 64}, relu), Sac{});
     },
     6, 4},
    {"Dqn",
     [] {
         return trace_agents(chooses(), mlp_network({64, 64}, relu), Dqn{});
     },
     5, 4},
    {"Clone",
     [] {
         return trace_agents(drives(), mlp_network({64, 64}), Clone{});
     },
     5, 4},
    {"Praise",
     [] {
         return trace_agents(chooses(), mlp_network({64, 64}), Praise{});
     },
     7, 5},
};

INSTANTIATE_TEST_SUITE_P(All, LearningItem, ::testing::ValuesIn(kItems),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hearth::agents
