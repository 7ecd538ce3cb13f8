// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Detects whether a GPU ran at full clock during a measurement. An idle GPU lowers its clock and
// takes time to raise it again: kernels then take two to six times as long, and their times alone
// do not reveal why. A small kernel of known speed, run just before and just after, does.

#pragma once

#include "probe.hpp"
#include "stopwatch.hpp"

#include <memory>

namespace hearth::perf {

/// A kernel of multiply-adds in registers, whose time depends only on the clock.
class ClockGuard {
  public:
    /// Tolerated slowdown of the kernel, relative to its fastest run, at "full clock". A GPU that
    /// multiplies matrices for seconds lowers its clock by up to a tenth to keep within its power
    /// limit, which is its normal state; the guard detects drops to a half or less.
    static constexpr double kTolerance = 1.15;

    /// Builds the kernel and runs it until it gets no faster, which takes one or two seconds. A
    /// software driver has no clock to observe: the guard is then off and costs no time.
    static Result<std::unique_ptr<ClockGuard>> create(standalone::Device& device);
    ClockGuard(const ClockGuard&) = delete;
    ClockGuard& operator=(const ClockGuard&) = delete;

    bool is_on() const { return is_on_; }

    /// Records the kernel with a full barrier before and after it, so that nothing overlaps. No-op
    /// while the guard is off.
    void record(VkCommandBuffer commands) const;

    /// us: time of the kernel. Remembers the minimum.
    bool is_full_clock(double us);
    /// As above for an earlier run, without remembering.
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
