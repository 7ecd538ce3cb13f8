// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The picture: the garden by day and night, its things, the hand, and the creature with its face.

#pragma once

#include "ember/world.hpp"
#include "host/canvas.hpp"
#include "palette.hpp"

#include <glm/vec2.hpp>

namespace hearth::ember {

/// Born with: what tells one creature from another at a glance.
struct Traits {
    float warmth = 0;  ///< of its coat: rose (-1) to gold (1)
    float flame = 1, eyes = 1, belly = 0;
};
Traits traits_of(uint64_t seed);

/// A creature as it looks now.
struct Look {
    const Palette* palette = nullptr;
    Traits traits;
    float mood = 0;     ///< -1 to 1
    float heading = 0;  ///< radians
    float pace = 0;     ///< 0 to 1
    float time = 0;     ///< seconds
    float glow = 0.2f;
    float shivers = 0;  ///< 0 to 1
    bool sings = false, spins = false, sleeps = false, speaks = false, blinks = false;

    demo::Color coat() const;
    demo::Color belly() const;
};

/// foot: where it stands; s: pixels of its size.
void draw_creature(demo::Canvas& canvas, glm::vec2 foot, float s, const Look& look);

/// Everything that is drawn, as of now.
struct Scene {
    const World& world;
    const Palette& palette;
    Traits traits;
    float mood = 0;   ///< how it expects the next seconds to feel, -1 to 1
    float voice = 0;  ///< of the player, fading
    bool is_asleep = false, speaks = false;
};

/// Projection of the garden onto the screen: from the front, a little from above.
class Stage {
  public:
    Stage(glm::vec2 pixels, float camera) : pixels_(pixels), camera_(camera) {}

    float horizon() const { return 0.42f * pixels_.y; }
    /// Pixels from the top left of a point on the ground.
    glm::vec2 at(glm::vec2 ground) const;
    /// The point on the ground under a pixel.
    glm::vec2 ground(glm::vec2 pixel) const;
    /// Pixels of a metre at this depth.
    float scale(float y) const { return metre() * (1.08f - 0.3f * y / kDepth); }
    glm::vec2 size() const { return pixels_; }
    float camera() const { return camera_; }

  private:
    float metre() const { return pixels_.x / 15.0f; }

    glm::vec2 pixels_;
    float camera_;
};

void draw_scene(demo::Canvas& canvas, const Stage& stage, const Scene& scene);

}  // namespace hearth::ember
