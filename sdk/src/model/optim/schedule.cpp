// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Learning rate schedules as graph code on a step count.

#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace hearth {

ScalarOrTensor with_schedule(Trace& trace, const Schedule& schedule, std::string_view name) {
    return schedule(global_step(trace, name));
}

namespace schedules {

namespace {

Tensor real(const Tensor& step) {
    return cast(step, DType::kF32);
}

Tensor whole(const Tensor& step, int64_t value) {
    return step.trace()->constant(static_cast<double>(value), DType::kU32);
}

/// Linear from 0 at the first step to 1 at step `steps` and beyond.
Tensor progress(const Tensor& step, int64_t steps) {
    const int64_t last = std::max<int64_t>(steps, 1);
    return real(minimum(step, whole(step, last))) / static_cast<double>(last);
}

}  // namespace

Schedule constant(double rate) {
    return [rate](const Tensor& step) { return step.trace()->constant(rate); };
}

Schedule step_lr(double rate, int64_t every, double factor) {
    // Integer division: a floating-point quotient may lie an ulp below the integer.
    return [=](const Tensor& step) {
        const Tensor falls = real(step / whole(step, std::max<int64_t>(every, 1)));
        return exp(falls * std::log(factor)) * rate;
    };
}

Schedule linear(double first, double last, int64_t steps) {
    return [=](const Tensor& step) { return progress(step, steps) * (last - first) + first; };
}

Schedule exponential(double rate, double factor) {
    return [=](const Tensor& step) { return exp(real(step) * std::log(factor)) * rate; };
}

Schedule cosine_annealing(double first, int64_t steps, double last) {
    return [=](const Tensor& step) {
        const Tensor fall = cos(progress(step, steps) * std::numbers::pi) + 1.0;
        return fall * ((first - last) / 2) + last;
    };
}

Schedule noam(int64_t width, int64_t warmup, double scale) {
    return [=](const Tensor& step) {
        const Tensor n = real(step + 1);
        const double rise = std::pow(static_cast<double>(std::max<int64_t>(warmup, 1)), -1.5);
        return minimum(rsqrt(n), n * rise) * (scale / std::sqrt(static_cast<double>(width)));
    };
}

Schedule sequential(std::vector<Segment> segments) {
    return [parts = std::move(segments)](const Tensor& step) {
        Tensor rate;
        int64_t begin = 0;
        for (const Segment& part : parts) {
            const Tensor start = whole(step, begin);
            const Tensor here = part.schedule(maximum(step, start) - start);
            rate = begin == 0 ? here : where(less(step, start), rate, here);
            begin += part.steps;
        }
        return rate.trace() == nullptr ? step.trace()->constant(0) : rate;
    };
}

Schedule multiplied(Schedule a, Schedule b) {
    return [a = std::move(a), b = std::move(b)](const Tensor& step) { return a(step) * b(step); };
}

}  // namespace schedules

}  // namespace hearth
