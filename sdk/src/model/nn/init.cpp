// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Initializers of weights and biases: Kaiming, Xavier, and the rules of WeightInit.

#include <hearth/nn.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::nn {

namespace {

Init uniform_within(double bound, uint64_t seed) {
    return Init::uniform(-bound, bound, seed);
}

double fan(const Shape& weight, Fan which) {
    return static_cast<double>(std::max<int64_t>(fan_of(weight, which), 1));
}

double mean_fan(const Shape& weight) {
    return (fan(weight, Fan::kIn) + fan(weight, Fan::kOut)) / 2;
}

}  // namespace

int64_t fan_of(const Shape& weight, Fan fan) {
    int64_t count = 1;
    for (int i = 0; i < weight.rank(); ++i)
        if (i != (fan == Fan::kIn ? 0 : 1)) count *= weight[i].count;
    return count;
}

Init kaiming_uniform(const Shape& weight, Fan which, double gain, uint64_t seed) {
    return uniform_within(gain * std::sqrt(3 / fan(weight, which)), seed);
}

Init kaiming_normal(const Shape& weight, Fan which, double gain, uint64_t seed) {
    return Init::normal(0, gain / std::sqrt(fan(weight, which)), seed);
}

Init xavier_uniform(const Shape& weight, double gain, uint64_t seed) {
    return uniform_within(gain * std::sqrt(3 / mean_fan(weight)), seed);
}

Init xavier_normal(const Shape& weight, double gain, uint64_t seed) {
    return Init::normal(0, gain / std::sqrt(mean_fan(weight)), seed);
}

Init weight_init(WeightInit rule, const Shape& weight, uint64_t seed, double gain) {
    switch (rule) {
        case WeightInit::kPyTorchDefault:
            return uniform_within(gain / std::sqrt(fan(weight, Fan::kIn)), seed);
        case WeightInit::kKaiming:
            return kaiming_uniform(weight, Fan::kIn, gain * std::sqrt(2.0), seed);
        case WeightInit::kXavier:
            return xavier_uniform(weight, gain, seed);
        case WeightInit::kKaimingNormal:
            return kaiming_normal(weight, Fan::kIn, gain * std::sqrt(2.0), seed);
        case WeightInit::kXavierNormal:
            return xavier_normal(weight, gain, seed);
        case WeightInit::kOrthogonal:
            return Init::orthogonal(gain, seed);
        case WeightInit::kTruncatedNormal:
            return Init::truncated_normal(0, 0.02 * gain, seed);
        case WeightInit::kZeros:
            break;
    }
    return Init::zeros();
}

Init weight_init(WeightInit rule, int64_t in_features, int64_t out_features, uint64_t seed) {
    return weight_init(rule, Shape{out_features, in_features}, seed);
}

Init bias_init(WeightInit rule, const Shape& weight, uint64_t seed) {
    return rule == WeightInit::kPyTorchDefault ? weight_init(rule, weight, seed) : Init::zeros();
}

}  // namespace hearth::nn
