// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How many dispatches and barriers one item of learning is on a GPU: what it costs there.  The
// numbers are what is reached, not what is wished for; make them smaller when they are.

#include "compiler/driver/compile.hpp"

#include <hearth/agents/learners.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::agents {
namespace {

struct Item {
    const char* name;
    AgentGraphs (*trace)();
    int dispatches, barriers;            ///< of the data-centre cards
    int card_dispatches, card_barriers;  ///< of others, whose kernels have a largest size
};

class LearningItem : public ::testing::TestWithParam<Item> {};

struct Counts {
    int dispatches = 0, barriers = 0;
    std::string chain;  ///< remark on what waits for what
};

Counts counts_of(Trace& trace, std::string device,
                 BindingModel binding_model = BindingModel::kDeviceAddress) {
    CompileOptions options;
    options.caps.name = std::move(device);
    options.binding_model = binding_model;
    options.max_batch_size = 16;
    options.fuse_mlp = FuseMlp::kAlways;
    options.caps.subgroup_arithmetic = true;
    options.caps.max_compute_shared_memory_size = 49152;
    options.caps.max_compute_work_group_invocations = options.caps.max_compute_work_group_size_x =
        1024;
    Counts counts;
    std::vector<Graph> graphs;
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    graphs.push_back(std::move(graph).value());
    const auto compiled = compile_graphs(std::move(graphs), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    for (const Command& step : compiled->program.commands)
        ++(step.kind == CommandKind::kBarrier ? counts.barriers : counts.dispatches);
    if (!compiled->remarks.empty()) counts.chain = compiled->remarks.back();
    return counts;
}

Trace& learn_of(const AgentGraphs& traces) {
    return **std::ranges::find_if(traces,
                                  [](const auto& trace) { return trace->graph().name == "learn"; });
}

void expect_at_most(const Counts& counts, int most_dispatches, int most_barriers) {
    EXPECT_LE(counts.dispatches, most_dispatches) << counts.chain;
    EXPECT_LE(counts.barriers, most_barriers) << counts.chain;
}

TEST_P(LearningItem, HasAtMostSoManyDispatchesAndBarriers) {
    const Item& item = GetParam();
    const AgentGraphs traces = item.trace();
    expect_at_most(counts_of(learn_of(traces), "H200"), item.dispatches, item.barriers);
    expect_at_most(counts_of(learn_of(traces), ""), item.card_dispatches, item.card_barriers);
}

// A device without addresses binds descriptors, of which a kernel has few.
TEST_P(LearningItem, HasAtMostHalfAsManyDispatchesMoreWithDescriptors) {
    const AgentGraphs traces = GetParam().trace();
    for (const auto& trace : traces)
        for (const char* device : {"H200", ""}) {
            const Counts addresses = counts_of(*trace, device);
            const Counts descriptors = counts_of(*trace, device, BindingModel::kDescriptor);
            EXPECT_LE(2 * descriptors.dispatches, 3 * addresses.dispatches)
                << trace->graph().name << ": " << addresses.dispatches << " with addresses, "
                << descriptors.dispatches << " with descriptors. " << descriptors.chain;
            EXPECT_LE(2 * descriptors.barriers, 3 * addresses.barriers) << descriptors.chain;
        }
}

AgentSpec drives() {
    return AgentSpec(ObservationSpec().box("x", 26), ActionSpec().continuous("thrust", 2));
}
AgentSpec chooses() {
    return AgentSpec(ObservationSpec().box("x", 26), ActionSpec().discrete("move", 4));
}

const Item kItems[] = {
    {"Ppo",
     [] {
         return build_agent_graphs(drives(), mlp_network({64, 64}), Ppo{});
     },
     5, 4, 12, 6},
    {"PpoWithMemory",
     [] { return build_agent_graphs(drives(), gru_network(64), Ppo{.bptt_length = 16}); }, 15, 5,
     35, 11},
    {"Sac",
     [] {
         return build_agent_graphs(drives(), mlp_network({64, 64}, relu), Sac{});
     },
     6, 4, 48, 9},
    {"Dqn",
     [] {
         return build_agent_graphs(chooses(), mlp_network({64, 64}, relu), Dqn{});
     },
     5, 4, 12, 6},
    {"Clone",
     [] {
         return build_agent_graphs(drives(), mlp_network({64, 64}), BehaviorCloning{});
     },
     5, 4, 10, 5},
    {"Praise",
     [] {
         return build_agent_graphs(chooses(), mlp_network({64, 64}), Tamer{});
     },
     7, 5, 12, 6},
};

INSTANTIATE_TEST_SUITE_P(All, LearningItem, ::testing::ValuesIn(kItems),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace hearth::agents
