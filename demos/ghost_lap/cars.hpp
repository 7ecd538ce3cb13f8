// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws everything that moves: the cars, the marks they leave, and the lines they drove.

#pragma once

#include "ghost_lap/race.hpp"
#include "host/canvas.hpp"

#include <deque>
#include <vector>

namespace hearth::ghost_lap {

constexpr demo::Color kPlayerColor = demo::Color::hex(0xff8a2a);
constexpr demo::Color kGhostColor = demo::Color::hex(0x57d8ff);
constexpr demo::Color kRivalColor = demo::Color::hex(0xe58cff);
constexpr demo::Color kTaughtColor = demo::Color::hex(0xffe45c);  ///< of corrections

/// Skid marks on the road and dust beside it, which fade out.
class Marks {
  public:
    /// Call once a frame for each car.
    void add(const Racer& racer, Action action, uint64_t frame);
    void draw(demo::Canvas& canvas, uint64_t frame) const;

  private:
    struct Skid {
        glm::vec2 from[2];
        glm::vec2 to[2];
        float strength;
        uint64_t frame;
    };
    struct Puff {
        glm::vec2 position;
        glm::vec2 drift;
        float size;
        uint64_t frame;
    };
    struct Last {
        const Racer* racer;
        Car car;
    };
    std::deque<Skid> skids_;
    std::deque<Puff> puffs_;
    std::vector<Last> last_;
};

/// The places where the person recently steered the ghost.
class Corrections {
  public:
    /// Call once a frame.
    void add(const Race& race);
    void draw(demo::Canvas& canvas) const;

  private:
    std::deque<std::vector<glm::vec2>> strokes_;
    bool is_open_ = false;
};

/// Draws a car from above; a ghost is translucent and glows.
void draw_car(demo::Canvas& canvas, const Car& car, Action action, demo::Color color,
              bool is_ghost);
/// Highlights the car that the person has taken over.
void draw_taken(demo::Canvas& canvas, const Car& car, uint64_t frame);

/// Draws the lines of both drivers' last laps, with the gap between them shaded.
void draw_lines(demo::Canvas& canvas, const Track& track, const Line* player, const Line* ghost);

}  // namespace hearth::ghost_lap
