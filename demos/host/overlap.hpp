// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Measures how much of one queue's work overlaps with another queue's, from both queues'
// timestamps.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

namespace hearth::demo {

/// Times in ms on a common timeline. Vulkan does not guarantee one across queues; without it the
/// share is meaningless.
class Overlap {
  public:
    /// Adds the work of frame `serial` on the watched queue, or on the other one.
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
    /// Fraction of the work's time so far during which the other queue was busy: 0..1.
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
