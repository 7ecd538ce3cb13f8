// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Chooses a cheaper picture where frames take too long, so that a game keeps its speed.

#pragma once

#include <cstdint>

namespace hearth::demo {

/// The most expensive picture that there is time for.
class Pace {
  public:
    /// budget_ms: of a frame.
    explicit Pace(double budget_ms) : budget_ms_(budget_ms) {}

    /// Adds a frame: how long it took, without waiting for the clock.
    void add(double milliseconds);

    /// False: one sample for each pixel.
    bool has_smooth_edges() const { return level_ == 0; }
    /// Only one of so many frames is drawn: 1, 2, 4 or 8.
    uint32_t frames_per_picture() const { return level_ < 2 ? 1 : 1u << (level_ - 1); }

  private:
    static constexpr int kMostLevel = 4, kLongestPause = 8;
    /// Frames of a decision.
    static constexpr int kFrames = 6 * kLongestPause;
    /// A better picture is tried where the mean is below this part of the budget.
    static constexpr double kSpare = 0.6;

    double budget_ms_;
    double sum_ms_ = 0;
    int frames_ = 0, level_ = 0, good_ = 0;
    int patience_ = 4;  ///< decisions in a row before a better picture is tried
    bool is_trial_ = false;
};

}  // namespace hearth::demo
