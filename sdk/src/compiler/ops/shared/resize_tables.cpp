// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computes the indices and weights of resized axes, and mirrored indices of padding.

#include "compiler/ops/shared/resize_tables.hpp"

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

namespace {

/// resize_coordinate() in the precision of T.
template <class T>
T coordinate(const ResizeRule& rule, const ResizeAxis& axis, int64_t i) {
    const auto x = static_cast<T>(i), from = static_cast<T>(axis.from);
    const auto to = static_cast<T>(axis.to), scale = static_cast<T>(axis.scale);
    const T half = T{0.5};
    switch (rule.coordinates) {
        case ResizeCoordinates::kHalfPixel:
            return (x + half) / scale - half;
        case ResizeCoordinates::kHalfPixelSymmetric: {
            const T adjustment = to / (scale * from);
            return from / 2 * (1 - adjustment) + (x + half) / scale - half;
        }
        case ResizeCoordinates::kPytorchHalfPixel:
            return axis.to > 1 ? (x + half) / scale - half : 0;
        case ResizeCoordinates::kAlignCorners:
            return axis.to > 1 ? x * (from - 1) / (to - 1) : 0;
        case ResizeCoordinates::kAsymmetric:
            return x / scale;
        case ResizeCoordinates::kCrop: {
            const auto begin = static_cast<T>(axis.crop_begin);
            const T range = (static_cast<T>(axis.crop_end) - begin) * (from - 1);
            return begin * (from - 1) + (axis.to > 1 ? x * range / (to - 1) : range / 2);
        }
    }
    return 0;
}

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

double resize_coordinate(const ResizeRule& rule, const ResizeAxis& axis, int64_t i) {
    return coordinate<double>(rule, axis, i);
}

AxisTaps resize_taps(const ResizeRule& rule, const ResizeAxis& axis) {
    const auto clamped = [&](double index) {
        return std::clamp<int64_t>(saturate_cast<int64_t>(index), 0, axis.from - 1);
    };
    if (rule.mode == Interpolation::kNearest) {
        AxisTaps taps(axis.from, axis.to, 1);
        // ONNX Runtime and PyTorch round in single precision, which decides ties.
        for (int64_t i = 0; i < axis.to; ++i)
            taps.set(0, i,
                     clamped(round_coordinate(coordinate<float>(rule, axis, i), rule.rounding)), 1);
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
