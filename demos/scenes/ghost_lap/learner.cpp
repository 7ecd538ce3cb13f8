// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines the observations, actions and learner of ghosts.

#include "ghost_lap/learner.hpp"

#include "ghost_lap/observation.hpp"

namespace hearth::ghost_lap {

using agents::Actions;
using agents::Fields;

agents::AgentSchema schema() {
    // Observations are already scaled, so default ranges fit.
    return agents::AgentSchema(Fields()
                                   .numbers("speed")
                                   .numbers("offset")
                                   .numbers("heading_error")
                                   .numbers("turn_ahead", kLookAheadCount),
                               Actions().drive("steer").drive("throttle"));
}

agents::Clone learner() {
    agents::Clone clone;
    clone.agents = 2;
    clone.capacity = 2048;  // about the last 100 s
    clone.loss = agents::CloneLoss::kSquared;
    return clone;
}

}  // namespace hearth::ghost_lap
