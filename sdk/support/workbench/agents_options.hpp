// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Traces agents that options describe: schema, network and learner.

#pragma once

#include "options.hpp"

#include <hearth/agents/learners.hpp>

namespace hearth::workbench {

struct TracedAgents {
    agents::AgentGraphs traces;
    agents::AgentManifest manifest;
};

/// Reads the options observations, actions, stack, network, learner and seed.
Result<TracedAgents> trace_described_agents(Options& options, int64_t max_rows);

}  // namespace hearth::workbench
