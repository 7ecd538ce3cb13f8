// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Takes samples of a row, and keeps those taken while the device ran at full clock.

#pragma once

#include <hearth/status.hpp>

#include <functional>
#include <vector>

namespace hearth::perf {

/// Repetitions in one submission: per repetition the GPU time, the CPU time of recording and of the
/// process; for all together the wall time.
struct Sample {
    double gpu_us = 0, record_us = 0, process_us = 0, wall_us = 0;
    double reference_us = 0;  ///< slower run of the guard's kernel, just before or just after
};

struct SampleSet {
    std::vector<Sample> kept;
    int refused = 0;            ///< rejected because of a lower clock
    bool is_full_clock = true;  ///< false: too few; `kept` are the last ones, unfiltered
};

struct SamplingOptions {
    int wanted = 1;
    int least = 1;           ///< minimum number at full clock if patience ends before `wanted`
    double patience_us = 0;  ///< time limit for taking samples
};

/// Takes samples until `wanted` of them were at full clock, or patience ends. Rejected samples
/// still help: they keep the device busy, which raises its clock.
///
/// is_full_clock  predicate of a Sample::reference_us.
/// now_us         a monotonic clock.
/// Errors: those of `take`.
Result<SampleSet> take_samples(const SamplingOptions& options,
                               const std::function<Result<Sample>()>& take,
                               const std::function<bool(double)>& is_full_clock,
                               const std::function<double()>& now_us);

/// True if the samples form two groups, each with at least a tenth of them, separated by more than
/// a tenth of the median: the median is then one group's or the other's by chance.
bool is_bimodal(std::vector<double> samples);

}  // namespace hearth::perf
