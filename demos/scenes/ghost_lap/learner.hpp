// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Observations and actions of ghosts, and how they learn from a driver.

#pragma once

#include <hearth/agents/learners.hpp>

namespace hearth::ghost_lap {

agents::AgentSpec schema();
/// Behavior cloning with two agents: the person, who demonstrates, and the ghost, which acts.
agents::BehaviorCloning learner();

}  // namespace hearth::ghost_lap
