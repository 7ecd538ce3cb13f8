// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Clearings of Hatchlings, many at a time.

#pragma once

#include "hatchlings/world.hpp"

#include <hearth/status.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace hearth::train {

class HatchlingsWorlds {
  public:
    static constexpr int64_t kInOne = 16;  ///< hatchlings of a clearing, as in the game
    /// An episode is a minute of a clearing; then another one begins.
    static constexpr uint64_t kEpisodeFrames = 60 * hatchlings::kFramesPerSecond;

    /// hatchlings: a multiple of kInOne.
    HatchlingsWorlds(int64_t hatchlings, uint64_t seed);

    /// [hatchlings, kObservationWidth]
    void observe(std::span<float> out) const;
    /// What a decision of a hatchling came to.
    struct Outcome {
        float reward = 0;
        float end = 0;             ///< 2 where the minute is over: cut off
        float episode_return = 0;  ///< then
    };
    /// One decision of each.  thrust: [hatchlings, 2]
    std::vector<Outcome> step(std::span<const float> thrust);
    /// New clearings in place of those whose minute is over.
    void begin_anew();
    /// Of all hatchlings since their worlds began.
    std::span<const float> returns() const { return returns_; }

    std::vector<std::byte> save() const;
    /// Errors: kCorruptData for bytes that save() did not write, or of other counts.
    Status load(std::span<const std::byte> bytes);

  private:
    std::vector<hatchlings::World> worlds_;
    std::vector<float> returns_;
};

}  // namespace hearth::train
