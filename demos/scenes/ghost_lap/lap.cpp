// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computes and compares driven lines.

#include "ghost_lap/lap.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::ghost_lap {

float mean_offset(const Line& line) {
    float sum = 0.0f;
    for (const float offset : line) sum += offset;
    return sum / kLineBins;
}

float line_error(const Line& a, const Line& b) {
    float sum = 0.0f;
    for (int i = 0; i < kLineBins; ++i) sum += std::abs(a[i] - b[i]);
    return sum / kLineBins;
}

float line_error(const Line& a, const Line& b, float begin, float end) {
    const int first = static_cast<int>(std::ceil(begin * kLineBins - 0.5f));
    const int last = static_cast<int>(std::floor(end * kLineBins - 0.5f));
    float sum = 0.0f;
    for (int i = first; i <= last; ++i) sum += std::abs(a[i % kLineBins] - b[i % kLineBins]);
    return last >= first ? sum / static_cast<float>(last - first + 1) : 0.0f;
}

Line mean_line(std::span<const Line> lines) {
    Line mean{};
    for (const Line& line : lines)
        for (int i = 0; i < kLineBins; ++i) mean[i] += line[i] / static_cast<float>(lines.size());
    return mean;
}

size_t nearest_line(const Line& line, std::span<const Line> drivers) {
    const auto nearer = [&line](const Line& a, const Line& b) {
        return line_error(line, a) < line_error(line, b);
    };
    return std::min_element(drivers.begin(), drivers.end(), nearer) - drivers.begin();
}

void LineRecorder::add(float fraction, float lateral) {
    const int bin = std::clamp(static_cast<int>(fraction * kLineBins), 0, kLineBins - 1);
    sums_[bin] += lateral;
    ++counts_[bin];
}

Line LineRecorder::finish() const {
    // Two passes, so that empty bins at the start get the value of the last visited bin.
    Line line{};
    float last = 0.0f;
    for (int i = 0; i < 2 * kLineBins; ++i) {
        const int bin = i % kLineBins;
        if (counts_[bin] != 0) last = sums_[bin] / static_cast<float>(counts_[bin]);
        line[bin] = last;
    }
    return line;
}

}  // namespace hearth::ghost_lap
