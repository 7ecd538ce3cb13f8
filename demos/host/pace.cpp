// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "pace.hpp"

#include <algorithm>

namespace hearth::demo {

void Pace::add(double milliseconds) {
    sum_ms_ += milliseconds;
    // Long frames are decided about soon, but not amid those of one picture.
    const bool is_due = ++frames_ >= kFrames || sum_ms_ >= kFrames * budget_ms_;
    if (!is_due || frames_ % kLongestPause != 0) return;
    const double mean = sum_ms_ / frames_;
    sum_ms_ = 0, frames_ = 0;
    if (mean > budget_ms_) {
        if (is_trial_) patience_ = std::min(2 * patience_, 256);
        is_trial_ = false, good_ = 0;
        level_ = std::min(level_ + 1, kMostLevel);
        return;
    }
    is_trial_ = false;
    good_ = mean < kSpare * budget_ms_ ? good_ + 1 : 0;
    if (level_ == 0 || good_ < patience_) return;
    --level_;
    good_ = 0, is_trial_ = true;
}

}  // namespace hearth::demo
