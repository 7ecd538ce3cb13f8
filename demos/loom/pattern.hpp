// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What is to be woven: a picture drawn by code, which the player may paint on.

#pragma once

#include <glm/vec2.hpp>
#include <glm/vec3.hpp>

#include <span>
#include <vector>

namespace hearth::loom {

class Pattern {
  public:
    Pattern();

    /// Texels from the top left, row by row: red, green and blue from 0 to 1.
    std::span<const float> texels() const { return texels_; }

    /// Draws the landscape anew as it is so many seconds after noon.
    void draw(float seconds);
    /// A soft dab of colour.  at: in [0, 1], from the top left; radius: in parts of a side.
    void dab(glm::vec2 at, float radius, glm::vec3 colour);

  private:
    std::vector<float> texels_;
};

}  // namespace hearth::loom
