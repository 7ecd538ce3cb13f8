// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ghost_lap/learner.hpp"

#include "ghost_lap/observation.hpp"

namespace hearth::ghost_lap {

using agents::Actions;
using agents::Fields;

agents::AgentSchema schema() {
    // The race scales what it shows, so ranges are as they are.
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
    clone.capacity = 2048;  // the last minute and a half
    clone.loss = agents::CloneLoss::kSquared;
    return clone;
}

}  // namespace hearth::ghost_lap
