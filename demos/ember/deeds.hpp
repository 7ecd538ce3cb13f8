// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A record of a life, and the goals of the game, which are made of that: nothing
// that the player does counts, only what the creature does because of it.

#pragma once

#include "ember/world.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace hearth::ember {

/// Counts of a life; kept with the creature.
struct Deeds {
    uint32_t walks = 0;             ///< things that it went to and reached by itself
    uint32_t meals = 0;             ///< berries and mushrooms that it found by itself
    uint32_t fed = 0;               ///< those that it was led to
    uint32_t warmings = 0;          ///< lanterns that it sought when cold
    uint32_t comes = 0;             ///< times that it came to the hand
    uint32_t escapes = 0;           ///< times that it ran from the hand
    uint32_t songs = 0, spins = 0;  ///< at their sign
    /// Right uses of each word since the last wrong one.
    std::array<uint32_t, kThingCount> said{};
    uint32_t words = 0;    ///< bits: words that it has known
    uint32_t nights = 0;   ///< of the garden
    uint32_t reached = 0;  ///< bits: goals
    uint32_t days = 0;     ///< days of the calendar on which it was played with
    int64_t last_day = -1;

    /// An act of its own has ended. before: needs as they were.
    void note_act(const World& world, const Needs& before);
    /// It says a word, or none, at the first sight of a thing, or of none.
    void note_word(std::optional<Thing> seen, std::optional<Thing> heard);
    void note_night(const World& world);
    void note_day(int64_t day);
    /// Goals that are reached remain so.
    void note_goals();
};

/// Goals, by when a player may reach them. Those of ten minutes are ways of life: who is kind gets a
/// friend, who is not a free spirit, who is away one that looks after itself.
enum class Goal : uint8_t {
    kFirstSteps,  // two minutes
    kFirstMeal,
    kFriend,  // ten minutes
    kFirstWords,
    kTrick,
    kSelfReliant,
    kFree,
    kAllWords,  // a week
    kBothTricks,
    kThirtyNights,
    kSevenDays,
};
constexpr size_t kGoalCount = 11;

enum class Horizon : uint8_t { kTwoMinutes, kTenMinutes, kWeek };
constexpr Horizon horizon_of(Goal goal) {
    if (goal < Goal::kFriend) return Horizon::kTwoMinutes;
    return goal < Goal::kAllWords ? Horizon::kTenMinutes : Horizon::kWeek;
}

/// Fraction of a goal that has been reached: 1 is done.
float progress_of(Goal goal, const Deeds& deeds);
inline bool is_done(Goal goal, const Deeds& deeds) {
    return progress_of(goal, deeds) >= 1;
}
/// Both goals of two minutes; one of ten; seven days and another of a week.
bool has_reached(Horizon horizon, const Deeds& deeds);

}  // namespace hearth::ember
