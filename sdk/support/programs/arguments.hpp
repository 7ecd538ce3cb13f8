// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Validators for numbers on command lines. CLI11's own accept -1 as the largest unsigned number,
// and NaN as within any range.

#pragma once

#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace hearth::programs {

/// Only decimal digits, from `least` to `most`.
inline CLI::Validator whole_number(uint64_t least = 0,
                                   uint64_t most = std::numeric_limits<uint64_t>::max()) {
    const std::string range =
        most == std::numeric_limits<uint64_t>::max()
            ? "a whole number" + (least > 0 ? " from " + std::to_string(least) : std::string())
            : "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
    const bool is_bounded = most != std::numeric_limits<uint64_t>::max();
    return CLI::Validator(
        [=](std::string& text) {
            uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            // CLI11 would parse a leading zero as octal.
            const bool is_plain = text == "0" || !text.starts_with('0');
            if (error == std::errc() && stop == end && is_plain && value >= least && value <= most)
                return std::string();
            return "expected " + range + ", found '" + text + "'";
        },
        is_bounded ? "[" + std::to_string(least) + " - " + std::to_string(most) + "]" : "");
}

/// A finite number from `least` to `most`.
inline CLI::Validator finite_number(double least, double most) {
    return CLI::Validator(
        [=](std::string& text) {
            double value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc() && stop == end && value >= least && value <= most)
                return std::string();
            const auto shown = [](double bound) {
                char digits[32];
                return std::string(digits,
                                   std::to_chars(digits, digits + sizeof digits, bound).ptr);
            };
            return "expected a number from " + shown(least) + " to " + shown(most) + ", found '" +
                   text + "'";
        },
        "");
}

/// Index of a device, or -1 for the best one.
inline CLI::Validator device_index() {
    return CLI::Validator(
        [](std::string& text) {
            return text == "-1" ? std::string() : whole_number(0, 1000)(text);
        },
        "");
}

}  // namespace hearth::programs
