// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The ghost's brain: its network and learner, on a device.

#pragma once

#include "ghost_lap/learner.hpp"
#include "host/mind.hpp"

namespace hearth::ghost_lap {

agents::AgentManifest manifest();
/// Traces all entries, with a network of 8-32-32-2. seed: of the initial random weights.
agents::AgentGraphs trace_brain(uint64_t seed);

/// Compiles and builds them for a device; there are no agents yet.
Result<std::unique_ptr<demo::Mind>> make_mind(standalone::Device& device, uint64_t seed);

}  // namespace hearth::ghost_lap
