// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The vocabulary of the garden: what there is, where, and what a creature can do about it.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth::ember {

constexpr int kFramesPerSecond = 60;
constexpr float kFrameSeconds = 1.0f / kFramesPerSecond;

/// Kinds of things; each has a word that a player can teach.
enum class Thing : uint8_t { kBerry, kMushroom, kShell, kLantern, kThistle };
constexpr size_t kThingCount = 5;

/// The three places, from west to east.
enum class Place : uint8_t { kMeadow, kWood, kShore };
constexpr size_t kPlaceCount = 3;

/// Signs that a player's hand can give; which trick belongs to which is up to the player.
enum class Sign : uint8_t { kNone, kHigh, kRound };

/// A creature's possible decisions.
enum class Act : uint8_t {
    kRest,
    kWander,
    kVisitBerry,  ///< visits are in the order of Thing
    kVisitMushroom,
    kVisitShell,
    kVisitLantern,
    kVisitThistle,
    kToHand,
    kFromHand,
    kSing,
    kSpin,
};
constexpr size_t kActCount = 11;

constexpr Act visit(Thing thing) {
    return static_cast<Act>(static_cast<size_t>(Act::kVisitBerry) + static_cast<size_t>(thing));
}
constexpr bool is_visit(Act act) {
    return act >= Act::kVisitBerry && act <= Act::kVisitThistle;
}
/// The thing that a visit is for.
constexpr Thing thing_of(Act act) {
    return static_cast<Thing>(static_cast<size_t>(act) - static_cast<size_t>(Act::kVisitBerry));
}

/// One flag for each act.
using ActMask = std::array<bool, kActCount>;

}  // namespace hearth::ember
