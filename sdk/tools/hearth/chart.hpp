// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Contents of a chart, independent of its output: terminal, PNG and HTML draw the same Chart.

#pragma once

#include "run_log.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth::tool {

struct Range {
    double low = 0, high = 1;
};

struct Axis {
    Range range;
    bool is_log = false;
    std::vector<double> ticks;

    /// Maps the range to [0, 1], clamped.
    double to_unit(double value) const;
};

/// Makes an axis over `data` with round ticks, about `tick_count` of them.  is_log needs data above
/// zero; otherwise the axis is linear.
Axis make_axis(Range data, bool is_log, size_t tick_count);

/// Reduces the points in the window to at most two (minimum and maximum) per bucket.
std::vector<Point> thinned(std::span<const Point> points, Range window, size_t bucket_count);

/// Exponential moving average, bias-corrected by starting as a plain mean; keep = 0 disables it.
std::vector<Point> smoothed(std::span<const Point> points, double keep);

/// Short text for ticks and lists: "0.25", "12.5k", "1e-05".
std::string number_text(double value);

struct Curve {
    std::string label;  ///< the file's name
    size_t color = 0;   ///< index into kCurveColors
    std::vector<Point> points;
};

struct Chart {
    std::string title, unit;
    Axis x, y;
    std::vector<Curve> curves;
    std::vector<Event> events;
    std::optional<double> bar;  ///< a value to reach: a horizontal line

    bool is_empty() const;
};

struct ChartOptions {
    std::optional<Range> window;  ///< horizontal range; unset: all data
    bool is_log = false;
    double smoothing = 0;  ///< 0 to 1: weight of the previous average
    size_t width = 400;    ///< horizontal resolution in columns
    size_t x_ticks = 5, y_ticks = 5;
    std::optional<double> bar;  ///< of episode_return
};

/// From the first to the last position on the horizontal axis, over all logs.
Range whole_range(std::span<const RunLogFile> files);

/// The names of all metrics, in order of first appearance over the files.
std::vector<std::string> metric_names(std::span<const RunLogFile> files);
/// Those that a game's designer reads (agents/plain_words.hpp), the game's own and others that are
/// not of agents; episode_return first.
std::vector<std::string> plain_metric_names(std::span<const RunLogFile> files);

/// "return of an episode (reward)", or the name.
std::string title_of(const std::string& metric);

/// What a designer asks of agents, a line each: whether they learn, how good they are, what they
/// cost; none if the log has no agents.
std::vector<std::string> summary_lines(const RunLog& log, std::optional<double> bar);

/// The chart of one metric, with one curve per log.
Chart make_chart(std::span<const RunLogFile> files, const std::string& metric,
                 const ChartOptions& options);

/// Okabe and Ito's palette, "Color Universal Design", 2008: distinguishable by colour-blind people.
inline constexpr std::array<uint32_t, 6> kCurveColors = {0xe69f00, 0x56b4e9, 0x009e73,
                                                         0xcc79a7, 0xd55e00, 0xf0e442};

}  // namespace hearth::tool
