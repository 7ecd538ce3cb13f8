// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The target picture, drawn by code; the player may paint on it.

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

    /// Redraws the landscape as it is `seconds` after noon.
    void draw(float seconds);
    /// Paints a soft dab of colour. at: in [0, 1], from the top left; radius: relative to a side.
    void dab(glm::vec2 at, float radius, glm::vec3 colour);

  private:
    std::vector<float> texels_;
};

}  // namespace hearth::loom
