// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Substitutes for a person: a script of player commands, and a forager that gives demonstrations.

#pragma once

#include "hatchlings/world.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace hearth::hatchlings {

/// Commands of a player, as named in a script (parse_script).
enum class Verb : uint8_t {
    kPossess,  ///< takes over a hatchling: the forager's thrusts become demonstrations
    kRelease,  ///< lets it go
    kPraise,   ///< credits one hatchling's recent actions
    kScold,
    kHotNight,  ///< embers burn and frost feeds; again: a cold night
    kWind,      ///< m/s^2, two numbers
    kFrost,     ///< number of motes
    kPenalty,   ///< reward of a mote, below 0
    kAdapt,     ///< 0: a fresh optimizer, ... 1: a fresh brain
    kFreeze,    ///< stops learning; again: resumes it
    kRewind,    ///< restores a snapshot, counted from the newest
    kForget,    ///< resets to the initial brain
};

struct Command {
    uint64_t frame = 0;
    Verb verb = Verb::kRelease;
    uint32_t hatchling = 0;  ///< for possess, praise and scold
    glm::vec2 value = {0, 0};
};

/// The error of a rejected script, as in `line 3: praise needs the number of a hatchling, found
/// "all"`.
struct ScriptError {
    std::string message;
};

/// Parses a script: one line per command, frames never decreasing,
///
///     # frame verb arguments
///     600   praise 3
///     1800  wind 2 0.5
///     3600  hot_night
///
/// Blank lines and text after # are skipped; any bad line rejects the script.
std::variant<std::vector<Command>, ScriptError> parse_script(std::string_view text);

/// A hand-written forager: goes for the nearest ember and avoids frost. It has the same observation
/// as a hatchling, so its actions can be learned.
glm::vec2 forage(const Observation& observation);

}  // namespace hearth::hatchlings
