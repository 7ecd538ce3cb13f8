// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What ghosts sense and do, and how they learn from whoever drives.

#pragma once

#include <hearth/agents/learners.hpp>

namespace hearth::ghost_lap {

agents::AgentSchema schema();
/// Of two agents: the person, who demonstrates, and the ghost, who acts.
agents::Clone learner();

}  // namespace hearth::ghost_lap
