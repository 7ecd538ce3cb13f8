// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "driver/cost.hpp"

#include <algorithm>

namespace hearth::agents {

namespace {

constexpr double kRounding = 1 + 1e-9;  // budgets are sums of costs
constexpr double kMostMargin = 4;

}  // namespace

double CostMeter::raw(uint32_t first, uint32_t end) const {
    double sum = 0;
    for (uint32_t i = first; i < std::min(end, step_count()); ++i)
        if (!steps_[i].is_barrier) sum += steps_[i].us;
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
            spent += steps_[i].us * margin_;
            continue;
        }
        if (spent > us * kRounding) break;
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
        if (us > 0) learn(s.first, std::min(s.end, step_count()), us);
        return;
    }
}

void CostMeter::learn(uint32_t first, uint32_t end, double us) {
    const double predicted = raw(first, end);
    const auto each = [&](auto visit) {
        for (uint32_t i = first; i < end; ++i)
            if (!steps_[i].is_barrier) visit(steps_[i]);
    };
    bool were_known = is_known_;
    uint32_t count = 0;
    each([&](const Step& step) {
        were_known = were_known && step.is_known;
        ++count;
    });
    if (count == 0) return;
    if (were_known && predicted > 0) {
        // What was taken for too long is set right at once, since it is rarely recorded; what was too short bit by
        // bit: the slice may have waited for others' work.
        const double ratio = us / predicted;
        const double factor = ratio < 1 ? ratio : 1 + 0.25 * (std::min(ratio, 4.0) - 1);
        each([&](Step& step) { step.us *= factor; });
        ratios_[measured_++ % kRemembered] = ratio;
        std::array<double, kRemembered> sorted = ratios_;
        const size_t ratios = std::min(measured_, kRemembered);
        std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(ratios));
        margin_ = std::clamp(sorted[(ratios - 1) * 95 / 100], 1.0, kMostMargin);
    } else {
        each([&](Step& step) { step = {false, true, us / count}; });
    }
    is_known_ = true;
    double sum = 0, known = 0;
    for (const Step& step : steps_)
        if (!step.is_barrier && step.is_known) sum += step.us, known += 1;
    for (Step& step : steps_)
        if (!step.is_barrier && !step.is_known) step.us = sum / known;
}

}  // namespace hearth::agents
