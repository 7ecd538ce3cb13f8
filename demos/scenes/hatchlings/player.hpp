// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Who plays: a script that does what a person could do, and a forager that shows how it is done.

#pragma once

#include "hatchlings/world.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace hearth::hatchlings {

/// What a player does, in the words of a script (parse_script).
enum class Verb : uint8_t {
    kPossess,  ///< takes over a hatchling: the forager's thrusts become demonstrations
    kRelease,  ///< lets it go
    kPraise,   ///< credits one hatchling's last moments
    kScold,
    kHotNight,  ///< embers burn and frost feeds; again: a cold night
    kWind,      ///< m/s^2, two numbers
    kFrost,     ///< how many motes
    kPenalty,   ///< what a mote costs, a number below 0
    kAdapt,     ///< 0: a fresh optimizer, ... 1: a fresh brain
    kFreeze,    ///< stops learning; again: goes on
    kRewind,    ///< back to a snapshot, so many before the newest
    kForget,    ///< back to the factory's brain
};

struct Command {
    uint64_t frame = 0;
    Verb verb = Verb::kRelease;
    uint32_t hatchling = 0;  ///< of possess, praise and scold
    glm::vec2 value = {0, 0};
};

/// Why a script was refused, as in `line 3: praise needs the number of a hatchling, found "all"`.
struct ScriptError {
    std::string message;
};

/// Reads a script: a line for each command, frames never decreasing,
///
///     # frame verb arguments
///     600   praise 3
///     1800  wind 2 0.5
///     3600  hot_night
///
/// Blank lines and text after # are skipped; the first bad line refuses it all.
std::variant<std::vector<Command>, ScriptError> parse_script(std::string_view text);

/// A forager written by hand: goes for the nearest ember, and around frost.  It sees what a hatchling
/// sees, so what it does can be learned from.
glm::vec2 forage(const Observation& observation);

}  // namespace hearth::hatchlings
