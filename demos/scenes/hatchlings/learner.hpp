// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Observations and actions of hatchlings, and how they learn: in the game, and in training before
// it ships.

#pragma once

#include <hearth/agents/learners.hpp>

namespace hearth::hatchlings {

/// Decisions of each hatchling per rollout.
constexpr uint32_t kHorizon = 64;

agents::AgentSpec schema();
agents::Ppo learner(uint32_t hatchlings);
agents::PolicyNetwork network(uint64_t seed);

}  // namespace hearth::hatchlings
