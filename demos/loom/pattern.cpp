// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws the picture that the cloth shows.

#include "pattern.hpp"

#include "size.hpp"

#include <glm/common.hpp>
#include <glm/geometric.hpp>

#include <cmath>

namespace hearth::loom {
namespace {

// Colours of the available yarns.
constexpr glm::vec3 kNight{0.12f, 0.17f, 0.34f}, kDusk{0.93f, 0.62f, 0.36f},
    kSun{0.99f, 0.88f, 0.55f}, kFar{0.45f, 0.40f, 0.55f}, kMiddle{0.28f, 0.37f, 0.42f},
    kNear{0.13f, 0.23f, 0.24f}, kLake{0.30f, 0.45f, 0.60f}, kFrame{0.52f, 0.14f, 0.15f},
    kGold{0.87f, 0.66f, 0.25f};
constexpr float kSoft = 0.006f;  ///< half the width of an edge, relative to a side

/// 1 inside, where `distance` is negative; 0 outside.
float inside(float distance) {
    return 1.0f - glm::smoothstep(-kSoft, kSoft, distance);
}

glm::vec3 landscape(glm::vec2 at, float seconds) {
    const float turn = 0.35f * seconds;
    const glm::vec2 sun(0.5f + 0.22f * std::sin(turn), 0.34f - 0.06f * std::cos(turn));
    glm::vec3 colour = glm::mix(kNight, kDusk, glm::smoothstep(0.0f, 0.62f, at.y));
    const float away = glm::length(at - sun);
    colour = glm::mix(colour, kSun, 0.5f * std::exp(-18.0f * away * away));
    colour = glm::mix(colour, kSun, inside(away - 0.09f));
    const auto hills = [&](float base, float height, float waves, float shift, glm::vec3 yarn) {
        const float ridge = base - height * std::sin(waves * at.x + shift) -
                            0.4f * height * std::sin(2.3f * waves * at.x + 1.7f * shift);
        colour = glm::mix(colour, yarn, inside(ridge - at.y));
    };
    hills(0.55f, 0.045f, 7.0f, 0.5f + 0.2f * turn, kFar);
    hills(0.64f, 0.050f, 9.0f, 2.6f, kMiddle);
    // A lake, with the sun in it.
    const float ripple = 0.5f + 0.5f * std::sin(70.0f * at.y + 2.0f * std::sin(9.0f * at.x + turn));
    const float glint = std::exp(-60.0f * (at.x - sun.x) * (at.x - sun.x)) * ripple;
    colour = glm::mix(colour, glm::mix(kLake, kSun, 0.7f * glint), inside(0.72f - at.y));
    hills(0.86f, 0.030f, 12.0f, 4.0f, kNear);
    // Two pines before it.
    for (const glm::vec2 foot : {glm::vec2(0.19f, 0.84f), glm::vec2(0.79f, 0.86f)}) {
        const float height = (foot.y - at.y) / 0.30f;
        const float skirt = 0.075f * (1.0f - height) * (0.75f + 0.25f * std::cos(31.4f * height));
        const float beside = std::abs(at.x - foot.x) - skirt;
        colour = glm::mix(colour, kNear,
                          inside(glm::max(beside, glm::max(-height, height - 1.0f) * 0.3f)));
    }
    return colour;
}

glm::vec3 tapestry(glm::vec2 at, float seconds) {
    constexpr float kBorder = 0.075f;
    const glm::vec2 from_edge = glm::min(at, 1.0f - at);
    const float edge = glm::min(from_edge.x, from_edge.y);
    glm::vec3 colour = landscape((at - kBorder) / (1.0f - 2.0f * kBorder), seconds);
    colour = glm::mix(colour, kGold, inside(edge - kBorder));
    colour = glm::mix(colour, kFrame, inside(edge - kBorder + 0.012f));
    // Diamonds along the border.
    const float along = from_edge.x < from_edge.y ? at.y : at.x;
    const float middle = 0.5f * (kBorder - 0.012f);
    const float diamond =
        std::abs(glm::fract(12.0f * along) - 0.5f) / 12.0f + std::abs(edge - middle);
    return glm::mix(colour, kGold, inside(diamond - 0.022f));
}

}  // namespace

Pattern::Pattern() : texels_(static_cast<size_t>(3 * kTexels)) {
    draw(0.0f);
}

void Pattern::draw(float seconds) {
    for (int64_t y = 0; y < kPictureSize; ++y)
        for (int64_t x = 0; x < kPictureSize; ++x) {
            const glm::vec2 at = (glm::vec2(static_cast<float>(x), static_cast<float>(y)) + 0.5f) /
                                 float{kPictureSize};
            const glm::vec3 colour = tapestry(at, seconds);
            for (int c = 0; c < 3; ++c)
                texels_[static_cast<size_t>(3 * (y * kPictureSize + x) + c)] = colour[c];
        }
}

void Pattern::dab(glm::vec2 at, float radius, glm::vec3 colour) {
    for (int64_t y = 0; y < kPictureSize; ++y)
        for (int64_t x = 0; x < kPictureSize; ++x) {
            const glm::vec2 texel =
                (glm::vec2(static_cast<float>(x), static_cast<float>(y)) + 0.5f) /
                float{kPictureSize};
            const float cover = inside(glm::length(texel - at) - radius);
            for (int c = 0; c < 3 && cover > 0.0f; ++c) {
                float& value = texels_[static_cast<size_t>(3 * (y * kPictureSize + x) + c)];
                value = glm::mix(value, colour[c], cover);
            }
        }
}

}  // namespace hearth::loom
