// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Normalization layers: declare their params and running statistics.

#include "compiler/ir/graph.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>

namespace hearth::nn {

namespace {

struct Affine {
    Tensor scale, bias;
};

/// Declares name.weight and name.bias of `shape`, initially the identity; empty where disabled.
Affine affine(Trace& trace, std::string_view name, const Tensor& x, const Shape& shape,
              const NormOptions& options) {
    Affine params;
    if (options.scale)
        params.scale = trace.param(join_name(name, "weight"), shape, Init::constant(1), x.dtype());
    if (options.bias)
        params.bias = trace.param(join_name(name, "bias"), shape, Init::zeros(), x.dtype());
    return params;
}

/// Returns [n] for n fixed elements along `axis` of x; nullopt after failing the trace.
std::optional<Shape> extent_along(Trace& trace, std::string_view name, const Tensor& x, int axis) {
    if (!x.ok()) return {};
    const int at = axis < 0 ? axis + x.rank() : axis;
    if (at >= 0 && at < x.rank() && !x.dim(at).is_batch) return Shape{x.dim(at)};
    trace.fail(invalid_argument("normalization '" + std::string(name) + "' of " +
                                to_string(x.shape()) + ": it has no fixed axis " +
                                std::to_string(axis)));
    return {};
}

}  // namespace

Tensor layer_norm(Trace& trace, std::string_view name, const Tensor& x,
                  const NormOptions& options) {
    const auto shape = extent_along(trace, name, x, -1);
    if (!shape) return {&trace, kInvalidId};
    const Affine a = affine(trace, name, x, *shape, options);
    return hearth::layer_norm(x, {-1}, a.scale, a.bias, options.epsilon);
}

Tensor rms_norm(Trace& trace, std::string_view name, const Tensor& x, const NormOptions& options) {
    const auto shape = extent_along(trace, name, x, -1);
    if (!shape) return {&trace, kInvalidId};
    NormOptions without_bias = options;
    without_bias.bias = false;
    const Affine a = affine(trace, name, x, *shape, without_bias);
    return hearth::rms_norm(x, {-1}, a.scale, options.epsilon);
}

Tensor group_norm(Trace& trace, std::string_view name, const Tensor& x, int64_t groups,
                  const NormOptions& options) {
    const auto shape = extent_along(trace, name, x, 1);
    if (!shape) return {&trace, kInvalidId};
    const Affine a = affine(trace, name, x, *shape, options);
    return hearth::group_norm(x, groups, a.scale, a.bias, options.epsilon);
}

Tensor instance_norm(Trace& trace, std::string_view name, const Tensor& x,
                     const NormOptions& options) {
    const auto shape = extent_along(trace, name, x, 1);
    if (!shape) return {&trace, kInvalidId};
    const Affine a = affine(trace, name, x, *shape, options);
    return hearth::instance_norm(x, a.scale, a.bias, options.epsilon);
}

Tensor batch_norm(Trace& trace, std::string_view name, const Tensor& x,
                  const BatchNormOptions& options) {
    const auto shape = extent_along(trace, name, x, 1);
    if (!shape) return {&trace, kInvalidId};
    const Affine a = affine(trace, name, x, *shape, {options.epsilon, options.scale, options.bias});
    const BatchStatistics batch = batch_statistics(x);
    const DType dtype = batch.mean.dtype();
    const Tensor mean = trace.state(join_name(name, "running_mean"), *shape, Init::zeros(), dtype);
    const Tensor variance =
        trace.state(join_name(name, "running_var"), *shape, Init::constant(1), dtype);
    if (!options.training)
        return hearth::batch_norm(x, mean, variance, a.scale, a.bias, options.epsilon);
    Axes axes{0};
    for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
    Tensor count = numel_along(x, axes);
    if (count.dtype() != dtype) count = cast(count, dtype);
    const auto moved = [&](const Tensor& old, const Tensor& now) {
        return old * (1 - options.momentum) + stop_gradient(now) * options.momentum;
    };
    trace.assign(mean, moved(mean, batch.mean));
    // Bessel's correction: n / (n - 1) times the batch variance is the unbiased estimate.
    trace.assign(variance, moved(variance, batch.variance * (count / maximum(count - 1.0, 1.0))));
    return batch_norm_train(x, a.scale, a.bias, options.epsilon);
}

}  // namespace hearth::nn
