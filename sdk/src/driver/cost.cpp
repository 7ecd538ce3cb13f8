// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "driver/cost.hpp"

#include <algorithm>

namespace hearth::agents {

double CostMeter::raw(uint32_t first, uint32_t end) const {
    double sum = 0;
    for (uint32_t i = first; i < std::min(end, step_count()); ++i)
        if (!steps_[i].is_barrier) sum += steps_[i].cost;
    return sum;
}

double CostMeter::us(uint32_t first, uint32_t end) const {
    return is_known_ ? raw(first, end) * margin_ : 0;
}

double CostMeter::us_to_barrier(uint32_t first) const {
    uint32_t end = first;
    while (end < step_count() && steps_[end].is_barrier) ++end;
    while (end < step_count() && !steps_[end].is_barrier) ++end;
    return us(first, end);
}

uint32_t CostMeter::dispatches_within(uint32_t first, double us) const {
    uint32_t count = 0, interval = 0;
    double spent = 0;
    for (uint32_t i = first; i <= step_count(); ++i) {
        if (i < step_count() && !steps_[i].is_barrier) {
            ++interval;
            spent += steps_[i].cost * margin_;
            continue;
        }
        if (spent > us) break;
        count += interval;
        interval = 0;
    }
    return count;
}

void CostMeter::record(uint32_t first, uint32_t end) {
    if (count_ == slices_.size()) return;
    slices_[(begin_ + count_++) % slices_.size()] = {first, end};
}

void CostMeter::measure(uint32_t first, double us) {
    while (count_ > 0) {
        const Slice s = slices_[begin_];
        begin_ = (begin_ + 1) % slices_.size();
        --count_;
        if (s.first != first) continue;
        const double predicted = raw(s.first, s.end);
        if (!(us > 0) || !(predicted > 0)) return;
        const double ratio = us / predicted;
        if (!is_known_) {
            for (Step& step : steps_) step.cost *= ratio;
            is_known_ = true;
            return;
        }
        // A quarter of the way, and never far at once: a slice may have waited for others' work.
        const double factor = 1 + 0.25 * (std::clamp(ratio, 0.0, 4.0) - 1);
        for (uint32_t i = s.first; i < std::min(s.end, step_count()); ++i) steps_[i].cost *= factor;
        ratios_[measured_++ % kRemembered] = ratio;
        std::array<double, kRemembered> sorted = ratios_;
        const size_t count = std::min(measured_, kRemembered);
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
        margin_ = std::max(1.0, sorted[(count - 1) * 95 / 100]);
        return;
    }
}

}  // namespace hearth::agents
