// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Agents from a specification in one call, for a game that has the compiler: during development, on
// a loading screen, in a tool.  A game that ships a cooked package calls Agents::create instead.
//
//     const AgentSpec spec(ObservationSpec().box("cart", 4), ActionSpec().discrete("push", 2));
//     HEARTH_ASSIGN(Agents agents, make_agents(context, spec, mlp_network({64, 64}), Ppo{}));

#pragma once

#include <hearth/agents.hpp>
#include <hearth/agents/learner_def.hpp>
#include <hearth/agents/learners.hpp>
#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hearth::agents {

/// Options of make_agents().
struct MakeAgentsOptions {
    AgentsOptions agents = {};  ///< `manifest` is the learner's
    uint64_t seed = 0;          ///< of initial weights and exploration
    /// `caps` and `max_batch_size` are those of the context and of the learner.
    CompileOptions compile = {};
};

namespace detail {
inline Result<Agents> make_agents(const Context& context, const AgentGraphs& graphs,
                                  const AgentManifest& manifest, MakeAgentsOptions options) {
    HEARTH_ASSIGN(options.compile.caps, context.device_caps());
    options.compile.max_batch_size = manifest.n_agents;
    HEARTH_ASSIGN(const Compiled compiled,
                  compile(runtime_entries(graphs, manifest), options.compile));
    HEARTH_ASSIGN(const LoadedProgram program, LoadedProgram::load(context, compiled.bytes));
    const std::vector<std::byte> bytes = manifest.save();
    options.agents.manifest = bytes;
    HEARTH_ASSIGN(Agents agents, Agents::create(context, program, options.agents));
    HEARTH_TRY(agents.create_pipelines());
    return agents;
}
}  // namespace detail

/// Traces the learner's entries, compiles them for the context's device, loads them, and creates
/// agents with all pipelines, on the calling thread; this takes seconds.  Agents::capacity() is the
/// learner's n_agents.
/// network: the trunk, e.g. mlp_network({64, 64}); learner: Ppo, Dqn, Sac, BehaviorCloning, Tamer or
/// AnyLearner.
/// Errors: those of compile(), among them the first of the network's; of Agents::create(); of
/// create_pipelines().
template <class Learner>
Result<Agents> make_agents(const Context& context, const AgentSpec& spec,
                           const PolicyNetwork& network, const Learner& learner,
                           const MakeAgentsOptions& options = {}) {
    return detail::make_agents(context, build_agent_graphs(spec, network, learner, options.seed),
                               make_manifest(spec, learner), options);
}
inline Result<Agents> make_agents(const Context& context, const AgentSpec& spec,
                                  const PolicyNetwork& network, const AnyLearner& learner,
                                  const MakeAgentsOptions& options = {}) {
    return detail::make_agents(context, learner.build_graphs(spec, network, options.seed),
                               learner.manifest(spec), options);
}

}  // namespace hearth::agents
