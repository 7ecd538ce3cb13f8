// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the steps of an entry cost on the GPU: learned from timestamps of slices, which arrive some frames later.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::agents {

/// Each step has a cost of its own, the mean of the others until it was measured.  A slice's time corrects those of
/// its steps by the same factor, so that a slow step is told from fast ones as slices begin and end at different
/// barriers.  Predictions are raised by the 95th percentile of how much longer than predicted the last 32
/// slices took, fourfold at most.
class CostMeter {
  public:
    struct Step {
        bool is_barrier = false, is_known = false;
        double us = 0;
    };
    /// most_in_flight: slices recorded whose times have not arrived.
    void set_up(std::vector<Step> steps, size_t most_in_flight) {
        steps_ = std::move(steps);
        slices_.resize(most_in_flight);
    }

    uint32_t step_count() const { return static_cast<uint32_t>(steps_.size()); }
    /// Whether a slice was measured.  Until then predictions are zero.
    bool is_known() const { return is_known_; }
    /// Microseconds of steps [first, end).
    double us(uint32_t first, uint32_t end) const;
    double us() const { return us(0, step_count()); }
    /// Of the steps from `first` to the next barrier.
    double us_to_barrier(uint32_t first) const;
    /// How many dispatches (and copies and fills) from `first` on end at a barrier within `us`.
    uint32_t dispatches_within(uint32_t first, double us) const;

    /// Steps [first, end) were recorded.
    void record(uint32_t first, uint32_t end);
    /// The time of the slice that begins at this step has arrived.  They arrive in order; some may have been
    /// left out.
    void measure(uint32_t first, double us);

  private:
    double raw(uint32_t first, uint32_t end) const;
    void learn(uint32_t first, uint32_t end, double us);

    static constexpr size_t kRemembered = 32;
    struct Slice {
        uint32_t first = 0, end = 0;
    };
    std::vector<Step> steps_;
    std::vector<Slice> slices_;  ///< a ring
    size_t begin_ = 0, count_ = 0;
    std::array<double, kRemembered> ratios_{};  ///< measured by predicted, a ring
    size_t measured_ = 0;
    double margin_ = 1;
    bool is_known_ = false;
};

}  // namespace hearth::agents
