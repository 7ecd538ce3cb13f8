// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Cost of agents in a game: one decision of all of them, and one learning update, for each
// algorithm, with the networks whose dispatches and barriers tests/unit/agents/levels_test.cpp
// counts. Replay buffers are filled with random samples, as if by store and prepare.

#include "compiler/ir/graph.hpp"
#include "data.hpp"
#include "network.hpp"

#include <hearth/agents/learners.hpp>

#include <cmath>
#include <string_view>

namespace hearth::perf {

namespace {

using namespace agents;

constexpr int64_t kSenses = 26, kRing = 10'000, kPatternRows = 16;

AgentSpec drives() {
    return AgentSpec(ObservationSpec().box("x", kSenses), ActionSpec().continuous("thrust", 2));
}
AgentSpec chooses() {
    return AgentSpec(ObservationSpec().box("x", kSenses), ActionSpec().discrete("move", 4));
}

/// Random samples are far off-policy, so target_kl is set but so large that it never stops
/// learning.
Ppo ppo(int64_t agents = 16) {
    Ppo settings{.n_agents = agents};
    settings.limits.target_kl = 1e9;
    return settings;
}
ReplayOptions replay() {
    return {.n_agents = 16, .buffer_size = kRing};
}

/// Returns the entry of that name and drops the others.
std::unique_ptr<Trace> entry_of(AgentGraphs traces, std::string_view name) {
    for (auto& trace : traces)
        if (trace->graph().name == name) return std::move(trace);
    return nullptr;
}

HostTensor filled(const Value& v, double value) {
    HostTensor tensor(v.dtype, v.shape);
    for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.set(i, value);
    return tensor;
}

/// Contents of a full replay buffer or rollout; null for variables that keep their initial value.
std::shared_ptr<const HostTensor> full_of_samples(const Value& v, int64_t minibatch) {
    const std::string_view name = v.name;
    const auto make = [](HostTensor tensor) {
        return std::make_shared<const HostTensor>(std::move(tensor));
    };
    if (name == "learn.order" || name == "replay.decision") {
        const int64_t most = name == "learn.order" ? 64 : 4;
        HostTensor tensor(v.dtype, v.shape);
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            tensor.set(i, static_cast<double>(i * 7 % most));
        return make(std::move(tensor));
    }
    if (name == "learn.minibatches") {  // samples, mean and std of their advantages
        HostTensor tensor(v.dtype, v.shape);
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            tensor.set(i, i % 3 == 0 ? static_cast<double>(minibatch) : i % 3 == 1 ? 0.0 : 1.0);
        return make(std::move(tensor));
    }
    if (name == "replay.size") return make(filled(v, static_cast<double>(kRing)));
    if (name == "batch.valid") return make(filled(v, 1));
    if (name == "replay.discount") return make(filled(v, 0.99));
    const bool is_sample = name.starts_with("batch.") || name.starts_with("replay.");
    if (!is_sample || v.dtype != DType::kF32 || name.ends_with(".end")) return nullptr;
    return make(random_tensor(name, v.shape));
}

/// Number of weights in matrix products, over actors, critics and targets.
double weight_count(const Graph& graph, std::string_view prefix) {
    double count = 0;
    for (const Value& v : graph.values) {
        const bool persists = v.kind == ValueKind::kParam || v.kind == ValueKind::kState;
        if (persists && v.name.starts_with(prefix) && v.name.ends_with(".weight"))
            count += static_cast<double>(v.shape.element_count(1));
    }
    return count;
}

Status run_learn(Bench& bench, Row& row, AgentGraphs traces, int64_t samples,
                 int64_t width = kSenses) {
    NetworkRun network{.trace = entry_of(std::move(traces), "learn"),
                       .trained_steps = 2,
                       .has_loss = false,
                       .least_norm = 1e-5};
    Graph& graph = mutable_graph(*network.trace);
    for (Value& v : graph.values)
        if (v.kind == ValueKind::kState)
            if (auto data = full_of_samples(v, samples)) v.data = std::move(data);
    double weights = 0;
    for (const Value& v : graph.values)
        if (v.kind == ValueKind::kParam) weights += static_cast<double>(v.shape.element_count(1));
    row.flops = 6 * static_cast<double>(samples) * weight_count(graph, "");
    row.bytes = sizeof(float) * (6 * weights + static_cast<double>(samples * width));
    return run_network(bench, row, network);
}

Status run_act(Bench& bench, Row& row, AgentGraphs traces, int64_t agents) {
    NetworkRun network{
        .trace = entry_of(std::move(traces), "act"), .rows = agents, .pattern_rows = kPatternRows};
    const Graph& graph = mutable_graph(*network.trace);
    for (const Value& v : graph.values) {
        if (v.kind != ValueKind::kInput) continue;
        // explore = 0: deterministic actions, the same each time.
        const Shape shape = v.shape.resolve(kPatternRows);
        HostTensor value = v.dtype == DType::kF32 && v.name != "exploration"
                               ? random_tensor(v.name, shape)
                               : HostTensor(v.dtype, shape);
        network.inputs.emplace(v.name, std::move(value));
    }
    const double weights = weight_count(graph, "published.");
    row.flops = 2 * static_cast<double>(agents) * weights;
    row.bytes = sizeof(float) * (weights + static_cast<double>(agents * (kSenses + 2)));
    return run_network(bench, row, network);
}

AgentGraphs ppo_traces(int64_t agents = 16) {
    return build_agent_graphs(drives(), mlp_network({64, 64}), ppo(agents));
}
AgentGraphs gru_traces() {
    Ppo settings = ppo();
    settings.bptt_length = 16;
    return build_agent_graphs(drives(), gru_network(64), settings);
}
AgentGraphs sac_traces() {
    return build_agent_graphs(drives(), mlp_network({64, 64}, relu), Sac{.replay = replay()});
}
AgentGraphs dqn_traces() {
    return build_agent_graphs(chooses(), mlp_network({64, 64}, relu), Dqn{.replay = replay()});
}

constexpr Scene kScenes[] = {
    {"agents_ppo_act_16", "16 agents of PPO decide; 26 senses, 2x64, two numbers",
     [](Bench& bench, Row& row) { return run_act(bench, row, ppo_traces(), 16); }},
    {"agents_ppo_act_1024", "1,024 of them",
     [](Bench& bench, Row& row) { return run_act(bench, row, ppo_traces(1024), 1024); }},
    {"agents_ppo_learn", "one item of PPO: 256 samples, actor and critic",
     [](Bench& bench, Row& row) { return run_learn(bench, row, ppo_traces(), 256); }},
    {"agents_gru_learn", "one item of PPO with a GRU of 64: 16 windows of 16",
     [](Bench& bench, Row& row) { return run_learn(bench, row, gru_traces(), 256); }},
    {"agents_sac_act_16", "16 agents of SAC decide",
     [](Bench& bench, Row& row) { return run_act(bench, row, sac_traces(), 16); }},
    {"agents_sac_learn", "one item of SAC: 128 samples, actor, two critics and their targets",
     [](Bench& bench, Row& row) { return run_learn(bench, row, sac_traces(), 128); }},
    {"agents_dqn_act_16", "16 agents of DQN decide: four choices, dueling",
     [](Bench& bench, Row& row) { return run_act(bench, row, dqn_traces(), 16); }},
    {"agents_dqn_learn", "one item of DQN: 128 samples, double, dueling",
     [](Bench& bench, Row& row) { return run_learn(bench, row, dqn_traces(), 128); }},
};

}  // namespace

std::span<const Scene> agent_scenes() {
    return kScenes;
}

}  // namespace hearth::perf
