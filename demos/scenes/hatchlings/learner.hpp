// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What hatchlings sense and do, and how they learn: in the game, and before it ships.

#pragma once

#include <hearth/agents/learners.hpp>

namespace hearth::hatchlings {

/// Decisions of each hatchling from one window of learning to the next.
constexpr uint32_t kHorizon = 64;

agents::AgentSchema schema();
agents::Ppo learner(uint32_t hatchlings);
agents::Network network(uint64_t seed);

}  // namespace hearth::hatchlings
