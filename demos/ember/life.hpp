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
    int64_t seconds = 0;  ///< now, since 1970; 0: unknown
};

/// Its sleep while the game was closed: it learns from its memories again, one of each kind in a
/// frame. The garden stands still meanwhile.
struct Sleep {
    double hours = 0;                        ///< between keeping it and now
    uint32_t lessons = 0, lessons_done = 0;  ///< frames of learning
    // Dreams so far, by subject:
    std::array<uint32_t, kThingCount> things{};
    uint32_t hands = 0, words = 0;

    bool is_over() const { return lessons_done == lessons; }
};

class Life {
  public:
    static Result<Life> create(const Context& context, const PartPrograms& programs,
                               const LifeOptions& options);
    /// Goes on with a creature that was kept; it sleeps at first.
    /// Errors: also those of its brain, naming the part.
    static Result<Life> resume(const Context& context, const PartPrograms& programs,
                               LifeOptions options, const Kept& kept);

    /// Call once a frame, after Context::begin_frame(): takes over answers, obeys the player, asks
    /// and learns.
    Status record(VkCommandBuffer commands, const Gesture& gesture);
    /// Advances the world by a frame, after record().
    void step();

    /// Tells the time of the clock, in seconds since 1970; once a second will do.
    void tell_time(int64_t seconds);
    /// Everything that is kept of it: the garden as it is now, and what was learned until a second
    /// ago.
    Result<Kept> keep(std::string name) const;

    /// Microseconds of learning in a frame, from now on.
    void set_budget(double budget_us) { options_.budget_us = budget_us; }

    const World& world() const { return world_; }
    const Sleep& sleep() const { return sleep_; }
    const Deeds& deeds() const { return deeds_; }
    const Memories& memories() const { return memories_; }
    Mind& mind() { return mind_; }
    const Mind& mind() const { return mind_; }

  private:
    Life(const LifeOptions& options) : options_(options), world_(options.seed) {}

    void fall_asleep(double hours);
    Status dream();
    Status feel();
    Status obey(const Gesture& gesture);
    Status decide();
    Status walk(const Gesture& gesture);
    Status expect();
    Status look();
    Status hear_name(const Gesture& gesture);
    Status be_shown(uint32_t item);
    float progress();
    void begin_act(const Senses& senses, Act act);
    GazeOptions view_of(std::optional<uint32_t> item) const;
    Gaze glance(std::optional<uint32_t> item);
    void note_deeds(const Needs& before);

    /// Senses of some seconds ago, and the feelings since.
    struct Moment {
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
    std::deque<Moment> moments_;
    std::optional<FeltAct> act_, dreamt_act_;  ///< in progress, and how it has felt
    Senses asked_{};                           ///< senses of the question to the will
    std::optional<Lesson> lesson_;
    std::optional<uint32_t> looks_at_;  ///< an item
    bool looks_anew_ = false;
    bool was_over_ = true;
    int64_t seconds_ = 0;
    Sleep sleep_;
    Deeds deeds_;
    Memories memories_;
    Dice memory_dice_{11};
};

}  // namespace hearth::ember
