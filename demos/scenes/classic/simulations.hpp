// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The tasks of task.hpp as tensor code: the same dynamics in f32, many environments in parallel, on
// the device.

#pragma once

#include "classic/task.hpp"

#include <hearth/agents/simulation.hpp>

#include <optional>
#include <string_view>

namespace hearth::classic {

/// Returns the observations and actions of a task's agent.
agents::AgentSpec schema_of(const TaskInfo& info);

/// Creates a simulation by the names of make_task(); nullopt for others.
std::optional<agents::VectorEnv> make_simulation(std::string_view name);

}  // namespace hearth::classic
