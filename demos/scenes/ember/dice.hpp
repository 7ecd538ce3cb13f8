// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Random numbers of a game that is saved: the state is a seed and a counter.

#pragma once

#include "random.hpp"

#include <glm/vec2.hpp>

#include <cstddef>
#include <cstdint>

namespace hearth::ember {

struct Dice {
    uint64_t seed = 1;
    uint64_t counter = 0;

    /// In [-1, 1).
    float symmetric() { return scenes::random_signed(seed, scenes::Stream::kWorld, counter++); }
    float uniform(float low, float high) {
        return low + (high - low) * (0.5f + 0.5f * symmetric());
    }
    bool chance(float probability) { return uniform(0, 1) < probability; }
    /// In [0, count).
    size_t below(size_t count) {
        return scenes::random_bits(seed, scenes::Stream::kWorld, counter++) % count;
    }
    glm::vec2 inside(glm::vec2 low, glm::vec2 high) {
        const float x = uniform(low.x, high.x);
        return {x, uniform(low.y, high.y)};
    }
};

}  // namespace hearth::ember
