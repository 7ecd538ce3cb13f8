// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game without graphics: the garden, the creature's brain, and what the player does.

#pragma once

#include "ember/player.hpp"
#include "keep.hpp"
#include "mind.hpp"

#include <deque>
#include <optional>

namespace hearth::ember {

struct LifeOptions {
    uint64_t seed = 1;
    double budget_us = kNoLimit;  ///< of learning in a frame
    uint32_t frames_in_flight = 2;
};

class Life {
  public:
    static Result<Life> create(const Context& context, const PartPrograms& programs,
                               const LifeOptions& options);
    /// Goes on with a creature that was kept.
    /// Errors: also those of its brain, naming the part.
    static Result<Life> resume(const Context& context, const PartPrograms& programs,
                               LifeOptions options, const Kept& kept);

    /// Call once a frame, after Context::begin_frame(): takes over answers, obeys the player, asks
    /// and learns.
    Status record(VkCommandBuffer commands, const Gesture& gesture);
    /// Advances the world by a frame, after record().
    void step();

    /// Everything that is kept of it: the garden as it is now, and what was learned until a second
    /// ago.
    Result<Kept> keep(std::string name) const;

    const World& world() const { return world_; }
    Mind& mind() { return mind_; }
    const Mind& mind() const { return mind_; }

  private:
    Life(const LifeOptions& options) : options_(options), world_(options.seed) {}

    Status feel();
    Status obey(const Gesture& gesture);
    Status decide();
    Status walk(const Gesture& gesture);
    Status expect();
    Status look();
    Status hear_name(const Gesture& gesture);
    Status be_shown(uint32_t item);
    float progress();
    Gaze glance(std::optional<uint32_t> item);

    /// Senses of some seconds ago, and the feelings since.
    struct Memory {
        Senses senses;
        uint64_t frame = 0;
        float felt = 0;
    };
    /// A word that was heard, still looked at.
    struct Lesson {
        uint32_t item = 0;
        Thing word = Thing::kBerry;
        int glances = 0;
    };

    LifeOptions options_;
    World world_;
    Mind mind_;
    Dice eye_dice_{7};
    Steps steps_;
    bool is_led_ = false, is_walking_ = false, is_asking_ = false;
    float last_distance_ = 0;
    std::deque<Memory> memories_;
    std::optional<Lesson> lesson_;
};

}  // namespace hearth::ember
