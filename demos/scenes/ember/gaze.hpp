// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A creature's view: a picture of 32 x 32 pixels of one thing and its surroundings, drawn in
// plain shapes, with the light of the hour and small differences between things of one kind.

#pragma once

#include "ember/dice.hpp"
#include "ember/things.hpp"

#include <array>
#include <optional>

namespace hearth::ember {

constexpr size_t kGazeSide = 32;
/// Channels red, green, blue; rows from top to bottom; values from 0 to 1.
using Gaze = std::array<float, 3 * kGazeSide * kGazeSide>;

struct GazeOptions {
    std::optional<Thing> thing;  ///< none: only the ground
    Place place = Place::kMeadow;
    float daylight = 1;
};

/// Draws what is seen at a glance; `dice` decide how the thing looks and where the eye rests.
Gaze look_at(const GazeOptions& options, Dice& dice);

}  // namespace hearth::ember
