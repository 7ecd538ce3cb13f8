// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the clearing at night, lit by a fire. Animation depends only on the world and the frame
// number, so pictures are reproducible.

#pragma once

#include "hatchlings/world.hpp"
#include "host/canvas.hpp"
#include "insight.hpp"

#include <deque>
#include <optional>
#include <span>

namespace hearth::hatchlings {

constexpr demo::Color kNight = demo::Color::hex(0x0a1012);
constexpr demo::Color kWarm = demo::Color::hex(0xffb454);
constexpr demo::Color kCold = demo::Color::hex(0x8fd3ff);

/// Draws the ground, the trees and the hearth's stones; static.
void draw_clearing(demo::Canvas& canvas);

/// Overlays the critic's value at each point: `columns` x `rows` values, row by row from the lower
/// left.
void draw_hopes(demo::Canvas& canvas, std::span<const float> values, int columns, int rows);

struct CreatureLook {
    float alpha = 1;                 ///< below 1 in a replay
    std::optional<Thought> thought;  ///< shown as an arrow and a halo
    bool is_possessed = false;
    bool is_selected = false;
};
void draw_hatchling(demo::Canvas& canvas, const Hatchling& hatchling, uint32_t index,
                    uint64_t frame, const CreatureLook& look);

/// Draws the fire, and all embers and motes.
void draw_lights(demo::Canvas& canvas, const World& world);

/// Particles for events and the player's feedback, which rise and fade.
class Sparks {
  public:
    enum class Kind : uint8_t { kEmber, kFrost, kPraise, kScold };
    void add(Kind kind, glm::vec2 position, uint64_t frame);
    void add(const World& world);
    void draw(demo::Canvas& canvas, uint64_t frame);

  private:
    struct Spark {
        Kind kind;
        glm::vec2 position;
        uint64_t frame;
    };
    std::deque<Spark> sparks_;
};

}  // namespace hearth::hatchlings
