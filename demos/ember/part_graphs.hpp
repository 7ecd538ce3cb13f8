// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The studio's half of a brain: its four parts as tensor code, with their learners. The game has only
// what cook_ember makes of them (parts.hpp).

#pragma once

#include "parts.hpp"

#include <hearth/agents/learners.hpp>

namespace hearth::ember {

/// A part before it is compiled.
struct PartGraphs {
    agents::AgentGraphs graphs;
    agents::AgentManifest manifest;
};

PartGraphs trace_part(Part part);

}  // namespace hearth::ember
