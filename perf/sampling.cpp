// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Takes samples at full clock, and detects bimodal ones.

#include "sampling.hpp"

#include <algorithm>

namespace hearth::perf {

Result<SampleSet> take_samples(const SamplingOptions& options,
                               const std::function<Result<Sample>()>& take,
                               const std::function<bool(double)>& is_full_clock,
                               const std::function<double()>& now_us) {
    const auto wanted = static_cast<size_t>(options.wanted);
    const auto least = static_cast<size_t>(std::clamp(options.least, 1, options.wanted));
    const double deadline_us = now_us() + options.patience_us;
    SampleSet set;
    std::vector<Sample> refused;  // the last few rejected samples
    while (set.kept.size() < wanted) {
        HEARTH_ASSIGN(const Sample sample, take());
        if (is_full_clock(sample.reference_us)) {
            set.kept.push_back(sample);
        } else {
            ++set.refused;
            if (refused.size() == least) refused.erase(refused.begin());
            refused.push_back(sample);
        }
        const bool is_enough = set.kept.size() + refused.size() >= least;
        if (is_enough && now_us() > deadline_us) break;
    }
    if (set.kept.size() >= least) return set;
    set.is_full_clock = false;
    set.kept.insert(set.kept.end(), refused.begin(), refused.end());
    return set;
}

bool is_bimodal(std::vector<double> samples) {
    constexpr size_t kFewest = 5;  // with fewer samples a gap is not significant
    if (samples.size() < kFewest) return false;
    std::sort(samples.begin(), samples.end());
    const double median = samples[samples.size() / 2];
    const size_t margin = std::max<size_t>(1, samples.size() / 10);
    for (size_t i = margin; i + margin <= samples.size(); ++i)
        if (samples[i] - samples[i - 1] > 0.1 * median) return true;
    return false;
}

}  // namespace hearth::perf
