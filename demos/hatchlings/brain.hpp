// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The brain that all hatchlings share: what it senses and does, and how it learns.

#pragma once

#include "host/mind.hpp"

namespace hearth::hatchlings {

/// Decisions of each hatchling from one window of learning to the next.
constexpr uint32_t kHorizon = 64;

agents::AgentSchema schema();
agents::Ppo learner(uint32_t hatchlings);
agents::Network network(uint64_t seed);

/// Compiled and built for a device; nobody lives yet.
Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed,
                                              uint32_t hatchlings);

}  // namespace hearth::hatchlings
