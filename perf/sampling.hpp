// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Takes samples of a row, and keeps those that were taken while the device ran at full clock.

#pragma once

#include <hearth/status.hpp>

#include <functional>
#include <vector>

namespace hearth::perf {

/// Some repetitions in one submission: for one of them the GPU time, the CPU time of recording and
/// that of the whole process; for all the wall time.
struct Sample {
    double gpu_us = 0, record_us = 0, process_us = 0, wall_us = 0;
    double reference_us = 0;  ///< the slower run of the guard's kernel, just before or just after
};

struct SampleSet {
    std::vector<Sample> kept;
    int refused = 0;            ///< taken at a lower clock, and thrown away
    bool is_full_clock = true;  ///< false: too few were, and `kept` are the last ones as they came
};

struct SamplingOptions {
    int wanted = 1;
    int least = 1;  ///< how many at full clock make a figure, if patience ends before `wanted`
    double patience_us = 0;  ///< after which only samples already taken count
};

/// Takes samples until `wanted` of them were at full clock, or patience ends.  What is refused is not
/// lost work: it keeps the device busy, which is what raises its clock.
///
/// is_full_clock  of a Sample::reference_us.
/// now_us         a monotonic clock.
/// Errors: those of `take`.
Result<SampleSet> take_samples(const SamplingOptions& options,
                               const std::function<Result<Sample>()>& take,
                               const std::function<bool(double)>& is_full_clock,
                               const std::function<double()>& now_us);

/// True if the samples fall into two groups, each with at least a tenth of them, that lie further apart
/// than a tenth of the median: then the median is one group's or the other's by chance.
bool is_bimodal(std::vector<double> samples);

}  // namespace hearth::perf
