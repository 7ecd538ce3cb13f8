// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learns the GPU time of each command of an entry from slice timestamps, and sizes slices by it.

#include "core/cost_meter.hpp"

#include <algorithm>

namespace hearth {

namespace {

constexpr double kRounding = 1 + 1e-9;  // tolerance: budgets are compared with sums of costs
constexpr double kMostMargin = 4;
constexpr uint32_t kTrials = 4;
/// More pieces are kept if all of them together take at most this much longer than one.
constexpr double kMostLonger = 1.5;

}  // namespace

/// Number of sub-dispatches of a command that lie within the slice.
uint32_t CostMeter::parts_in(uint32_t step, const Slice& slice) const {
    const uint32_t begin = step == slice.first.command ? slice.first.part : 0;
    const uint32_t end = step < slice.end.command    ? commands_[step].part_count
                         : step == slice.end.command ? slice.end.part
                                                     : 0;
    return end > begin ? end - begin : 0;
}

double CostMeter::raw(const Slice& slice) const {
    double sum = 0;
    for (uint32_t i = slice.first.command; i < command_count() && i <= slice.end.command; ++i)
        if (!commands_[i].is_barrier)
            sum += commands_[i].us * parts_in(i, slice) / commands_[i].part_count;
    return sum;
}

double CostMeter::us(Position first, Position end) const {
    return raw({first, end}) * margin_;
}

Position CostMeter::skip_barriers(Position at) const {
    while (at.command < command_count() && commands_[at.command].is_barrier) at = {at.command + 1};
    return at;
}

uint32_t CostMeter::interval_end(uint32_t step) const {
    while (step < command_count() && !commands_[step].is_barrier) ++step;
    return step;
}

/// True if the barrier interval from `first` on exceeds the budget, so that it must be split.
bool CostMeter::exceeds_budget(Position first) const {
    return us(first, {interval_end(first.command)}) > budget_us_ * kRounding;
}

double CostMeter::us_of_least(Position first) const {
    first = skip_barriers(first);
    if (first.command == command_count()) return 0;
    return us(first, end_of_least(first));
}

/// End of the smallest slice from a command on: the next barrier, or that of one piece.
Position CostMeter::end_of_least(Position first) const {
    if (!exceeds_budget(first)) return {interval_end(first.command)};
    const Command& step = commands_[first.command];
    const uint32_t part = first.part + step.parts_of_piece();
    return part < step.part_count ? Position{first.command, part} : Position{first.command + 1};
}

uint32_t CostMeter::slices_from(Position first) const {
    uint32_t slices = 0;
    for (first = skip_barriers(first); first.command < command_count();
         first = skip_barriers(end_of_least(first)))
        ++slices;
    return slices;
}

Limits CostMeter::least(Position first) const {
    first = skip_barriers(first);
    if (first.command == command_count()) return {.dispatches = 1};
    if (!exceeds_budget(first)) return {.dispatches = interval_end(first.command) - first.command};
    const Command& step = commands_[first.command];
    const uint64_t workgroups = step.workgroups / step.part_count * step.parts_of_piece();
    return {1, static_cast<uint32_t>(std::min<uint64_t>(workgroups, UINT32_MAX))};
}

Limits CostMeter::within(Position first, double us) const {
    Limits limits;
    uint32_t interval = 0;
    double spent = 0;
    const double most = us * kRounding;
    for (uint32_t i = first.command; i <= command_count(); ++i) {
        if (i < command_count() && !commands_[i].is_barrier) {
            ++interval;
            spent += this->us(i == first.command ? first : Position{i}, {i + 1});
            continue;
        }
        if (spent > most) break;
        limits.dispatches += interval;
        interval = 0;
    }
    if (!limits.is_nothing()) return limits;

    first = skip_barriers(first);
    const uint32_t end = interval_end(first.command);
    if (!exceeds_budget(first)) return limits;
    spent = 0;
    uint64_t workgroups = 0;
    for (Position at = first; at.command < end; at = {at.command + 1}) {
        const Command& step = commands_[at.command];
        bool is_counted = false;
        while (at.part < step.part_count) {
            const uint32_t next = std::min(at.part + step.parts_of_piece(), step.part_count);
            spent += this->us(at, {at.command, next});
            if (spent > most) break;
            if (!is_counted) ++limits.dispatches;
            is_counted = true;
            workgroups += step.workgroups / step.part_count * (next - at.part);
            at.part = next;
        }
        if (at.part < step.part_count) break;
    }
    limits.workgroups = static_cast<uint32_t>(std::min<uint64_t>(workgroups, UINT32_MAX));
    return limits;
}

void CostMeter::set_budget(double us) {
    budget_us_ = us;
    for (Command& step : commands_) {
        if (step.is_settled || step.measured < kTrials || step.part_count / 2 < step.pieces ||
            step.us_alone <= us * step.pieces)
            continue;
        if (step.pieces == 1) step.us_whole = step.us_alone;
        step.pieces *= 2;
        step.us_before = step.us_alone;
        step.measured = 0;
    }
}

/// Updates the piece size of a command from a slice that holds only this command, or one piece of
/// it.
void CostMeter::learn_alone(const Slice& slice, double us) {
    Command& step = commands_[slice.first.command];
    const uint32_t parts = parts_in(slice.first.command, slice);
    if (parts != step.parts_of_piece()) return;
    const double us_of_all = us * step.part_count / parts;
    step.us_alone = step.measured == 0 ? us_of_all : std::min(step.us_alone, us_of_all);
    if (++step.measured != kTrials || step.us_before == 0 ||
        step.us_alone <= kMostLonger * step.us_whole)
        return;
    step.pieces /= 2;
    step.us = step.us_before;
    step.is_settled = true;
}

void CostMeter::measure(Position first, Position end, double us) {
    if (!(us > 0)) return;
    const Slice slice{first, end};
    const double predicted = raw(slice);
    const auto each = [&](auto visit) {
        for (uint32_t i = first.command; i < command_count() && i <= end.command; ++i)
            if (const uint32_t parts = parts_in(i, slice); !commands_[i].is_barrier && parts > 0)
                visit(commands_[i], parts);
    };
    bool were_known = is_known_;
    uint32_t count = 0;
    double estimate = 0;
    each([&](const Command& step, uint32_t parts) {
        were_known = were_known && step.is_known;
        ++count;
        estimate += step.estimate * parts / step.part_count;
    });
    if (count == 0) return;
    if (count == 1 && !commands_[first.command].is_barrier) learn_alone(slice, us);
    if (were_known && predicted > 0) {
        // An overestimate is corrected at once, because such a command is rarely recorded; an
        // underestimate gradually, because the slice may have waited for other GPU work.
        const double ratio = us / predicted;
        const double factor = ratio < 1 ? ratio : 1 + 0.25 * (std::min(ratio, 4.0) - 1);
        each([&](Command& step, uint32_t) { step.us *= factor; });
        remember(ratio);
    } else {
        each([&](Command& step, uint32_t) {
            step.is_known = true;
            step.us = us * step.estimate / estimate;
        });
    }
    is_known_ = true;
    double sum = 0, known = 0;
    for (const Command& step : commands_)
        if (!step.is_barrier && step.is_known) sum += step.us, known += step.estimate;
    for (Command& step : commands_)
        if (!step.is_barrier && !step.is_known) step.us = sum / known * step.estimate;
}

void CostMeter::rescale(uint32_t index, double factor, double estimate, uint32_t part_count,
                        uint64_t workgroups) {
    Command& step = commands_[index];
    step.us *= factor;
    step.us_alone *= factor;
    step.us_before *= factor;
    step.us_whole *= factor;
    step.estimate = estimate;
    step.part_count = part_count;
    step.workgroups = workgroups;
}

void CostMeter::remember(double ratio) {
    ratios_[measured_++ % kRemembered] = ratio;
    std::array<double, kRemembered> sorted = ratios_;
    const size_t ratios = std::min(measured_, kRemembered);
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(ratios));
    margin_ = std::clamp(sorted[(ratios - 1) * 97 / 100], 1.0, kMostMargin);
}

}  // namespace hearth
