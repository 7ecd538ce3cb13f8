// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GPU time that learning may take, per frame.

#pragma once

#include <hearth/hearth_agents.h>

#include <cstdint>

namespace hearth::agents {

/// Time budget per frame of all learning slices: half of learn_us, all of it, or twice as much.
inline double budget_us(double learn_us, hearth_agents_priority priority) {
    return priority == HEARTH_AGENTS_PRIORITY_GRAPHICS   ? learn_us / 2
           : priority == HEARTH_AGENTS_PRIORITY_LEARNING ? learn_us * 2
                                                         : learn_us;
}

/// hearth_record_info::occupancy_priority for learning: the low and high values of
/// VK_NV_compute_occupancy_priority, or 0 to keep the priority that the application has set.
inline float occupancy_priority(hearth_agents_priority priority) {
    return priority == HEARTH_AGENTS_PRIORITY_GRAPHICS   ? 0.25f
           : priority == HEARTH_AGENTS_PRIORITY_LEARNING ? 0.75f
                                                         : 0.0f;
}

/// Spends predicted time and counts measured time, which arrives some frames later.
class LearningBudget {
  public:
    void begin_frame(double learn_us, hearth_agents_priority priority);
    /// Adds the frame's budget.  smallest_us: predicted time of the next slice; unused time
    /// accumulates only until it covers a slice that is longer than a frame's budget.
    void add(double smallest_us);

    hearth_agents_priority priority() const { return priority_; }
    /// Budget of the frame for predicted time.
    double planned_us() const { return frame_us_ / caution_; }
    double left_us() const { return left_us_; }
    void spend(double us) { left_us_ -= us; }
    void forgive() { left_us_ = left_us_ < 0 ? 0 : left_us_; }
    /// Returns time that was predicted and spent, but not needed.  Slices that took longer than
    /// predicted have been waiting for other work, and spend no more.
    void settle(double predicted_us, double measured_us);

    /// Counts measured time of learning.  One frame may have several recordings.
    void count(uint64_t frame_number, double us, double smallest_us);
    /// Time of the last publication.
    double publish_us() const { return publish_us_; }
    void measure_publish(double us) { publish_us_ = us; }
    uint64_t frames() const { return frames_; }
    uint64_t frames_over() const { return frames_over_; }

  private:
    double frame_us_ = 0, left_us_ = 0;
    double publish_us_ = 0;
    double caution_ = 1;  ///< divisor applied to the budget when planning
    hearth_agents_priority priority_ = HEARTH_AGENTS_PRIORITY_BALANCED;
    uint64_t counted_frame_ = 0;  ///< newest frame number with measured times
    double counted_us_ = 0;       ///< learning time in that frame
    uint64_t frames_ = 0, frames_over_ = 0;
};

}  // namespace hearth::agents
