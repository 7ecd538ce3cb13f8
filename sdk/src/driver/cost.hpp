// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What recordings of an entry cost on the GPU, from timestamps that arrive some frames later.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hearth::agents {

class CostMeter {
  public:
    /// most_in_flight: slices recorded whose times have not arrived.
    void resize(size_t most_in_flight) { slices_.resize(most_in_flight); }

    /// A slice was recorded that begins at this step of the entry.
    void record(uint32_t first_step, uint32_t steps) {
        if (count_ == slices_.size()) return;
        slices_[(begin_ + count_++) % slices_.size()] = {first_step, steps};
    }
    /// Its time has arrived.  Slices are measured in order; some may have been left out.
    void measure(uint32_t first_step, double us) {
        while (count_ > 0) {
            const Slice s = slices_[begin_];
            begin_ = (begin_ + 1) % slices_.size();
            --count_;
            if (s.first_step != first_step || s.steps == 0) continue;
            step_us_[measured_++ % step_us_.size()] = us / s.steps;
            return;
        }
    }
    /// Microseconds of a step: the 95th percentile of the last 32 slices; 0: none was measured yet.
    double step_us_p95() const {
        if (measured_ == 0) return 0;
        std::array<double, kMeasured> sorted = step_us_;
        const size_t count = std::min(measured_, kMeasured);
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
        return sorted[(count - 1) * 95 / 100];
    }

  private:
    static constexpr size_t kMeasured = 32;
    struct Slice {
        uint32_t first_step = 0, steps = 0;
    };
    std::vector<Slice> slices_;  ///< a ring
    size_t begin_ = 0, count_ = 0;
    std::array<double, kMeasured> step_us_{};
    size_t measured_ = 0;
};

}  // namespace hearth::agents
