// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keeps the time budget of learning.

#include "device/agents/learning_budget.hpp"

#include <algorithm>

namespace hearth::agents {

void LearningBudget::begin_frame(double learn_us, hearth_agents_priority priority) {
    priority_ = priority;
    frame_us_ = budget_us(learn_us, priority);
}

void LearningBudget::add(double smallest_us) {
    const double budget = planned_us();
    if (budget > 0) left_us_ = std::min(left_us_, std::max(smallest_us - budget, 0.0)) + budget;
}

void LearningBudget::settle(double predicted_us, double measured_us) {
    left_us_ += std::max(predicted_us - measured_us, 0.0);
}

void LearningBudget::count(uint64_t frame_number, double us, double smallest_us) {
    if (frame_number != counted_frame_) {
        const bool is_over = counted_us_ > frame_us_;
        if (counted_us_ > 0) {
            ++frames_;
            // Tracks the quantile of frames that may exceed the budget (stochastic approximation,
            // Robbins and Monro 1951): raises the caution after each frame over budget and lowers
            // it slightly after each other frame.  A single dispatch that exceeds the budget by
            // itself does not count.
            constexpr double kStep = 0.08, kShareOver = 0.0005, kMost = 1.6;
            if (!is_over || smallest_us <= frame_us_)
                caution_ = std::clamp(caution_ * (is_over ? 1 + kStep : 1 - kStep * kShareOver),
                                      1.0, kMost);
        }
        if (is_over) ++frames_over_;
        counted_frame_ = frame_number;
        counted_us_ = 0;
    }
    counted_us_ += us;
}

}  // namespace hearth::agents
