// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the player has set, and its file: lines of "key = value".

#pragma once

#include <hearth/status.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace hearth::ember {

/// How much time the creature takes for learning.
enum class Eagerness : uint8_t { kGently, kSteadily, kEagerly };
constexpr size_t kEagernessCount = 3;
/// Microseconds of a frame.
double budget_us(Eagerness eagerness);

struct Settings {
    float volume = 0.7f;                ///< 0 to 1
    float text_size = 1;                ///< 0.75 to 1.75
    bool has_distinct_colours = false;  ///< for eyes that confuse red and green, or blue and yellow
    bool is_full_screen = false;
    Eagerness eagerness = Eagerness::kSteadily;
    std::string last;  ///< name of the creature that was played with last; empty: none
    bool operator==(const Settings&) const = default;
};

std::string to_text(const Settings& settings);
/// Lines with unknown keys, of later versions, are skipped.
/// Errors: kCorruptData naming the line.
Result<Settings> settings_of(std::string_view text);

/// Defaults if there is no such file.
/// Errors: those of read_whole_file() and settings_of().
Result<Settings> load_settings(const std::string& path);

}  // namespace hearth::ember
