// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What a chart shows, apart from how it is drawn: a terminal, a PNG and an HTML page draw the same one.

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

    /// From 0 at the low end to 1 at the high end, and beyond them the same.
    double to_unit(double value) const;
};

/// An axis that shows `data` with round ticks, about as many as `tick_count`.  Logarithmic ones need
/// data above zero, and are linear otherwise.
Axis make_axis(Range data, bool is_log, size_t tick_count);

/// At most two points (the least and the largest) for each of `bucket_count` parts of the window.
std::vector<Point> thinned(std::span<const Point> points, Range window, size_t bucket_count);

/// Exponential moving average that begins as a plain mean; keep = 0 changes nothing.
std::vector<Point> smoothed(std::span<const Point> points, double keep);

/// "0.25", "12.5k", "1e-05": short, for ticks and lists.
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

    bool is_empty() const;
};

struct ChartOptions {
    std::optional<Range> window;  ///< of the horizontal axis; without: everything
    bool is_log = false;
    double smoothing = 0;  ///< 0 to 1: how much of the last value is kept
    size_t width = 400;    ///< columns in which points can be told apart
    size_t x_ticks = 5, y_ticks = 5;
};

/// From the first place to the last one of all logs.
Range whole_range(std::span<const RunLogFile> files);

/// The names of all metrics, those of the first file first.
std::vector<std::string> metric_names(std::span<const RunLogFile> files);

/// One metric of all logs, a curve for each.
Chart make_chart(std::span<const RunLogFile> files, const std::string& metric,
                 const ChartOptions& options);

/// Okabe and Ito's palette, "Color Universal Design", 2008: told apart by the colour-blind as well.
inline constexpr std::array<uint32_t, 6> kCurveColors = {0xe69f00, 0x56b4e9, 0x009e73,
                                                         0xcc79a7, 0xd55e00, 0xf0e442};

}  // namespace hearth::tool
