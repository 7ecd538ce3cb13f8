// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Computes medians and percentiles.

#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hearth::perf {

Statistics statistics_of(std::vector<double> samples) {
    Statistics s;
    if (samples.empty()) return s;
    std::sort(samples.begin(), samples.end());
    const auto at = [&](double fraction) {
        const double position = fraction * static_cast<double>(samples.size() - 1);
        const auto low = static_cast<size_t>(position);
        const size_t high = std::min(low + 1, samples.size() - 1);
        return std::lerp(samples[low], samples[high], position - static_cast<double>(low));
    };
    s.min = samples.front();
    s.p10 = at(0.1);
    s.median = at(0.5);
    s.p90 = at(0.9);
    s.max = samples.back();
    s.count = static_cast<int>(samples.size());
    s.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / s.count;
    for (double x : samples) s.variance += (x - s.mean) * (x - s.mean) / std::max(1, s.count - 1);
    return s;
}

}  // namespace hearth::perf
