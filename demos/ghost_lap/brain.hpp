// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The ghost as an agent: what it senses and does, and how it learns from whoever drives.

#pragma once

#include "host/mind.hpp"

namespace hearth::ghost_lap {

agents::AgentSchema schema();
/// Of two agents: the person, who demonstrates, and the ghost, who acts.
agents::Clone learner();
agents::AgentManifest manifest();
/// All entries, with a network of 8-32-32-2.  seed: of the random weights it starts with.
agents::Traces trace_brain(uint64_t seed);

/// Compiled and built for a device; there are no agents yet.
Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed);

}  // namespace hearth::ghost_lap
