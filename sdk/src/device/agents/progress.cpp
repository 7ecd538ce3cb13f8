// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects stuck learning and changed rules from bars (averages) of scores.

#include "device/agents/progress.hpp"

#include <algorithm>
#include <cmath>

namespace hearth::agents {

void ProgressMonitor::add(double score) {
    if (decisions_ == 0 || !std::isfinite(score)) return;
    // Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products", 1962.
    const double apart = score - mean_;
    mean_ += apart / ++count_;
    squares_ += apart * (score - mean_);
    if (count_ < decisions_) return;
    const double variance = count_ > 1 ? squares_ / (count_ - 1) : 0;
    close({mean_, std::sqrt(variance / count_)});
    count_ = 0;
    mean_ = squares_ = 0;
}

void ProgressMonitor::close(const Bar& bar) {
    last_ = bar;
    if (bars_++ == 0) first_ = bar;
    const double low = first_.mean - std::max(0.75 * std::abs(first_.mean), 2 * first_.error);
    low_bars_ = bar.mean < low ? low_bars_ + 1 : 0;

    if (has_changed_) {
        has_changed_ = bar.mean < expected_ - 2 * deviation_;
        if (has_changed_) return;  // keep the mean and std of the bars before the change
    } else if (remembered_ >= kFewest) {
        const size_t count = std::min(remembered_, kRemembered);
        double mean = 0, squares = 0;
        for (size_t i = 0; i < count; ++i) mean += means_[i] / static_cast<double>(count);
        for (size_t i = 0; i < count; ++i) squares += (means_[i] - mean) * (means_[i] - mean);
        const double deviation = std::sqrt(squares / static_cast<double>(count - 1));
        const double drop = std::max({4 * deviation, 0.25 * std::abs(mean), 4 * bar.error});
        if (bar.mean < mean - drop) {
            has_changed_ = true;
            expected_ = mean;
            deviation_ = std::max(deviation, drop / 4);
            return;
        }
    }
    means_[remembered_++ % kRemembered] = bar.mean;
}

}  // namespace hearth::agents
