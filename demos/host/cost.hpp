// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Mean and quantiles of a series of costs.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace hearth::demo {

/// A series of costs. The first is left out: some drivers finish compiling at the first execution.
class Cost {
  public:
    void add(double value) {
        if (count_++ > 0) values_.push_back(value);
    }
    uint64_t count() const { return count_; }
    double mean() const {
        if (values_.empty()) return 0.0;
        return std::accumulate(values_.begin(), values_.end(), 0.0) /
               static_cast<double>(values_.size());
    }
    /// The `fraction` quantile; 1 is the maximum.
    double quantile(double fraction) const {
        if (values_.empty()) return 0.0;
        std::vector<double> sorted = values_;
        std::ranges::sort(sorted);
        const double at = std::ceil(fraction * static_cast<double>(sorted.size())) - 1.0;
        return sorted[static_cast<size_t>(std::max(at, 0.0))];
    }

  private:
    uint64_t count_ = 0;
    std::vector<double> values_;
};

}  // namespace hearth::demo
