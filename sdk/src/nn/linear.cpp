// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ir/graph.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace hearth::nn {

namespace {

Init uniform_within(double bound, uint64_t seed) {
    return Init::uniform(-bound, bound, seed);
}

}  // namespace

Init weight_init(WeightInit rule, int64_t in_features, int64_t out_features, uint64_t seed) {
    const auto in = static_cast<double>(std::max<int64_t>(in_features, 1));
    const auto out = static_cast<double>(out_features);
    switch (rule) {
        case WeightInit::kFanIn:
            return uniform_within(1 / std::sqrt(in), seed);
        case WeightInit::kKaiming:
            return uniform_within(std::sqrt(6 / in), seed);
        case WeightInit::kXavier:
            return uniform_within(std::sqrt(6 / (in + out)), seed);
        case WeightInit::kZeros:
            break;
    }
    return Init::zeros();
}

Tensor linear(Trace& trace, std::string_view name, const Tensor& x, int64_t out_features,
              const LinearOptions& options) {
    if (!x.ok()) return x;
    const std::string path(name);
    if (x.rank() == 0 || x.dim(-1).per_row || out_features < 1) {
        trace.fail(invalid_argument("linear '" + path + "': from " + to_string(x.shape()) + " to " +
                                    std::to_string(out_features) +
                                    " features: both numbers must be fixed and positive"));
        return {&trace, kNone};
    }
    const int64_t in_features = x.dim(-1).count;
    const Tensor weight =
        trace.param(path + ".weight", {out_features, in_features},
                    weight_init(options.init, in_features, out_features, options.seed), x.dtype());
    if (!options.bias) return hearth::linear(x, weight);
    const bool is_random = options.init == WeightInit::kFanIn;
    const Init bias_init =
        is_random ? weight_init(options.init, in_features, 0, options.seed) : Init::zeros();
    return hearth::linear(x, weight,
                          trace.param(path + ".bias", {out_features}, bias_init, x.dtype()));
}

Tensor mlp(Trace& trace, std::string_view name, const Tensor& x, std::span<const int64_t> widths,
           Tensor (*activation)(const Tensor&), const LinearOptions& options) {
    Tensor y = x;
    for (size_t i = 0; i < widths.size(); ++i) {
        y = linear(trace, std::string(name) + "." + std::to_string(i), y, widths[i], options);
        if (i + 1 < widths.size()) y = activation(y);
    }
    return y;
}

Tensor mlp(Trace& trace, std::string_view name, const Tensor& x,
           std::initializer_list<int64_t> widths, Tensor (*activation)(const Tensor&),
           const LinearOptions& options) {
    return mlp(trace, name, x, std::span(widths.begin(), widths.size()), activation, options);
}

}  // namespace hearth::nn
