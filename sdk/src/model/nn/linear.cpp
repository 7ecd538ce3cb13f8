// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Linear layers, multilayer perceptrons, gated units, embeddings and LoRA adapters.

#include "compiler/ir/graph.hpp"

#include <hearth/nn.hpp>

namespace hearth::nn {

namespace {

Tensor low_rank(Trace& trace, std::string_view name, const Tensor& x, int64_t out_features,
                const LinearOptions& options) {
    const Lora& lora = *options.lora;
    if (lora.rank < 1) {
        trace.fail(invalid_argument("linear '" + std::string(name) + "': an adapter of rank " +
                                    std::to_string(lora.rank)));
        return {&trace, kInvalidId};
    }
    const Shape a_shape{lora.rank, x.dim(-1)}, b_shape{out_features, lora.rank};
    const Tensor a =
        trace.param(join_name(name, "lora_a"), a_shape,
                    weight_init(WeightInit::kPyTorchDefault, a_shape, options.seed), x.dtype());
    const Tensor b = trace.param(join_name(name, "lora_b"), b_shape, Init::zeros(), x.dtype());
    return hearth::linear(hearth::linear(x, a), b) * (lora.alpha / static_cast<double>(lora.rank));
}

}  // namespace

Tensor linear(Trace& trace, std::string_view name, const Tensor& x, int64_t out_features,
              const LinearOptions& options) {
    if (!x.ok()) return x;
    if (x.rank() == 0 || x.dim(-1).is_batch || out_features < 1) {
        trace.fail(invalid_argument("linear '" + std::string(name) + "': from " +
                                    to_string(x.shape()) + " to " + std::to_string(out_features) +
                                    " features: both must be fixed and positive"));
        return {&trace, kInvalidId};
    }
    const Shape shape{out_features, x.dim(-1)};
    const Tensor weight =
        trace.param(join_name(name, "weight"), shape,
                    weight_init(options.init, shape, options.seed, options.gain), x.dtype());
    Tensor bias;
    if (options.bias)
        bias = trace.param(join_name(name, "bias"), {out_features},
                           bias_init(options.init, shape, options.seed), x.dtype());
    const Tensor y = hearth::linear(x, weight, bias);
    return options.lora ? y + low_rank(trace, name, x, out_features, options) : y;
}

Tensor mlp(Trace& trace, std::string_view name, const Tensor& x, std::span<const int64_t> widths,
           Tensor (*activation)(const Tensor&), const LinearOptions& options) {
    Tensor y = x;
    LinearOptions last = options;
    if (options.output_gain) last.gain = *options.output_gain;
    for (size_t i = 0; i < widths.size(); ++i) {
        y = linear(trace, join_name(name, i), y, widths[i], i + 1 < widths.size() ? options : last);
        if (i + 1 < widths.size()) y = activation(y);
    }
    return y;
}

Tensor mlp(Trace& trace, std::string_view name, const Tensor& x,
           std::initializer_list<int64_t> widths, Tensor (*activation)(const Tensor&),
           const LinearOptions& options) {
    return mlp(trace, name, x, std::span(widths.begin(), widths.size()), activation, options);
}

Tensor glu(const Tensor& x, int64_t axis, Tensor (*gate)(const Tensor&)) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    const Dim extent = at.ok() ? x.shape()[*at] : Dim(1);
    if (!at.ok() || extent.is_batch || extent.count % 2 != 0) {
        x.trace()->fail(
            at.ok() ? invalid_argument("glu: axis " + std::to_string(*at) + " of " +
                                       to_string(x.shape()) +
                                       "; expected an even extent, which splits into two halves")
                    : at.status().with_context("glu"));
        return {x.trace(), kInvalidId};
    }
    const std::vector<Tensor> halves = split(x, {extent.count / 2, extent.count / 2}, *at);
    return halves[0] * gate(halves[1]);
}

Tensor gated_mlp(Trace& trace, std::string_view name, const Tensor& x, int64_t hidden,
                 int64_t out_features, Tensor (*gate)(const Tensor&),
                 const LinearOptions& options) {
    const Tensor open = gate(linear(trace, join_name(name, "gate"), x, hidden, options));
    const Tensor up = linear(trace, join_name(name, "up"), x, hidden, options);
    return linear(trace, join_name(name, "down"), open * up, out_features, options);
}

Tensor embedding(Trace& trace, std::string_view name, const Tensor& indices, int64_t count,
                 int64_t width, uint64_t seed) {
    const Tensor weight =
        trace.param(join_name(name, "weight"), {count, width}, Init::normal(0, 1, seed));
    return take(weight, indices);
}

Tensor dropout(Trace& trace, std::string_view name, const Tensor& x, double rate,
               const DropoutOptions& options) {
    if (!x.ok() || !options.training || rate == 0) return x;
    if (!(rate >= 0 && rate <= 1)) {
        trace.fail(invalid_argument("dropout '" + std::string(name) + "': the rate is " +
                                    std::to_string(rate) + "; it must be in [0, 1]"));
        return {&trace, kInvalidId};
    }
    if (rate == 1) return x * 0.0;
    const Tensor draw =
        random_uniform(global_step(trace, options.counter),
                       rng_key(join_name(name, "dropout"), options.seed), x.shape());
    return where(greater_equal(draw, rate), x / (1 - rate), 0.0);
}

}  // namespace hearth::nn
