// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Static scenery: grass, asphalt, kerbs, the start line, trees.

#pragma once

#include "ghost_lap/track.hpp"
#include "host/canvas.hpp"

namespace hearth::ghost_lap {

constexpr demo::Color kGrass = demo::Color::hex(0x3f6b3c);

/// Draws the circuit and its surroundings, in metres.
void draw_scenery(demo::Canvas& canvas, const Track& track);

}  // namespace hearth::ghost_lap
