// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whether learning gets anywhere: "stuck" and "the rules have changed", told from scores alone.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace hearth::agents {

/// Averages scores over bars of so many decisions, and compares bars.
///
/// stuck          four bars in a row lie under the first one by three quarters of its size (or by two of
///                its standard errors, where that is more).
/// rules changed  a bar lies under the mean of up to eight before it by four of their deviations, by a
///                quarter of their mean, and by four of its own standard errors.  It stays until a bar comes
///                within two deviations of that mean, or reset().
class ProgressMonitor {
  public:
    /// decisions: of a bar; 0: watches nothing.
    explicit ProgressMonitor(uint32_t decisions = 0) : decisions_(decisions) {}

    /// score: mean over the agents of one decision; what is not finite is left out.
    void add(double score);
    /// Begins anew: another brain, or other rules that it was told of.
    void reset() { *this = ProgressMonitor(decisions_); }

    bool is_stuck() const { return low_bars_ >= kStuckBars; }
    bool has_changed() const { return has_changed_; }
    /// Of the first and the last complete bar; 0 before.
    double first_score() const { return first_.mean; }
    double score() const { return last_.mean; }
    uint64_t bars() const { return bars_; }

  private:
    static constexpr uint32_t kStuckBars = 4;
    static constexpr size_t kRemembered = 8, kFewest = 4;
    struct Bar {
        double mean = 0, error = 0;  ///< error: of the mean
    };
    void close(const Bar& bar);

    uint32_t decisions_;
    uint32_t count_ = 0;  ///< of the bar that is being filled
    double mean_ = 0, squares_ = 0;
    Bar first_, last_;
    uint64_t bars_ = 0;
    uint32_t low_bars_ = 0;
    std::array<double, kRemembered> means_{};  ///< of bars before the last, a ring
    size_t remembered_ = 0;
    bool has_changed_ = false;
    double expected_ = 0, deviation_ = 0;  ///< before the change
};

}  // namespace hearth::agents
