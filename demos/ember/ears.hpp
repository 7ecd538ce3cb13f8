// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What is heard of the garden: notes for what has happened since the frame before.

#pragma once

#include "ember/world.hpp"
#include "sounds.hpp"

#include <optional>

namespace hearth::ember {

struct Heard {
    const World& world;
    uint64_t seed = 1;  ///< of the creature: its song
    float mood = 0;
    float voice = 0;            ///< of the player in this frame
    std::optional<Thing> word;  ///< that it says
};

class Ears {
  public:
    /// Call once a frame of the world.
    std::vector<Note> hear(const Heard& now);

  private:
    bool is_over_ = true, is_night_ = false, is_first_ = true;
    Act act_ = Act::kRest;
    int step_ = 0;
    std::optional<Thing> word_;
    float mood_ = 0;  ///< at the last cry
    uint64_t next_word_ = 0, next_cry_ = 0;
};

/// The air where the picture's middle is, x in metres.
Air air_at(const World& world, float x);

}  // namespace hearth::ember
