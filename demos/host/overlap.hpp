// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How much of one queue's work runs while another queue works, by the timestamps of both.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace hearth::demo {

/// Times in ms by one clock.  Vulkan promises no clock that queues share; where they have none the share is of no use.
class Overlap {
  public:
    /// Frame `serial` worked from begin to end on the queue that is watched, or on the other one.
    void add_work(uint64_t serial, double begin, double end) {
        work_.push_back({serial, begin, end});
    }
    void add_other(uint64_t serial, double begin, double end) {
        others_.push_back({serial, begin, end});
        // Frames of both queues overlap if they are in flight together.
        while (!work_.empty() && work_.front().serial + kInFlight < serial) {
            count(work_.front());
            work_.pop_front();
        }
        while (others_.front().serial + 3 * kInFlight < serial) others_.pop_front();
    }
    /// Of the work's time so far, the part in which the other queue worked, too: 0..1.
    double share() const { return work_ms_ > 0 ? both_ms_ / work_ms_ : 0; }
    double work_ms() const { return work_ms_; }

  private:
    static constexpr uint64_t kInFlight = 2;
    struct Span {
        uint64_t serial;
        double begin, end;
    };
    void count(const Span& work) {
        work_ms_ += work.end - work.begin;
        for (const Span& other : others_)
            both_ms_ +=
                std::max(0.0, std::min(work.end, other.end) - std::max(work.begin, other.begin));
    }

    std::deque<Span> work_, others_;
    double work_ms_ = 0, both_ms_ = 0;
};

}  // namespace hearth::demo
