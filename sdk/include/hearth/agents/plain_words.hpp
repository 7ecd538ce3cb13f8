// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Words of a game's designer for the metrics of agents: what `hearth watch` and the panel show first.
// Header-only, in C++17 and later.

#pragma once

#include <hearth/core/span.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace hearth::agents {

/// A metric of agents that says how good they are or what they cost.
struct PlainMetric {
    std::string_view name;   ///< in run logs: "episode_return"
    std::string_view words;  ///< "return of an episode"
    std::string_view unit;   ///< "reward"
};
inline constexpr std::array<PlainMetric, 5> kPlainMetrics = {{
    {"episode_return", "return of an episode", "reward"},
    {"episode_length", "length of an episode", "decisions"},
    {"episodes", "episodes played", "episodes"},
    {"samples", "experience", "decisions"},
    {"minibatch_us_p95", "cost of a learning step", "us"},
}};

/// Null for metrics of researchers and of the game's own.
inline const PlainMetric* find_plain_metric(std::string_view name) {
    const auto* const found = std::find_if(kPlainMetrics.begin(), kPlainMetrics.end(),
                                           [&](const PlainMetric& m) { return m.name == name; });
    return found == kPlainMetrics.end() ? nullptr : found;
}

/// Course of a curve that is better the higher it is.
enum class Trend { kTooEarly, kRising, kLevel, kFalling };

struct Course {
    Trend trend = Trend::kTooEarly;
    double first = 0, now = 0;  ///< mean of the beginning, mean of the last quarter
};

/// Compares the first and the last quarter of a curve of at least eight values.  A difference counts
/// if it exceeds a tenth of the first quarter and the scatter of both.  A curve whose first quarter
/// holds most of a fast rise has risen, too, if its last quarter lies above its first sixteenth by four
/// times the scatter of what follows the first quarter.
inline Course course_of(span<const double> values) {
    constexpr size_t kMinValues = 8;
    constexpr double kNotable = 0.1, kFastRise = 4;
    Course course;
    if (values.size() < kMinValues) return course;
    const size_t count = values.size() / 4;
    const auto mean = [](span<const double> part) {
        double sum = 0;
        for (const double value : part) sum += value;
        return sum / static_cast<double>(part.size());
    };
    const auto scatter = [](span<const double> part, double middle) {
        double sum = 0;
        for (const double value : part) sum += std::abs(value - middle);
        return sum / static_cast<double>(part.size());
    };
    const span<const double> first = values.first(count),
                             last = values.subspan(values.size() - count);
    course.first = mean(first);
    course.now = mean(last);
    const double change = course.now - course.first;
    const bool is_notable =
        std::abs(change) > std::max(kNotable * std::abs(course.first),
                                    scatter(first, course.first) + scatter(last, course.now));
    course.trend = !is_notable ? Trend::kLevel : change > 0 ? Trend::kRising : Trend::kFalling;
    if (course.trend == Trend::kLevel) {
        const double beginning = mean(values.first(std::max<size_t>(1, values.size() / 16)));
        const span<const double> rest = values.subspan(count);
        if (course.now - beginning >
            std::max(kNotable * std::abs(beginning), kFastRise * scatter(rest, mean(rest))))
            course.trend = Trend::kRising, course.first = beginning;
    }
    return course;
}

/// Formats a number in at most eight characters.
inline std::string short_number(double value) {
    constexpr struct {
        double size;
        const char* suffix;
    } kSuffixes[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
    char text[32];
    for (const auto& [size, suffix] : kSuffixes)
        if (std::abs(value) >= size && std::abs(value) < 1e15) {
            std::snprintf(text, sizeof text, "%.3g%s", value / size, suffix);
            return text;
        }
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

/// The answer to "Is it learning?": "yes: 3.1 at first, 12.4 now".
inline std::string learning_text(const Course& course, bool is_frozen) {
    if (is_frozen) return "no: it is frozen";
    const std::string change =
        short_number(course.first) + " at first, " + short_number(course.now) + " now";
    switch (course.trend) {
        case Trend::kTooEarly:
            return "too early to say";
        case Trend::kRising:
            return "yes: " + change;
        case Trend::kLevel:
            return "not visibly: " + change;
        case Trend::kFalling:
            return "it gets worse: " + change;
    }
    return "";
}

/// The answer to "How good is it?": "12.4 of 20 reward an episode".  bar: NaN: none.
inline std::string quality_text(double episode_return, double bar) {
    return short_number(episode_return) + (bar == bar ? " of " + short_number(bar) : "") +
           " reward an episode";
}

}  // namespace hearth::agents
