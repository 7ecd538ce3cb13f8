// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "deeds.hpp"

#include <algorithm>
#include <bit>

namespace hearth::ember {
namespace {

constexpr float kCold = 0.2f;
constexpr uint32_t kSure = 4;  ///< right uses of a word in a row that show that it is known

float ratio(uint32_t count, uint32_t wanted) {
    return std::min(static_cast<float>(count) / static_cast<float>(wanted), 1.0f);
}

float ratio_of_bits(uint32_t bits, uint32_t wanted) {
    return ratio(static_cast<uint32_t>(std::popcount(bits)), wanted);
}

/// One kind of answer to the hand, less half of the other.
uint32_t more(uint32_t of_this, uint32_t of_that) {
    return of_this - std::min(of_this, of_that / 2);
}

}  // namespace

void Deeds::note_act(const World& world, const Needs& before) {
    const Doing& doing = world.doing();
    if (!doing.succeeded) return;
    if (is_visit(doing.act)) ++walks;
    switch (doing.act) {
        case Act::kVisitBerry:
        case Act::kVisitMushroom:
            ++meals;
            return;
        case Act::kVisitLantern:
            if (before.cold >= kCold) ++warmings;
            return;
        case Act::kToHand:
            ++comes;
            return;
        case Act::kFromHand:
            ++escapes;
            return;
        case Act::kSing:
            if (world.hand().sign == Sign::kHigh) ++songs;
            return;
        case Act::kSpin:
            if (world.hand().sign == Sign::kRound) ++spins;
            return;
        default:
            return;
    }
}

void Deeds::note_word(std::optional<Thing> seen, std::optional<Thing> heard) {
    if (!heard) return;
    const auto word = static_cast<size_t>(*heard);
    said[word] = heard == seen ? std::min(said[word] + 1, kSure) : 0;
    if (said[word] == kSure) words |= 1u << word;
}

void Deeds::note_night(const World& world) {
    // Nights begin half a day after days do.
    nights = static_cast<uint32_t>(world.seconds() / double{kDaySeconds} + 0.5);
}

void Deeds::note_day(int64_t day) {
    if (day == last_day) return;
    last_day = day;
    ++days;
}

void Deeds::note_goals() {
    for (size_t i = 0; i < kGoalCount; ++i)
        if (is_done(static_cast<Goal>(i), *this)) reached |= 1u << i;
}

float progress_of(Goal goal, const Deeds& deeds) {
    if ((deeds.reached >> static_cast<unsigned>(goal) & 1) != 0) return 1;
    switch (goal) {
        case Goal::kFirstSteps:
            return ratio(deeds.walks, 3);
        case Goal::kFirstMeal:
            return ratio(deeds.meals + deeds.fed, 1);
        case Goal::kFriend:
            return ratio(more(deeds.comes, deeds.escapes), 15);
        case Goal::kFirstWords:
            return ratio_of_bits(deeds.words, 3);
        case Goal::kTrick:
            return ratio(std::max(deeds.songs, deeds.spins), 5);
        case Goal::kSelfReliant:
            return std::min(ratio(deeds.meals, 8), ratio(deeds.warmings, 1));
        case Goal::kFree:
            return ratio(more(deeds.escapes, deeds.comes), 6);
        case Goal::kAllWords:
            return ratio_of_bits(deeds.words, kThingCount);
        case Goal::kBothTricks:
            return std::min(ratio(deeds.songs, 20), ratio(deeds.spins, 20));
        case Goal::kThirtyNights:
            return ratio(deeds.nights, 30);
        case Goal::kSevenDays:
            return ratio(deeds.days, 7);
    }
    return 0;
}

bool has_reached(Horizon horizon, const Deeds& deeds) {
    uint32_t done = 0;
    for (size_t i = 0; i < kGoalCount; ++i) {
        const Goal goal = static_cast<Goal>(i);
        if (horizon_of(goal) == horizon && is_done(goal, deeds)) ++done;
    }
    switch (horizon) {
        case Horizon::kTwoMinutes:
            return done == 2;
        case Horizon::kTenMinutes:
            return done >= 1;
        case Horizon::kWeek:
            return done >= 2 && is_done(Goal::kSevenDays, deeds);
    }
    return false;
}

}  // namespace hearth::ember
