// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the episodes of a world depend on.

#pragma once

#include "random.hpp"

#include <cstdint>

namespace hearth::environments {

/// The episode that a seed was given for has that seed; those after it have seeds drawn from it.
class EpisodeSeeds {
  public:
    uint64_t begin(uint64_t seed) {
        seed_ = seed;
        episode_ = 0;
        return seed;
    }
    uint64_t next() { return scenes::random_bits(seed_, scenes::Stream::kWorld, ++episode_); }

  private:
    uint64_t seed_ = 0;
    uint64_t episode_ = 0;
};

}  // namespace hearth::environments
