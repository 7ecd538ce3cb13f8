// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Normalizations. One record computes nearly all of them: it standardizes elements by the mean and
// standard deviation over the given axes. Layer, instance, group and batch normalization differ in
// the axes and in the shape of scale and bias.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <algorithm>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

Status infer_over_axes(InferContext& call) {
    HEARTH_TRY(check_axes(call.attrs, call.shape(0).rank()));
    return same_as_input(call);
}

// Statistics of half-precision elements are computed in f32.
Tensor widened(const Tensor& x) {
    return x.dtype() == DType::kF16 || x.dtype() == DType::kBF16 ? cast(x, DType::kF32) : x;
}

Tensor narrowed(const Tensor& y, DType dtype) {
    return y.dtype() == dtype ? y : cast(y, dtype);
}

struct Moments {
    Tensor mean, variance;
    Tensor inverse_deviation(double epsilon) const { return rsqrt(variance + epsilon); }
};

/// Moments over the axes, kept with extent 1; the raw second moment if not `centred`.
Moments moments(const Tensor& x, const Axes& axes, bool centred) {
    if (!centred) return {Tensor(), mean(square(x), axes, true)};
    const Tensor m = mean(x, axes, true);
    return {m, mean(square(x - m), axes, true)};
}

Moments moments_of(const Tensor& x, const Attrs& attrs) {
    return moments(x, attrs.integers("axes"), attrs.flag("centred"));
}

Tensors decompose_normalize(DecomposeContext& d) {
    const Tensor x = widened(d.in(0));
    const Moments m = moments_of(x, d.attrs);
    const Tensor inverse = m.inverse_deviation(d.attrs.real("epsilon"));
    return {narrowed((m.mean.ok() ? x - m.mean : x) * inverse, d.in(0).dtype())};
}

// Projects out the cotangent's component along the result and, if centred, along constants; divides
// the rest by the standard deviation.
Tensors normalize_vjp(VjpContext& v) {
    const Axes& axes = v.attrs.integers("axes");
    const Tensor x = widened(v.in(0)), y = widened(v.out()), g = widened(v.cotangent());
    Tensor rest = g - y * mean(g * y, axes, true);
    if (v.attrs.flag("centred")) rest = rest - mean(g, axes, true);
    const Tensor inverse = moments_of(x, v.attrs).inverse_deviation(v.attrs.real("epsilon"));
    return {narrowed(rest * inverse, v.in(0).dtype())};
}

void axes_samples(Samples& s, const Attrs& common) {
    const auto add = [&s, &common](const Shape& shape, const Axes& axes) {
        Attrs attrs = common;
        attrs.set("axes", axes);
        s.add({shape}, attrs);
    };
    add({7}, {0});
    add({3, 5}, {1});
    add({3, 5}, {0});
    add({kBatch, 5}, {1});
    add({kBatch, 5}, {0});
    add({kBatch, 3, 2}, {0, 2});
    add({2, 3, 2, 2}, {2, 3});
    add({2, 3, 2, 3}, {0, 2, 3});
    add({2, 1, 3, 2, 2}, {1, 2, 3, 4});
    add({3, 257}, {1});
}

// Sum of |x|^p without the root, which has no gradient at zero.
Tensor power_sum(const Tensor& x, const Axes& axes, int64_t p) {
    return sum(p == 1 ? abs(x) : square(x), axes, true);
}

// --- ONNX ---

/// The axes from the attribute `axis` to the last.
std::optional<Axes> trailing_axes(OnnxCall& call, const Tensor& x) {
    const std::optional<int> axis = call.axis("axis", -1, x.rank());
    if (!axis || call.has_failed()) return {};
    Axes axes;
    for (int i = *axis; i < x.rank(); ++i) axes.push_back(i);
    return axes;
}

// In two stages: statistics and division in f32 (stash_type), scale and bias in x's type.
Tensors import_layer_normalization(OnnxCall& call) {
    const Tensor x = call.in(0);
    const std::optional<Axes> axes = trailing_axes(call, x);
    if (!axes) return {};
    const double epsilon = call.real("epsilon", 1e-5);
    const Tensor y = layer_norm(x, *axes, call.in(1), call.has(2) ? call.in(2) : Tensor(), epsilon);
    if (call.output_count < 2) return {y};
    const Moments m = moments(widened(x), *axes, true);
    return {y, narrowed(m.mean, DType::kF32), narrowed(m.inverse_deviation(epsilon), DType::kF32)};
}

Tensors import_rms_normalization(OnnxCall& call) {
    const Tensor x = call.in(0);
    const std::optional<Axes> axes = trailing_axes(call, x);
    if (!axes) return {};
    return {rms_norm(x, *axes, call.in(1), call.real("epsilon", 1e-5))};
}

Tensors import_instance_normalization(OnnxCall& call) {
    return {instance_norm(call.in(0), call.in(1), call.in(2), call.real("epsilon", 1e-5))};
}

// Scale and bias are per group in version 18, per channel since 21.
Tensors import_group_normalization(OnnxCall& call) {
    const Tensor x = call.in(0);
    Tensor scale = call.in(1), bias = call.in(2);
    const int64_t groups = call.integer("num_groups", 0);
    if (call.has_failed()) return {};
    if (call.opset < 21) {
        if (groups < 1 || scale.shape() != Shape{groups} || bias.shape() != Shape{groups} ||
            x.rank() < 2 || x.dim(1).is_batch || x.dim(1).count % groups != 0)
            return call.invalid(to_string(x.shape()) + " in " + std::to_string(groups) +
                                " groups, scale is " + to_string(scale.shape()));
        const int64_t size = x.dim(1).count / groups;
        const auto per_channel = [&](const Tensor& t) {
            return reshape(expand(unsqueeze(t, {1}), {groups, size}), {groups * size});
        };
        scale = per_channel(scale);
        bias = per_channel(bias);
    }
    return {group_norm(x, groups, scale, bias, call.real("epsilon", 1e-5))};
}

/// Normalizes with statistics per position over the batch alone: `spatial = 0`, up to version 8.
Tensors normalize_each_place(OnnxCall& call, const Tensor& x, const Tensor& m, const Tensor& v) {
    const Tensor inverse = rsqrt(v + call.real("epsilon", 1e-5));
    return {(x - m) * inverse * call.in(1) + call.in(2)};
}

// Statistics may be of a wider type than x since version 14. Up to version 13 the number of outputs
// selects training or inference. The running statistics are outputs 1 and 2 in all versions; the
// further outputs of versions 7 and 9 are the batch's own statistics.
Tensors import_batch_normalization(OnnxCall& call) {
    Tensor x = call.in(0);
    const Tensor scale = call.in(1), bias = call.in(2), m = call.in(3), v = call.in(4);
    if (call.has_failed()) return {};
    if (x.rank() == 0) return call.invalid("input is a scalar");
    const Shape shape = x.shape();
    if (x.rank() == 1) x = unsqueeze(x, {1});  // one channel
    const bool is_training =
        call.opset >= 14 ? call.flag("training_mode", false) : call.output_count > 1;
    const bool is_spatial = call.opset >= 9 || call.flag("spatial", true);
    if (is_training && !is_spatial) return call.unsupported("training with spatial = 0");
    if (!is_spatial) return normalize_each_place(call, x, m, v);
    const double epsilon = call.real("epsilon", 1e-5);
    if (!is_training) return {reshape(batch_norm(x, m, v, scale, bias, epsilon), shape)};
    const BatchStatistics batch = batch_statistics(x);
    const double keep = call.real("momentum", 0.9);
    const auto running = [&](const Tensor& old, const Tensor& now) {
        return old * keep + narrowed(now, old.dtype()) * (1 - keep);
    };
    return {reshape(batch_norm_train(x, scale, bias, epsilon), shape), running(m, batch.mean),
            running(v, batch.variance), batch.mean, batch.variance};
}

// (x - mean) / (std + 1e-9): the standard's epsilon is outside of the root, and matters only where
// std is zero.
Tensors import_mean_variance_normalization(OnnxCall& call) {
    constexpr double kEpsilon = 1e-9 * 1e-9;
    return {standardize(call.in(0), call.integers("axes", {0, 2, 3}), kEpsilon)};
}

Tensors import_lp_normalization(OnnxCall& call) {
    const int64_t p = call.integer("p", 2);
    if (p != 1 && p != 2) return call.invalid("p is " + std::to_string(p));
    return {lp_normalize(call.in(0), {call.integer("axis", -1)}, p)};
}

constinit const OpDef kOps[] = {
    {
        .name = "normalize",
        .summary = "(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) over the axes; with "
                   "zero in place of the mean if not centred",
        .inputs = {{"x"}},
        .attrs = {{"axes", AttrType::kIntegers},
                  {"epsilon", AttrType::kFloat, 1e-5},
                  {"centred", AttrType::kInteger, 1}},
        .op_class = OpClass::kComposite,
        .infer = infer_over_axes,
        .decompose = decompose_normalize,
        .vjp = normalize_vjp,
        .onnx = {{"BatchNormalization", 7, import_batch_normalization},
                 {"GroupNormalization", 18, import_group_normalization},
                 {"InstanceNormalization", 1, import_instance_normalization},
                 {"LayerNormalization", 17, import_layer_normalization},
                 {"MeanVarianceNormalization", 9, import_mean_variance_normalization},
                 {"RMSNormalization", 23, import_rms_normalization}},
        .samples =
            [](Samples& s) {
                axes_samples(s, {{"epsilon", 0.1}});
                axes_samples(s, {{"epsilon", 0.1}, {"centred", int64_t{0}}});
            },
    },
    {
        .name = "standardize",
        .summary = "(x - mean) / sqrt(variance + epsilon) with given moments, element by element",
        .inputs = {{"x"}, {"mean"}, {"variance"}},
        .attrs = {{"epsilon", AttrType::kFloat, 1e-5}},
        .infer = broadcast_same_type,
        .compute = compute_float(
            [](auto& c) { return (c.x(0) - c.x(1)) * rsqrt(c.x(2) + c.attrs().real("epsilon")); }),
        .vjp = [](VjpContext& v) -> Tensors {
            const Tensor inverse = rsqrt(v.in(2) + v.attrs.real("epsilon"));
            const Tensor to_x = v.cotangent() * inverse;
            return {sum_to_shape(to_x, v.in(0).shape()), neg(sum_to_shape(to_x, v.in(1).shape())),
                    sum_to_shape(to_x * v.out() * inverse * -0.5, v.in(2).shape())};
        },
        .onnx_export = onnx_export::standardize,
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& x, const Shape& moments) {
                    Sample& sample = s.add({x, moments, moments}, {{"epsilon", 0.1}});
                    sample.low = 0.5;  // variances are positive
                };
                add({}, {});
                add({7}, {1});
                add({2, 3, 4}, {3, 1});
                add({kBatch, 3, 2, 2}, {3, 1, 1});
                add({2, 3, 1, 5}, {2, 3, 1, 5});
            },
    },
    {
        .name = "lp_normalize",
        .summary = "x / max(norm of x over the axes, epsilon), with the norm of |x| (p = 1) or "
                   "the Euclidean one (p = 2)",
        .inputs = {{"x"}},
        .attrs = {{"axes", AttrType::kIntegers},
                  {"p", AttrType::kInteger, 2},
                  {"epsilon", AttrType::kFloat, 1e-12}},
        .op_class = OpClass::kComposite,
        .infer = infer_over_axes,
        .decompose = [](DecomposeContext& d) -> Tensors {
            const Tensor x = widened(d.in(0));
            const int64_t p = d.attrs.integer("p");
            const double epsilon = d.attrs.real("epsilon");
            const Tensor total = power_sum(x, d.attrs.integers("axes"), p);
            const Tensor y =
                p == 1 ? x / maximum(total, epsilon) : x * rsqrt(maximum(total, epsilon * epsilon));
            return {narrowed(y, d.in(0).dtype())};
        },
        .onnx = {{"LpNormalization", 1, import_lp_normalization}},
        .samples =
            [](Samples& s) {
                axes_samples(s, {});
                s.add({{3, 5}}, {{"axes", Axes{1}}, {"p", int64_t{1}}});
                s.add({{kBatch, 5}}, {{"axes", Axes{0}}, {"p", int64_t{1}}});
            },
    },
};

Tensor normalize_over(std::string_view name, const Tensor& x, const Axes& axes, double epsilon,
                      bool centred) {
    if (!x.ok()) return x;
    const Axes all = normalize_axes(x, axes, name);
    if (!x.trace()->status().ok()) return failed_like(x);
    // A scalar has no axes left: it is its own mean.
    return apply_one(op("normalize"), {x},
                     {{"axes", all}, {"epsilon", epsilon}, {"centred", int64_t{centred}}});
}

/// y * scale + bias; either may be empty.
Tensor scaled(Tensor y, const Tensor& scale, const Tensor& bias) {
    if (scale.trace() != nullptr) y = y * narrowed(scale, y.dtype());
    if (bias.trace() != nullptr) y = y + narrowed(bias, y.dtype());
    return y;
}

/// Reshapes [C] to [C, 1, ...], to broadcast along axis 1 of x; an empty tensor stays empty.
Tensor per_channel(const Tensor& v, const Tensor& x) {
    Axes axes;
    for (int i = 1; i + 1 < x.rank(); ++i) axes.push_back(i);
    return axes.empty() || v.trace() == nullptr ? v : unsqueeze(v, axes);
}

Status check_channels(std::string_view name, const Tensor& x,
                      std::initializer_list<Tensor> params) {
    if (x.rank() < 2)
        return invalid_argument(std::string(name) + ": x is " + to_string(x.shape()) +
                                ", expected [n, channels, ...]");
    for (const Tensor& p : params)
        if (p.trace() != nullptr && p.ok() && p.shape() != Shape{x.dim(1)})
            return invalid_argument(std::string(name) + ": x is " + to_string(x.shape()) +
                                    ", a value per channel " + to_string(p.shape()));
    return {};
}

/// All axes except the channels'.
Axes batch_axes(const Tensor& x) {
    Axes axes{0};
    for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
    return axes;
}

}  // namespace

std::vector<Tensor> import_lrn(OnnxCall& call) {
    return {local_response_norm(call.in(0), call.integer("size", 0), call.real("alpha", 1e-4),
                                call.real("beta", 0.75), call.real("bias", 1))};
}

extern constinit const std::span<const OpDef> norm_ops{kOps};

Tensor standardize(const Tensor& x, const Axes& axes, double epsilon) {
    return normalize_over("normalize", x, axes, epsilon, true);
}

Tensor layer_norm(const Tensor& x, const Axes& axes, const Tensor& scale, const Tensor& bias,
                  double epsilon) {
    return scaled(normalize_over("layer_norm", x, axes, epsilon, true), scale, bias);
}

Tensor rms_norm(const Tensor& x, const Axes& axes, const Tensor& scale, double epsilon) {
    return scaled(normalize_over("rms_norm", x, axes, epsilon, false), scale, {});
}

Tensor instance_norm(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon) {
    if (!x.ok()) return x;
    if (Status s = check_channels("instance_norm", x, {scale, bias}); !s.ok()) return fail(x, s);
    if (x.rank() < 3)
        return fail(x, invalid_argument("instance_norm: x is " + to_string(x.shape()) +
                                        ", expected [n, channels, places, ...]"));
    Axes axes;
    for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
    return scaled(normalize_over("instance_norm", x, axes, epsilon, true), per_channel(scale, x),
                  per_channel(bias, x));
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& scale, const Tensor& bias,
                  double epsilon) {
    if (!x.ok()) return x;
    if (Status s = check_channels("group_norm", x, {scale, bias}); !s.ok()) return fail(x, s);
    if (groups < 1 || x.dim(1).is_batch || x.dim(1).count % groups != 0)
        return fail(x, invalid_argument("group_norm: " + to_string(x.shape()) + " in " +
                                        std::to_string(groups) + " groups"));
    // Scaled before it is reshaped back, so that all of it is one kernel.
    const Dim size = x.dim(1).count / groups;
    Shape places;
    for (int i = 2; i < x.rank(); ++i) places.push_back(x.dim(i));
    const Tensor grouped = reshape(x, {x.dim(0), groups, size, places.element_count()});
    const auto as_grouped = [&](const Tensor& v) {
        return v.trace() == nullptr ? v : reshape(v, {groups, size, 1});
    };
    const Tensor y = scaled(normalize_over("group_norm", grouped, {2, 3}, epsilon, true),
                            as_grouped(scale), as_grouped(bias));
    return reshape(y, x.shape());
}

BatchStatistics batch_statistics(const Tensor& x) {
    if (!x.ok()) return {x, x};
    if (Status s = check_channels("batch_statistics", x, {}); !s.ok()) {
        const Tensor failed = fail(x, s);
        return {failed, failed};
    }
    const Moments m = moments(widened(x), batch_axes(x), true);
    return {squeeze(m.mean, batch_axes(x)), squeeze(m.variance, batch_axes(x))};
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance, const Tensor& scale,
                  const Tensor& bias, double epsilon) {
    if (!x.ok() || !mean.ok() || !variance.ok()) return failed_like(x);
    if (Status s = check_channels("batch_norm", x, {mean, variance, scale, bias}); !s.ok())
        return fail(x, s);
    // One element-wise operator, in the wider type of x and its moments.
    const DType dtype = widened(variance).dtype() == DType::kF64 ? DType::kF64 : widened(x).dtype();
    const auto moment = [&](const Tensor& t) { return per_channel(narrowed(t, dtype), x); };
    const Tensor y =
        apply_one(op("standardize"), {narrowed(x, dtype), moment(mean), moment(variance)},
                  {{"epsilon", epsilon}});
    return narrowed(scaled(y, per_channel(scale, x), per_channel(bias, x)), x.dtype());
}

Tensor batch_norm_train(const Tensor& x, const Tensor& scale, const Tensor& bias, double epsilon) {
    if (!x.ok()) return x;
    if (Status s = check_channels("batch_norm_train", x, {scale, bias}); !s.ok()) return fail(x, s);
    return scaled(normalize_over("batch_norm_train", x, batch_axes(x), epsilon, true),
                  per_channel(scale, x), per_channel(bias, x));
}

Tensor lp_normalize(const Tensor& x, const Axes& axes, int64_t p, double epsilon) {
    if (!x.ok()) return x;
    if (p != 1 && p != 2)
        return fail(
            x, invalid_argument("lp_normalize: p is " + std::to_string(p) + ", expected 1 or 2"));
    const Axes all = normalize_axes(x, axes, "lp_normalize");
    if (!x.trace()->status().ok()) return failed_like(x);
    return apply_one(op("lp_normalize"), {x}, {{"axes", all}, {"p", p}, {"epsilon", epsilon}});
}

// Krizhevsky, Sutskever and Hinton, "ImageNet classification with deep convolutional neural
// networks", 2012, section 3.3; alpha is divided by the size as in ONNX and PyTorch.
Tensor local_response_norm(const Tensor& x, int64_t size, double alpha, double beta, double bias) {
    if (!x.ok()) return x;
    if (x.rank() < 2 || size < 1)
        return fail(x, invalid_argument("local_response_norm: " + to_string(x.shape()) +
                                        " with a window of " + std::to_string(size)));
    // Mean over windows of the channels, which a reshape turns into image rows.
    Shape image{x.dim(0), 1, x.dim(1), 1};
    for (int i = 2; i < x.rank(); ++i)
        image[3] = Dim(image[3].count * x.dim(i).count, image[3].is_batch || x.dim(i).is_batch);
    const PoolOptions window{
        .strides = {1, 1}, .pad_begin = {(size - 1) / 2, 0}, .pad_end = {size / 2, 0}};
    const Tensor mean_square =
        reshape(avg_pool(reshape(square(x), image), {size, 1}, window), x.shape());
    return x / pow(mean_square * alpha + bias, beta);
}

}  // namespace hearth
