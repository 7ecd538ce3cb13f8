// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds the graphs of agents and networks that options describe.

#pragma once

#include "options.hpp"

#include <hearth/agents/learners.hpp>

#include <functional>

namespace hearth::workbench {

struct DescribedAgents {
    agents::AgentGraphs graphs;
    agents::AgentManifest manifest;
};

/// Reads the options observations, actions, frame_stack, network, learner and seed.
Result<DescribedAgents> build_described_agents(Options& options, int64_t max_agents);

struct DescribedNetwork {
    Shape input;  ///< [batch, ...]
    std::function<Tensor(Trace& trace, const Tensor& x)> forward;
};

/// Reads the options input, outputs, mean, std, network and seed of hearth_cook_network.
Result<DescribedNetwork> build_described_network(Options& options);

/// Reads the options of hearth_cook_regression.
Result<agents::AgentGraphs> build_described_regression(Options& options);

}  // namespace hearth::workbench
