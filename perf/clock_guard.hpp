// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tells whether a GPU ran at full clock while something was timed.  An idle card lowers its clock and
// takes its time to raise it again: kernels then take two to six times as long, and nothing in their own
// times says why.  A small kernel of known speed, run just before and just after, does.

#pragma once

#include "probe.hpp"
#include "stopwatch.hpp"

#include <memory>

namespace hearth::perf {

/// A kernel of multiply-adds in registers, whose time depends on the clock alone.
class ClockGuard {
  public:
    /// How much slower than its fastest run the kernel may be at "full clock".  A card that multiplies
    /// matrices for seconds lowers its clock by up to a tenth to keep within its power limit, which is
    /// its normal state; what is to be found is a half or less.
    static constexpr double kTolerance = 1.15;

    /// Builds the kernel and runs it until it gets no faster, which takes a second or two.  A software
    /// driver has no clock of its own to watch: there the guard is off, and takes no time.
    static Result<std::unique_ptr<ClockGuard>> create(standalone::Device& device);
    ClockGuard(const ClockGuard&) = delete;
    ClockGuard& operator=(const ClockGuard&) = delete;

    bool is_on() const { return is_on_; }

    /// Records the kernel with a full barrier before and after it, so that nothing runs beside it.
    /// Nothing while the guard is off.
    void record(VkCommandBuffer commands) const;

    /// us  what the kernel took.  Remembers the fastest.
    bool is_full_clock(double us);
    /// The same of a run in the past, without remembering.
    bool was_full_clock(double us) const { return !is_on_ || us <= kTolerance * fastest_us_; }
    /// 0 while the guard is off.
    double fastest_us() const { return fastest_us_; }

  private:
    explicit ClockGuard(standalone::Device& device)
        : device_(device), kernel_(device), stopwatch_(device) {}
    Status calibrate();
    Result<double> time_us();

    standalone::Device& device_;
    Probe kernel_;
    Stopwatch stopwatch_;
    standalone::Buffer memory_;  ///< each thread reads its first 16 bytes
    Push push_{};
    bool is_on_ = false;
    double fastest_us_ = 0;
};

}  // namespace hearth::perf
