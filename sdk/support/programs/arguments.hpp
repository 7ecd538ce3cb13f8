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

/// Only decimal digits, from `min_value` to `max_value`.
inline CLI::Validator whole_number(uint64_t min_value = 0,
                                   uint64_t max_value = std::numeric_limits<uint64_t>::max()) {
    const std::string range =
        max_value == std::numeric_limits<uint64_t>::max()
            ? "a whole number" +
                  (min_value > 0 ? " from " + std::to_string(min_value) : std::string())
            : "a whole number from " + std::to_string(min_value) + " to " +
                  std::to_string(max_value);
    const bool is_bounded = max_value != std::numeric_limits<uint64_t>::max();
    return CLI::Validator(
        [=](std::string& text) {
            uint64_t value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            // CLI11 would parse a leading zero as octal.
            const bool is_plain = text == "0" || !text.starts_with('0');
            if (error == std::errc() && stop == end && is_plain && value >= min_value &&
                value <= max_value)
                return std::string();
            return "expected " + range + ", found '" + text + "'";
        },
        is_bounded ? "[" + std::to_string(min_value) + " - " + std::to_string(max_value) + "]"
                   : "");
}

/// A finite number from `min_value` to `max_value`.
inline CLI::Validator finite_number(double min_value, double max_value) {
    return CLI::Validator(
        [=](std::string& text) {
            double value = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error == std::errc() && stop == end && value >= min_value && value <= max_value)
                return std::string();
            const auto shown = [](double bound) {
                char digits[32];
                return std::string(digits,
                                   std::to_chars(digits, digits + sizeof digits, bound).ptr);
            };
            return "expected a number from " + shown(min_value) + " to " + shown(max_value) +
                   ", found '" + text + "'";
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
