// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds the graphs of agents that options describe: schema, network and learner.

#pragma once

#include "options.hpp"

#include <hearth/agents/learners.hpp>

namespace hearth::workbench {

struct DescribedAgents {
    agents::AgentGraphs graphs;
    agents::AgentManifest manifest;
};

/// Reads the options observations, actions, frame_stack, network, learner and seed.
Result<DescribedAgents> build_described_agents(Options& options, int64_t max_agents);

/// Reads the options of hearth_cook_regression.
Result<agents::AgentGraphs> build_described_regression(Options& options);

}  // namespace hearth::workbench
