// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Defines the observations, actions and learner of ghosts.

#include "ghost_lap/learner.hpp"

#include "ghost_lap/observation.hpp"

namespace hearth::ghost_lap {

using agents::ActionSpec;
using agents::ObservationSpec;

agents::AgentSpec schema() {
    // Observations are already scaled, so default ranges fit.
    return agents::AgentSpec(ObservationSpec()
                                 .box("speed")
                                 .box("offset")
                                 .box("heading_error")
                                 .box("turn_ahead", kLookAheadCount),
                             ActionSpec().continuous("steer").continuous("throttle"));
}

agents::BehaviorCloning learner() {
    agents::BehaviorCloning clone;
    clone.n_agents = 2;
    clone.buffer_size = 2048;  // about the last 100 s
    clone.loss = agents::BcLoss::kMse;
    return clone;
}

}  // namespace hearth::ghost_lap
