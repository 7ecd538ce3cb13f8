// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ember/gaze.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>
#include <glm/vec3.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::ember {
namespace {

using glm::vec2;
using glm::vec3;

/// A picture on a plane from -1 to 1, y up, with soft edges.
class Sketch {
  public:
    Sketch(vec3 sky, vec3 ground, float horizon) {
        for (size_t y = 0; y < kGazeSide; ++y)
            for (size_t x = 0; x < kGazeSide; ++x)
                pixels_[y * kGazeSide + x] = place_of(x, y).y > horizon ? sky : ground;
    }

    /// Fills where `distance`, in units of the plane, is negative.
    template <class Distance>
    void fill(vec3 color, Distance distance) {
        constexpr float kSoft = 1.0f / kGazeSide;
        for (size_t y = 0; y < kGazeSide; ++y)
            for (size_t x = 0; x < kGazeSide; ++x) {
                const float inside =
                    std::clamp(0.5f - distance(place_of(x, y)) / (2 * kSoft), 0.0f, 1.0f);
                vec3& pixel = pixels_[y * kGazeSide + x];
                pixel = glm::mix(pixel, color, inside);
            }
    }
    void ellipse(vec3 color, vec2 center, vec2 half) {
        fill(color, [&](vec2 p) {
            return (glm::length((p - center) / half) - 1) * std::min(half.x, half.y);
        });
    }
    void box(vec3 color, vec2 center, vec2 half) {
        fill(color, [&](vec2 p) {
            const vec2 d = glm::abs(p - center) - half;
            return std::max(d.x, d.y);
        });
    }
    void line(vec3 color, vec2 from, vec2 to, float width) {
        fill(color, [&](vec2 p) {
            const vec2 way = to - from;
            const float t = std::clamp(glm::dot(p - from, way) / glm::dot(way, way), 0.0f, 1.0f);
            return glm::distance(p, from + t * way) - 0.5f * width;
        });
    }

    Gaze develop(float light, Dice& dice) const {
        const vec3 tint = glm::mix(vec3(0.25f, 0.3f, 0.5f), vec3(1), light);
        Gaze gaze{};
        for (size_t i = 0; i < pixels_.size(); ++i)
            for (int c = 0; c < 3; ++c)
                gaze[static_cast<size_t>(c) * pixels_.size() + i] =
                    std::clamp(pixels_[i][c] * tint[c] + 0.04f * dice.symmetric(), 0.0f, 1.0f);
        return gaze;
    }

  private:
    static vec2 place_of(size_t x, size_t y) {
        constexpr float kStep = 2.0f / kGazeSide;
        return {(static_cast<float>(x) + 0.5f) * kStep - 1,
                1 - (static_cast<float>(y) + 0.5f) * kStep};
    }
    std::array<vec3, kGazeSide * kGazeSide> pixels_;
};

/// The place of a thing in the picture: its foot, and its size.
struct Spot {
    vec2 foot;
    float size;
    vec2 at(float x, float y) const { return foot + size * vec2(x, y); }
};

void draw_berry(Sketch& sketch, const Spot& spot, Dice& dice) {
    sketch.ellipse({0.16f, 0.42f, 0.2f}, spot.at(0, 0.6f), spot.size * vec2(0.75f, 0.6f));
    const int berries = 4 + static_cast<int>(dice.below(4));
    for (int i = 0; i < berries; ++i)
        sketch.ellipse({0.85f, 0.15f, 0.3f},
                       spot.at(0.5f * dice.symmetric(), 0.6f + 0.4f * dice.symmetric()),
                       spot.size * vec2(0.13f));
}

void draw_mushroom(Sketch& sketch, const Spot& spot, Dice& dice) {
    const float cap = dice.uniform(0.5f, 0.75f);
    sketch.box({0.93f, 0.88f, 0.78f}, spot.at(0, 0.35f), spot.size * vec2(0.15f, 0.4f));
    sketch.ellipse({0.62f, 0.4f, 0.75f}, spot.at(0, 0.8f), spot.size * vec2(cap, 0.35f));
    for (int i = 0; i < 3; ++i)
        sketch.ellipse({0.97f, 0.93f, 0.98f},
                       spot.at(0.6f * cap * dice.symmetric(), 0.85f + 0.15f * dice.symmetric()),
                       spot.size * vec2(0.08f));
}

void draw_shell(Sketch& sketch, const Spot& spot, Dice& dice) {
    const float lean = 0.2f * dice.symmetric();
    sketch.ellipse({0.97f, 0.76f, 0.62f}, spot.at(lean, 0.38f), spot.size * vec2(0.7f, 0.42f));
    for (int i = -2; i <= 2; ++i)
        sketch.line({0.75f, 0.48f, 0.4f}, spot.at(lean, 0.02f),
                    spot.at(lean + 0.28f * static_cast<float>(i), 0.72f), spot.size * 0.06f);
}

void draw_lantern(Sketch& sketch, const Spot& spot, Dice& dice) {
    const float height = dice.uniform(0.95f, 1.25f);
    sketch.box({0.22f, 0.2f, 0.24f}, spot.at(0, 0.4f * height), spot.size * vec2(0.07f, 0.4f));
    sketch.ellipse({1.5f, 1.2f, 0.55f}, spot.at(0, height), spot.size * vec2(0.36f, 0.42f));
    sketch.box({0.22f, 0.2f, 0.24f}, spot.at(0, height + 0.42f), spot.size * vec2(0.3f, 0.07f));
}

void draw_thistle(Sketch& sketch, const Spot& spot, Dice& dice) {
    const float lean = 0.15f * dice.symmetric();
    const vec2 head = spot.at(lean, 0.95f);
    sketch.line({0.35f, 0.5f, 0.36f}, spot.foot, head, spot.size * 0.1f);
    for (int i = 0; i < 9; ++i) {
        const float angle = 0.7f * static_cast<float>(i) + 0.2f * dice.symmetric();
        sketch.line({0.52f, 0.62f, 0.85f}, head,
                    head + spot.size * 0.5f * vec2(std::cos(angle), std::sin(angle)),
                    spot.size * 0.07f);
    }
    sketch.ellipse({0.3f, 0.35f, 0.62f}, head, spot.size * vec2(0.2f));
}

}  // namespace

Gaze look_at(const GazeOptions& options, Dice& dice) {
    constexpr vec3 kSky[] = {{0.62f, 0.8f, 0.93f}, {0.3f, 0.42f, 0.38f}, {0.7f, 0.85f, 0.95f}};
    constexpr vec3 kGround[] = {{0.47f, 0.66f, 0.32f}, {0.33f, 0.36f, 0.22f}, {0.88f, 0.8f, 0.6f}};
    const auto place = static_cast<size_t>(options.place);
    Sketch sketch(kSky[place], kGround[place], dice.uniform(-0.1f, 0.3f));
    const Spot spot{{0.3f * dice.symmetric(), -0.6f + 0.15f * dice.symmetric()},
                    dice.uniform(0.65f, 0.95f)};
    if (options.thing) {
        using Draw = void (*)(Sketch&, const Spot&, Dice&);
        constexpr Draw kDraw[] = {draw_berry, draw_mushroom, draw_shell, draw_lantern,
                                  draw_thistle};
        kDraw[static_cast<size_t>(*options.thing)](sketch, spot, dice);
    }
    return sketch.develop(options.daylight, dice);
}

}  // namespace hearth::ember
