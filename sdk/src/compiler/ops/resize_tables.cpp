// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computes the indices and weights of resized axes, and mirrored indices of padding.

#include "compiler/ops/resize_tables.hpp"

#include <hearth/core/convert.hpp>

#include <algorithm>
#include <cmath>

namespace hearth {

AxisTaps AxisTaps::transposed() const {
    std::vector<std::vector<std::pair<int64_t, double>>> readers(static_cast<size_t>(from));
    for (int64_t i = 0; i < extent; ++i) {
        for (int64_t t = 0; t < taps; ++t) {
            const auto k = static_cast<size_t>(t * extent + i);
            if (weights[k] != 0)
                readers[static_cast<size_t>(indices[k])].emplace_back(i, weights[k]);
        }
    }
    size_t most = 1;
    for (const auto& of_one : readers) most = std::max(most, of_one.size());
    AxisTaps result(extent, from, static_cast<int64_t>(most));
    for (size_t i = 0; i < readers.size(); ++i)
        for (size_t t = 0; t < readers[i].size(); ++t)
            result.set(static_cast<int64_t>(t), static_cast<int64_t>(i), readers[i][t].first,
                       readers[i][t].second);
    return result;
}

double resize_coordinate(const ResizeRule& rule, const ResizeAxis& axis, int64_t i) {
    const auto x = static_cast<double>(i), from = static_cast<double>(axis.from);
    const double to = axis.scale * from;  // not rounded to whole elements
    switch (rule.coordinates) {
        case ResizeCoordinates::kHalfPixel:
            return (x + 0.5) / axis.scale - 0.5;
        case ResizeCoordinates::kHalfPixelSymmetric: {
            const double adjustment = static_cast<double>(axis.to) / to;
            return from / 2 * (1 - adjustment) + (x + 0.5) / axis.scale - 0.5;
        }
        case ResizeCoordinates::kPytorchHalfPixel:
            return axis.to > 1 ? (x + 0.5) / axis.scale - 0.5 : 0;
        case ResizeCoordinates::kAlignCorners:
            return axis.to > 1 ? x * (from - 1) / (to - 1) : 0;
        case ResizeCoordinates::kAsymmetric:
            return x / axis.scale;
        case ResizeCoordinates::kCrop: {
            const double range = (axis.crop_end - axis.crop_begin) * (from - 1);
            const double first = axis.crop_begin * (from - 1);
            return first + (axis.to > 1 ? x * range / (to - 1) : range / 2);
        }
    }
    return 0;
}

namespace {

double round_coordinate(double x, ResizeRounding rounding) {
    switch (rounding) {
        case ResizeRounding::kPreferFloor:
            return std::ceil(x - 0.5);
        case ResizeRounding::kPreferCeil:
            return std::floor(x + 0.5);
        case ResizeRounding::kFloor:
            return std::floor(x);
        case ResizeRounding::kCeil:
            return std::ceil(x);
    }
    return x;
}

/// The interpolation kernel at distance d >= 0 from its centre.
double filter(const ResizeRule& rule, double d) {
    if (rule.mode == Interpolation::kLinear) return std::max(0.0, 1 - d);
    const double a = rule.cubic_a;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    if (d < 2) return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
    return 0;
}

}  // namespace

AxisTaps resize_taps(const ResizeRule& rule, const ResizeAxis& axis) {
    const auto clamped = [&](double index) {
        return std::clamp<int64_t>(saturate_cast<int64_t>(index), 0, axis.from - 1);
    };
    if (rule.mode == Interpolation::kNearest) {
        AxisTaps taps(axis.from, axis.to, 1);
        for (int64_t i = 0; i < axis.to; ++i)
            taps.set(0, i,
                     clamped(round_coordinate(resize_coordinate(rule, axis, i), rule.rounding)), 1);
        return taps;
    }
    const double stretch = rule.antialias ? std::min(axis.scale, 1.0) : 1;
    const double reach = rule.mode == Interpolation::kLinear ? 1 : 2;
    const int64_t first = saturate_cast<int32_t>(std::floor(-reach / stretch)) + 1;
    AxisTaps taps(axis.from, axis.to, 2 - 2 * first);
    for (int64_t i = 0; i < axis.to; ++i) {
        const double x = resize_coordinate(rule, axis, i);
        const double base = std::ceil(x) - 1;  // an integer x lies one after its base
        std::vector<double> weights;
        double total = 0;
        for (int64_t t = 0; t < taps.taps; ++t) {
            const double at = base + static_cast<double>(first + t);
            const bool is_outside = at < 0 || at > static_cast<double>(axis.from - 1);
            weights.push_back(
                rule.exclude_outside && is_outside ? 0 : filter(rule, std::abs(at - x) * stretch));
            total += weights.back();
        }
        const bool is_scaled = (rule.antialias || rule.exclude_outside) && total != 0;
        for (int64_t t = 0; t < taps.taps; ++t)
            taps.set(t, i, clamped(base + static_cast<double>(first + t)),
                     weights[static_cast<size_t>(t)] / (is_scaled ? total : 1));
    }
    return taps;
}

int64_t padded_index(int64_t at, int64_t n, PadMode mode) {
    if (mode == PadMode::kReplicate) return std::clamp<int64_t>(at, 0, n - 1);
    if (mode == PadMode::kCircular) return ((at % n) + n) % n;
    if (n == 1) return 0;
    const int64_t period = 2 * (n - 1);  // the border element itself is not repeated
    const int64_t phase = ((at % period) + period) % period;
    return phase < n ? phase : period - phase;
}

}  // namespace hearth
