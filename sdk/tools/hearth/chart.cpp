// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prepares charts for drawing: axes with round ticks, thinned and smoothed curves.

#include "chart.hpp"

#include "core/path.hpp"

#include <hearth/agents/plain_words.hpp>
#include <hearth/agents/run_log.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

namespace hearth::tool {
namespace {

/// Rounds a tick distance up to 1, 2 or 5 times a power of ten.
double round_step(double rough) {
    const double power = std::pow(10.0, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

/// Range of the vertical axis: the data with a margin, never empty.
Range with_room(Range data) {
    const double height = data.high - data.low;
    const double scale = std::max(std::abs(data.low), std::abs(data.high));
    if (height <= 1e-12 * scale || height == 0) {
        const double room = scale > 0 ? 0.5 * scale : 1;
        return {data.low - room, data.high + room};
    }
    return {data.low - 0.05 * height, data.high + 0.05 * height};
}

}  // namespace

double Axis::to_unit(double value) const {
    const double part = is_log ? std::log(value / range.low) / std::log(range.high / range.low)
                               : (value - range.low) / (range.high - range.low);
    return part >= 0 ? std::min(part, 1.0) : 0;  // 0 for NaN (inf / inf)
}

Axis make_axis(Range data, bool is_log, size_t tick_count) {
    Axis axis{.range = data, .is_log = is_log && data.low > 0, .ticks = {}};
    if (!(axis.range.high > axis.range.low)) axis.range.high = axis.range.low + 1;
    if (axis.is_log) {
        const double decades = std::log10(axis.range.high / axis.range.low);
        const auto stride = static_cast<int>(std::max(
            1.0, std::ceil(decades / static_cast<double>(std::max<size_t>(1, tick_count)))));
        const auto first = static_cast<int>(std::ceil(std::log10(axis.range.low) - 1e-9));
        const auto last = static_cast<int>(std::floor(std::log10(axis.range.high) + 1e-9));
        for (int decade = first; decade <= last; decade += stride)
            axis.ticks.push_back(std::pow(10.0, decade));
        if (axis.ticks.size() < 2) axis.ticks = {axis.range.low, axis.range.high};
        return axis;
    }
    const double step = round_step((axis.range.high - axis.range.low) /
                                   static_cast<double>(std::max<size_t>(1, tick_count)));
    const double first = std::ceil(axis.range.low / step - 1e-9);
    for (double i = first; i * step <= axis.range.high + 1e-9 * step; i += 1) {
        axis.ticks.push_back(i * step);
        if (axis.ticks.size() > 4 * tick_count + 4) break;  // equal in double precision
    }
    return axis;
}

std::vector<Point> thinned(std::span<const Point> points, Range window, size_t bucket_count) {
    const auto begin = std::ranges::lower_bound(points, window.low, {}, &Point::at);
    const auto end = std::ranges::upper_bound(points, window.high, {}, &Point::at);
    const std::span<const Point> inside(begin, end);
    if (inside.size() <= 2 * bucket_count) return {inside.begin(), inside.end()};
    std::vector<Point> kept;
    const double width = window.high - window.low;
    size_t i = 0;
    for (size_t bucket = 0; bucket < bucket_count && i < inside.size(); ++bucket) {
        const double limit = bucket + 1 == bucket_count
                                 ? std::numeric_limits<double>::infinity()
                                 : window.low + width * static_cast<double>(bucket + 1) /
                                                    static_cast<double>(bucket_count);
        const size_t first = i;
        size_t least = i, most = i;
        for (; i < inside.size() && inside[i].at < limit; ++i) {
            if (inside[i].value < inside[least].value) least = i;
            if (inside[i].value > inside[most].value) most = i;
        }
        if (i == first) continue;
        kept.push_back(inside[std::min(least, most)]);
        if (least != most) kept.push_back(inside[std::max(least, most)]);
    }
    return kept;
}

std::vector<Point> smoothed(std::span<const Point> points, double keep) {
    std::vector<Point> result(points.begin(), points.end());
    double level = 0;
    for (size_t i = 0; i < result.size() && keep > 0; ++i) {
        const double share = std::max(1 - keep, 1 / static_cast<double>(i + 1));
        level += share * (result[i].value - level);
        result[i].value = level;
    }
    return result;
}

std::string number_text(double value) {
    const double size = std::abs(value);
    if (size >= 1e4 && size < 1e15) {
        constexpr std::array<std::pair<double, const char*>, 3> kSuffixes = {
            {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}}};
        for (const auto& [unit, suffix] : kSuffixes)
            if (size >= unit) return fmt::format("{:.4g}{}", value / unit, suffix);
    }
    return size < 1e-12 ? "0" : fmt::format("{:.4g}", value);
}

bool Chart::is_empty() const {
    return std::ranges::all_of(curves, [](const Curve& c) { return c.points.empty(); });
}

Range whole_range(std::span<const RunLogFile> files) {
    Range range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const RunLogFile& file : files)
        for (const Metric& metric : file.log().metrics()) {
            if (metric.points.empty()) continue;
            range.low = std::min(range.low, metric.points.front().at);
            range.high = std::max(range.high, metric.points.back().at);
        }
    if (!(range.low <= range.high)) return {0, 1};
    if (range.low == range.high) range.high = range.low + 1;
    return range;
}

std::vector<std::string> metric_names(std::span<const RunLogFile> files) {
    std::vector<std::string> names;
    for (const RunLogFile& file : files)
        for (const Metric& metric : file.log().metrics())
            if (std::ranges::find(names, metric.name) == names.end()) names.push_back(metric.name);
    return names;
}

std::vector<std::string> plain_metric_names(std::span<const RunLogFile> files) {
    std::vector<std::string> names = metric_names(files);
    if (std::ranges::find(names, "samples") == names.end()) return names;  // not of agents
    std::erase_if(names, [](const std::string& name) {
        const auto is_one_of = [&](const auto& all) {
            return std::ranges::find(all, std::string_view(name)) != std::end(all);
        };
        constexpr std::string_view kCounts[] = {"rewards_rejected", "rewards_after_end",
                                                "repeated_ends",    "frames_without_update",
                                                "samples_paused",   "rollbacks"};
        const std::string group = name.substr(0, name.find('/'));
        return agents::find_plain_metric(name) == nullptr &&
               (is_one_of(agents::kMetricNames) || is_one_of(agents::kCounterNames) ||
                is_one_of(kCounts) || group == agents::kAtLimitKey ||
                group == agents::kUnresolvedKey || group == agents::kConstantKey ||
                group == agents::kNonFiniteKey);
    });
    const auto rank = [](const std::string& name) {
        const auto* const plain = agents::find_plain_metric(name);
        // The game's own come behind the return and the length.
        return plain == nullptr ? 2
               : plain - agents::kPlainMetrics.data() < 2
                   ? static_cast<int>(plain - agents::kPlainMetrics.data())
                   : static_cast<int>(plain - agents::kPlainMetrics.data()) + 1;
    };
    std::ranges::stable_sort(names, {}, rank);
    return names;
}

std::string title_of(const std::string& metric) {
    const agents::PlainMetric* const plain = agents::find_plain_metric(metric);
    return plain == nullptr ? metric : fmt::format("{} ({})", plain->words, plain->unit);
}

std::vector<std::string> summary_lines(const RunLog& log, std::optional<double> bar) {
    const auto last = [&](const char* name) {
        const Metric* const metric = log.find(name);
        return metric == nullptr ? 0 : metric->points.back().value;
    };
    if (log.find("samples") == nullptr) return {};
    std::vector<double> returns;
    // Zero until the first episode has ended.
    if (const Metric* const metric = log.find("episode_return"))
        for (const Point& p : metric->points)
            if (!returns.empty() || p.value != 0) returns.push_back(p.value);
    std::vector<std::string> lines;
    lines.push_back("Is it learning? " + agents::learning_text(agents::course_of(returns), false));
    if (!returns.empty())
        lines.push_back("How good? " + agents::quality_text(
                                           returns.back(),
                                           bar.value_or(std::numeric_limits<double>::quiet_NaN())));
    std::string cost = "At what cost? ";
    if (const double us = last("minibatch_us_p95"); us > 0)
        cost += fmt::format("{} ms a learning step, ", agents::short_number(us / 1e3));
    lines.push_back(cost + fmt::format("{} decisions", agents::short_number(last("samples"))));
    return lines;
}

Chart make_chart(std::span<const RunLogFile> files, const std::string& metric,
                 const ChartOptions& options) {
    const Range window = options.window.value_or(whole_range(files));
    Chart chart;
    chart.title = title_of(metric);
    Range values{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (size_t i = 0; i < files.size(); ++i) {
        const RunLog& log = files[i].log();
        if (chart.unit.empty() || chart.unit == "at") chart.unit = log.unit();
        for (const Event& event : log.events())
            if (event.at >= window.low && event.at <= window.high) chart.events.push_back(event);
        const Metric* found = log.find(metric);
        if (found == nullptr) continue;
        Curve curve{.label = path_of(files[i].path()).filename().string(),
                    .color = i % kCurveColors.size(),
                    .points = thinned(smoothed(found->points, options.smoothing), window,
                                      std::max<size_t>(1, options.width))};
        for (const Point& p : curve.points) {
            values.low = std::min(values.low, p.value);
            values.high = std::max(values.high, p.value);
        }
        chart.curves.push_back(std::move(curve));
    }
    chart.x = make_axis(window, false, options.x_ticks);
    if (!(values.low <= values.high)) values = {0, 1};
    if (metric == "episode_return") chart.bar = options.bar;
    if (chart.bar) values = {std::min(values.low, *chart.bar), std::max(values.high, *chart.bar)};
    const bool is_log = options.is_log && values.low > 0;
    chart.y = make_axis(is_log ? Range{values.low / 1.1, values.high * 1.1} : with_room(values),
                        is_log, options.y_ticks);
    return chart;
}

}  // namespace hearth::tool
