// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Statistics of samples.

#pragma once

#include <vector>

namespace hearth::perf {

/// Median and spread of some samples, in their unit; all zero if there are none.
struct Statistics {
    double min = 0, p10 = 0, median = 0, p90 = 0, max = 0;
    double mean = 0, variance = 0;  // sample variance: divided by count - 1
    int count = 0;
};

/// Percentiles are interpolated linearly between the two nearest samples.
Statistics statistics_of(std::vector<double> samples);

}  // namespace hearth::perf
