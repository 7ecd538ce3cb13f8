// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Seeds of an environment's episodes.

#pragma once

#include "random.hpp"

#include <cstdint>

namespace hearth::environments {

/// Yields the given seed for the first episode; later ones have seeds derived from it.
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
