// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects from scores alone that learning is stuck or that the rules have changed.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth::agents {

/// Averages scores over bars of a fixed number of decisions, and compares bars.
///
/// stuck          four bars in a row lie below the first one by three quarters of its magnitude,
///                or by two of its standard errors if that is more.
/// rules changed  a bar lies below the mean of up to eight bars before it by four of their standard
///                deviations, by a quarter of their mean, and by four of its own standard errors.
///                The flag stays set until a bar comes within two standard deviations of that
///                mean, or until reset().
class ProgressMonitor {
  public:
    /// decisions: per bar; 0 disables the monitor.
    explicit ProgressMonitor(uint32_t decisions = 0) : decisions_(decisions) {}

    /// score: mean over the agents of one decision; non-finite values are ignored.
    void add(double score);
    /// Starts over, after another brain was loaded or an announced change of rules.
    void reset() { *this = ProgressMonitor(decisions_); }

    bool is_stuck() const { return low_bars_ >= kStuckBars; }
    bool has_changed() const { return has_changed_; }
    /// First and last complete bar; 0 before the first one.
    double first_score() const { return first_.mean; }
    double score() const { return last_.mean; }
    uint64_t bars() const { return bars_; }

  private:
    static constexpr uint32_t kStuckBars = 4;
    static constexpr size_t kRemembered = 8, kFewest = 4;
    struct Bar {
        double mean = 0, error = 0;  ///< error: standard error of the mean
    };
    void close(const Bar& bar);

    uint32_t decisions_;
    uint32_t count_ = 0;  ///< scores in the bar being filled
    double mean_ = 0, squares_ = 0;
    Bar first_, last_;
    uint64_t bars_ = 0;
    uint32_t low_bars_ = 0;
    std::array<double, kRemembered> means_{};  ///< ring buffer of the bars before the last
    size_t remembered_ = 0;
    bool has_changed_ = false;
    double expected_ = 0, deviation_ = 0;  ///< from before the change
};

}  // namespace hearth::agents
