// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports ONNX operators that have no counterpart in Hearth, in terms of other operators.

#include "import/onnx/onnx_compositions.hpp"

#include "compiler/ops/onnx/conv_onnx.hpp"
#include "compiler/ops/onnx/image_onnx.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"

#include <hearth/core/convert.hpp>
#include <hearth/loss.hpp>
#include <hearth/ops.hpp>

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

using List = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

bool has_failed(const OnnxCall& call) {
    return !call.trace.status().ok();
}

/// Normalizes a negative `axis`; fails the trace and returns nothing if it is out of range.
std::optional<int> axis_of(OnnxCall& call, int64_t axis, int rank) {
    const Result<int> at = normalize_axis(axis, rank);
    if (at.ok()) return *at;
    call.trace.fail(at.status());
    return {};
}

Dim product(std::span<const Dim> dims) {
    Dim total(1);
    for (Dim d : dims) total = Dim(total.count * d.count, total.is_batch || d.is_batch);
    return total;
}

// --- Arithmetic ---

Tensors import_sum(OnnxCall& call) {
    const Tensors parts = call.all();
    if (parts.empty()) return call.invalid("has no inputs");
    Tensor total = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) total = total + parts[i];
    return {total};
}

Tensors import_mean(OnnxCall& call) {
    const Tensors total = import_sum(call);
    if (has_failed(call)) return {};
    return {total[0] * (1.0 / static_cast<double>(call.input_count()))};
}

// alpha * a * b + beta * c; c is broadcast to the product, and optional since opset 11.
Tensors import_gemm(OnnxCall& call) {
    const Tensor a = call.in(0), b = call.in(1);
    if (has_failed(call)) return {};
    if (a.rank() != 2 || b.rank() != 2)
        return call.invalid("a is " + to_string(a.shape()) + ", b is " + to_string(b.shape()) +
                            "; expected two matrices");
    Tensor y = matmul(a, b, call.flag("transA", false), call.flag("transB", false));
    const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
    if (alpha != 1) y = y * alpha;
    if (!call.has(2) || beta == 0) return {y};
    const Tensor c = call.in(2);
    return {y + (beta == 1 ? c : c * beta)};
}

Tensors import_cast_like(OnnxCall& call) {
    const Tensor x = call.in(0), target = call.in(1);
    return {x.dtype() == target.dtype() ? x : cast(x, target.dtype())};
}

Tensors import_swish(OnnxCall& call) {
    const Tensor x = call.in(0);
    return {x * sigmoid(x * call.real("alpha", 1))};
}

Tensors import_swiglu(OnnxCall& call) {
    const Tensor a = call.in(0), b = call.in(1);
    return {a * sigmoid(a * call.real("alpha", 1)) * b};
}

Tensors import_thresholded_relu(OnnxCall& call) {
    const Tensor x = call.in(0);
    return {where(greater(x, call.real("alpha", 1)), x, 0.0)};
}

Tensors import_shrink(OnnxCall& call) {
    const Tensor x = call.in(0);
    const double bias = call.real("bias", 0), lambda = call.real("lambd", 0.5);
    return {where(less(x, -lambda), x + bias, where(greater(x, lambda), x - bias, 0.0))};
}

// --- Shapes ---

Tensors import_flatten(OnnxCall& call) {
    const Tensor x = call.in(0);
    const int64_t axis = call.integer("axis", 1);
    if (has_failed(call)) return {};
    if (axis < -x.rank() || axis > x.rank())
        return call.invalid("axis " + std::to_string(axis) + " of a tensor of rank " +
                            std::to_string(x.rank()));
    const auto at = static_cast<size_t>(axis < 0 ? axis + x.rank() : axis);
    const Shape shape = x.shape();
    const std::span<const Dim> dims = shape.dims();
    return {reshape(x, {product(dims.subspan(0, at)), product(dims.subspan(at))})};
}

Tensors import_squeeze(OnnxCall& call) {
    return {squeeze(call.in(0), call.list("axes", 1).value_or(List()))};
}

Tensors import_unsqueeze(OnnxCall& call) {
    const std::optional<List> axes = call.list("axes", 1);
    if (!axes) return call.invalid("needs axes");
    return {unsqueeze(call.in(0), *axes)};
}

// The sizes are an attribute up to opset 11 and an input since 13; without them the parts are
// equal, except that the last one may be smaller since 18.
Tensors import_split(OnnxCall& call) {
    const Tensor x = call.in(0);
    std::optional<List> extents = call.list("split", 1);
    if (has_failed(call)) return {};
    const std::optional<int> axis = axis_of(call, call.integer("axis", 0), x.rank());
    if (!axis) return {};
    if (!extents) {
        const Dim whole = x.dim(*axis);
        const auto parts = call.integer("num_outputs", static_cast<int64_t>(call.output_count));
        if (parts < 1 || parts > 1 << 16 || whole.is_batch)
            return call.unsupported("splitting " + to_string(whole) + " elements into " +
                                    std::to_string(parts) + " parts");
        const int64_t each = (whole.count + parts - 1) / parts;
        extents.emplace();
        for (int64_t i = 0; i < parts; ++i)
            extents->push_back(std::clamp<int64_t>(whole.count - i * each, 0, each));
    }
    if (extents->size() == 1) return {x};
    return split(x, *extents, *axis);
}

Tensors import_tile(OnnxCall& call) {
    return {tile(call.in(0), call.integers_in(1))};
}

// blocksize^2 channels become the pixels of one block.  DCR: the position in the block is the outer
// part of the channel index; CRD: the inner part.
Tensors import_depth_to_space(OnnxCall& call) {
    const Tensor x = call.in(0);
    const int64_t block = call.integer("blocksize", 0);
    const std::string mode = call.text("mode", "DCR");
    if (has_failed(call)) return {};
    if (x.rank() != 4 || block < 1 || block > 1 << 10 || x.dim(1).is_batch ||
        x.dim(1).count % (block * block) != 0)
        return call.invalid(to_string(x.shape()) + " with blocks of " + std::to_string(block));
    const Dim n = x.dim(0), c = x.dim(1).count / (block * block), h = x.dim(2), w = x.dim(3);
    const Tensor squares =
        mode == "CRD" ? transpose(reshape(x, {n, c, block, block, h, w}), {0, 1, 4, 2, 5, 3})
                      : transpose(reshape(x, {n, block, block, c, h, w}), {0, 3, 4, 1, 5, 2});
    return {reshape(squares, {n, c, h.count * block, w.count * block})};
}

Tensors import_space_to_depth(OnnxCall& call) {
    const Tensor x = call.in(0);
    const int64_t block = call.integer("blocksize", 0);
    const std::string mode = call.text("mode", "DCR");
    if (has_failed(call)) return {};
    if (x.rank() != 4 || block < 1 || block > 1 << 10 || x.dim(2).is_batch || x.dim(3).is_batch ||
        x.dim(2).count % block != 0 || x.dim(3).count % block != 0)
        return call.invalid(to_string(x.shape()) + " with blocks of " + std::to_string(block));
    const Dim n = x.dim(0), c = x.dim(1), h = x.dim(2).count / block, w = x.dim(3).count / block;
    const Tensor pixels = reshape(x, {n, c, h, block, w, block});
    const Tensor squares = mode == "CRD" ? transpose(pixels, {0, 1, 3, 5, 2, 4})
                                         : transpose(pixels, {0, 3, 5, 1, 2, 4});
    return {reshape(squares, {n, c.count * block * block, h, w})};
}

// --- Constants ---

// A longer range should be data of the model, not computed.
constexpr double kLongestRange = 1 << 24;

/// A range from 0 by 1 whose limit depends on data.
Tensors import_bounded_range(OnnxCall& call) {
    const HostTensor *start = call.value(0), *delta = call.value(2);
    if (has_failed(call)) return {};
    if (start->get(0) != 0 || delta->get(0) != 1)
        return call.unsupported("to a limit that depends on data, other than from 0 by 1");
    const Tensor limit = call.in(1);
    const std::optional<int64_t> extent = call.bounded_extent(Dim(kMaxExtent));
    if (!extent) return {};
    if (limit.shape().has_batch() || limit.shape().element_count(1) != 1)
        return call.invalid("start, limit and delta must be scalars of one type");
    const Tensor whole = is_floating(limit.dtype()) ? ceil(limit) : limit;
    call.pad_output(0, 0, maximum(reshape(cast(whole, DType::kI64), {}), 0));
    return {arange(call.trace, {*extent}, limit.dtype())};
}

Tensors import_range(OnnxCall& call) {
    const bool has_limit = call.has(1) && call.inputs[1].tensor.ok();
    if (has_limit && (call.bound || call.inputs[1].value == nullptr))
        return import_bounded_range(call);
    const HostTensor *start = call.value(0), *limit = call.value(1), *delta = call.value(2);
    if (has_failed(call)) return {};
    for (const HostTensor* t : {start, limit, delta})
        if (t->element_count() != 1 || t->dtype() != start->dtype())
            return call.invalid("start, limit and delta must be scalars of one type");
    const double from = start->get(0), step = delta->get(0);
    const double count = std::max(0.0, std::ceil((limit->get(0) - from) / step));
    if (!(count <= kLongestRange)) return call.unsupported("a range of " + std::to_string(count));
    const auto length = saturate_cast<int64_t>(count);
    if (!call.trace.has_room(1, static_cast<uint64_t>(length) * size_bytes(start->dtype())))
        return {};
    HostTensor range(start->dtype(), Shape{length});
    for (int64_t i = 0; i < range.element_count(); ++i)
        range.set(i, from + static_cast<double>(i) * step);
    return {call.trace.constant(std::move(range))};
}

Tensors import_trilu(OnnxCall& call) {
    const Tensor x = call.in(0);
    const List k = call.has(1) ? call.integers_in(1) : List{0};
    if (has_failed(call)) return {};
    if (k.size() != 1) return call.invalid("needs one diagonal");
    return {call.flag("upper", true) ? triu(x, k[0]) : tril(x, k[0])};
}

// Up to opset 11 the axes from `axis` on are flattened into one.
Tensors import_hardmax(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (has_failed(call)) return {};
    const std::optional<int> axis = call.axis("axis", call.opset >= 13 ? -1 : 1, x.rank());
    if (!axis) return {};
    const Tensor whole = call.opset >= 13 ? x : flatten(x, *axis, -1);
    const Dim classes = whole.dim(*axis);
    if (classes.is_batch) return call.unsupported("along the batch axis");
    return {reshape(one_hot(argmax(whole, *axis), classes.count, *axis, x.dtype()), x.shape())};
}

// --- Reductions ---

/// The mean of integers, rounded towards zero.
Tensor integer_mean(const Tensor& x, const Axes& axes, bool keep_dims) {
    return sum(x, axes, keep_dims) / cast(numel_along(x, axes), x.dtype());
}

Tensors import_reduce_mean(OnnxCall& call) {
    const OnnxReduction r(call);
    if (has_failed(call)) return {};
    return {r.run(is_integer(r.x().dtype()) ? integer_mean : mean, r.x())};
}

Tensors import_reduce_l1(OnnxCall& call) {
    const OnnxReduction r(call);
    return {r.run(sum, abs(r.x()))};
}

Tensors import_reduce_l2(OnnxCall& call) {
    const OnnxReduction r(call);
    return {sqrt(r.run(sum, square(r.x())))};
}

Tensors import_reduce_sum_square(OnnxCall& call) {
    const OnnxReduction r(call);
    return {r.run(sum, square(r.x()))};
}

Tensors import_reduce_log_sum(OnnxCall& call) {
    const OnnxReduction r(call);
    return {log(r.run(sum, r.x()))};
}

Tensors import_reduce_log_sum_exp(OnnxCall& call) {
    const OnnxReduction r(call);
    return {r.run(logsumexp, r.x())};
}

/// All axes after the channels.
Axes spatial_axes(const Tensor& x) {
    Axes axes;
    for (int i = 2; i < x.rank(); ++i) axes.push_back(i);
    return axes;
}

Tensors import_global_average_pool(OnnxCall& call) {
    const Tensor x = call.in(0);
    return {x.rank() > 2 ? mean(x, spatial_axes(x), true) : x};
}

Tensors import_global_max_pool(OnnxCall& call) {
    const Tensor x = call.in(0);
    return {x.rank() > 2 ? max(x, spatial_axes(x), true) : x};
}

Tensors import_global_lp_pool(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (has_failed(call)) return {};
    if (x.rank() < 3) return call.invalid("input is " + to_string(x.shape()));
    const auto p = static_cast<double>(call.integer("p", 2));
    const Tensor size = p == 1 ? abs(x) : p == 2 ? square(x) : pow(abs(x), p);
    const Tensor total = sum(size, spatial_axes(x), true);
    return {p == 1 ? total : p == 2 ? sqrt(total) : pow(total, 1 / p)};
}

// --- Losses ---

/// Loss of log-probabilities with the classes in axis 1, according to the call's attributes and
/// inputs.
Tensor class_loss(OnnxCall& call, const Tensor& log_probabilities) {
    const Tensor target = call.in(1);
    const std::string reduction = call.text("reduction", "mean");
    CrossEntropyOptions options;
    if (call.has(2)) options.weight = call.in(2);
    if (call.attrs.has("ignore_index")) options.ignore_index = call.integer("ignore_index", 0);
    options.reduction = reduction == "none"  ? Reduction::kNone
                        : reduction == "sum" ? Reduction::kSum
                                             : Reduction::kMean;
    if (has_failed(call)) return log_probabilities;
    const int rank = log_probabilities.rank();
    if (rank < 2 || target.rank() != rank - 1 || !is_integer(target.dtype()))
        call.invalid("input is " + to_string(log_probabilities.shape()) + ", target " +
                     std::string(name_of(target.dtype())) + to_string(target.shape()));
    if (options.reduction == Reduction::kMean && reduction != "mean")
        call.invalid("reduction is '" + reduction + "'");
    if (has_failed(call)) return log_probabilities;
    Axes classes_last{0};
    for (int i = 2; i < rank; ++i) classes_last.push_back(i);
    classes_last.push_back(1);
    return nll_loss(transpose(log_probabilities, classes_last), target, options);
}

Tensors import_nll_loss(OnnxCall& call) {
    return {class_loss(call, call.in(0))};
}

Tensors import_softmax_cross_entropy_loss(OnnxCall& call) {
    const Tensor scores = call.in(0);
    if (scores.rank() < 2) return call.invalid("scores are " + to_string(scores.shape()));
    const Tensor log_probabilities = log_softmax(scores, 1);
    return {class_loss(call, log_probabilities), log_probabilities};
}

constexpr OnnxMapping kCompositions[] = {
    {"AffineGrid", 20, import_affine_grid},
    {"CastLike", 15, import_cast_like},
    {"CausalConvWithState", 27, import_causal_conv_with_state},
    {"CenterCropPad", 18, import_center_crop_pad},
    {"DeformConv", 19, import_deform_conv},
    {"DepthToSpace", 1, import_depth_to_space},
    {"Flatten", 1, import_flatten},
    {"Gemm", 7, import_gemm},
    {"GRU", 1, import_gru},
    {"GlobalAveragePool", 1, import_global_average_pool},
    {"GlobalLpPool", 2, import_global_lp_pool},
    {"GlobalMaxPool", 1, import_global_max_pool},
    {"Hardmax", 1, import_hardmax},
    {"LRN", 1, import_lrn},
    {"LSTM", 1, import_lstm},
    {"LinearAttention", 27, import_linear_attention},
    {"MaxUnpool", 9, import_max_unpool},
    {"Mean", 8, import_mean},
    {"NegativeLogLikelihoodLoss", 12, import_nll_loss},
    {"RNN", 1, import_rnn},
    {"Range", 11, import_range},
    {"ReduceL1", 1, import_reduce_l1},
    {"ReduceL2", 1, import_reduce_l2},
    {"ReduceLogSum", 1, import_reduce_log_sum},
    {"ReduceLogSumExp", 1, import_reduce_log_sum_exp},
    {"ReduceMean", 1, import_reduce_mean},
    {"ReduceSumSquare", 1, import_reduce_sum_square},
    {"Shrink", 9, import_shrink},
    {"SoftmaxCrossEntropyLoss", 12, import_softmax_cross_entropy_loss},
    {"SpaceToDepth", 1, import_space_to_depth},
    {"Split", 2, import_split},
    {"Squeeze", 1, import_squeeze},
    {"Sum", 8, import_sum},
    {"SwiGLU", 28, import_swiglu},
    {"Swish", 24, import_swish},
    {"ThresholdedRelu", 10, import_thresholded_relu},
    {"Tile", 6, import_tile},
    {"Trilu", 14, import_trilu},
    {"Unsqueeze", 1, import_unsqueeze},
};

}  // namespace

std::span<const OnnxMapping> onnx_compositions() {
    return kCompositions;
}

}  // namespace hearth
