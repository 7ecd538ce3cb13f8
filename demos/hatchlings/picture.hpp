// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The picture of the clearing: a fire-lit night.  What moves is drawn from the world and the frame's
// number alone, so pictures repeat.

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

/// The ground, the trees and the hearth's stones: drawn once.
void draw_clearing(demo::Canvas& canvas);

/// What the critic hopes for at each place, over the ground: `columns` x `rows` values, row by row
/// from the lower left.
void draw_hopes(demo::Canvas& canvas, std::span<const float> values, int columns, int rows);

struct CreatureLook {
    float alpha = 1;                 ///< below 1 for those of a replay
    std::optional<Thought> thought;  ///< shown as an arrow and a halo
    bool is_possessed = false;
    bool is_selected = false;
};
void draw_hatchling(demo::Canvas& canvas, const Hatchling& hatchling, uint32_t index,
                    uint64_t frame, const CreatureLook& look);

/// The fire, and all embers and motes.
void draw_lights(demo::Canvas& canvas, const World& world);

/// Sparks of what happened, and what the player said: they rise and fade.
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
