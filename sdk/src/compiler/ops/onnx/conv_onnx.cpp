// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Imports ONNX convolution and pooling.

#include "compiler/ops/onnx/conv_onnx.hpp"

#include "compiler/ir/graph.hpp"
#include "compiler/ops/shared/windows.hpp"

#include <hearth/ops.hpp>

#include <algorithm>

namespace hearth {

namespace {

using Tensors = std::vector<Tensor>;

bool has_failed(const OnnxCall& call) {
    return !call.trace.status().ok();
}

/// The node's values per spatial axis; `high` is padding after the elements.
struct OnnxWindow {
    List kernel, strides, dilations, low, high;

    ConvOptions options(int64_t groups = 1) const {
        return {strides, dilations, low, high, groups};
    }
};

/// Reads attributes that have one value for each of `rank` axes.
std::optional<OnnxWindow> read_window(OnnxCall& call, const List& kernel) {
    const size_t rank = kernel.size();
    OnnxWindow w;
    w.kernel = kernel;
    w.strides = call.integers("strides", List(rank, 1));
    w.dilations = call.integers("dilations", List(rank, 1));
    const List pads = call.integers("pads", List(2 * rank, 0));
    if (has_failed(call)) return {};
    if (w.strides.size() != rank || w.dilations.size() != rank || pads.size() != 2 * rank) {
        call.invalid("strides, dilations or pads do not have a number for each of " +
                     std::to_string(rank) + " axes");
        return {};
    }
    for (size_t i = 0; i < rank; ++i) {
        const auto is_count = [](int64_t n) { return n >= 1 && n <= INT32_MAX; };
        if (is_count(w.kernel[i]) && is_count(w.strides[i]) && is_count(w.dilations[i]) &&
            std::abs(pads[i]) <= INT32_MAX && std::abs(pads[rank + i]) <= INT32_MAX)
            continue;
        call.invalid("kernel " + to_string(AttrValue(w.kernel)) + ", strides " +
                     to_string(AttrValue(w.strides)) + ", dilations " +
                     to_string(AttrValue(w.dilations)) + ", pads " + to_string(AttrValue(pads)));
        return {};
    }
    w.low.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
    w.high.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
    return w;
}

/// Splits the padding of SAME_UPPER or SAME_LOWER along an axis.
void split_padding(OnnxWindow& w, size_t axis, int64_t total, bool upper) {
    total = std::max<int64_t>(total, 0);
    w.low[axis] = upper ? total / 2 : total - total / 2;
    w.high[axis] = total - w.low[axis];
}

/// Applies the attribute auto_pad: SAME makes the extents ceil(size / stride).
bool apply_auto_pad(OnnxCall& call, OnnxWindow& w, const List& size) {
    const std::string how = call.text("auto_pad", "NOTSET");
    if (how == "NOTSET" || how.empty()) return true;
    const bool is_same = how == "SAME_UPPER" || how == "SAME_LOWER";
    if (!is_same && how != "VALID") {
        call.invalid("auto_pad is '" + how + "'");
        return false;
    }
    for (size_t i = 0; i < size.size(); ++i) {
        const int64_t count = (size[i] + w.strides[i] - 1) / w.strides[i];
        const int64_t span = (w.kernel[i] - 1) * w.dilations[i] + 1;
        split_padding(w, i, is_same ? (count - 1) * w.strides[i] + span - size[i] : 0,
                      how == "SAME_UPPER");
    }
    return true;
}

/// Returns true if x has 1 to 3 spatial axes of fixed extent; fails the trace if not.
bool has_fixed_space(OnnxCall& call, const Tensor& x) {
    if (has_failed(call)) return false;
    bool is_fixed = x.rank() >= 3 && x.rank() <= 5;
    for (int i = 2; is_fixed && i < x.rank(); ++i) is_fixed = !x.dim(i).is_batch;
    if (!is_fixed)
        call.unsupported("an input of " + to_string(x.shape()) +
                         ": expected batch, channels and 1 to 3 fixed spatial extents");
    return is_fixed;
}

/// Returns the convolution of x with w, which need not be the node's own inputs.
Tensor conv_of(OnnxCall& call, const Tensor& x, const Tensor& w, const Tensor& bias) {
    if (!has_fixed_space(call, x) || !has_fixed_space(call, w)) return {};
    std::optional<OnnxWindow> window = read_window(call, spatial_extents(w.shape()));
    if (!window) return {};
    if (w.rank() != x.rank()) {
        call.invalid("x is " + to_string(x.shape()) + ", weights are " + to_string(w.shape()));
        return {};
    }
    if (!apply_auto_pad(call, *window, spatial_extents(x.shape()))) return {};
    return conv(x, w, bias, window->options(call.integer("group", 1)));
}

/// x as i32 minus its zero point (input k, if present), a scalar or one per channel along the first
/// axis.
Tensor without_zero_point(OnnxCall& call, const Tensor& x, size_t k) {
    const Tensor wide = cast(x, DType::kI32);
    if (!call.has(k)) return wide;
    Tensor zero = cast(call.in(k), DType::kI32);
    const Dim count = zero.shape().element_count();
    if (count.is_one()) return wide - reshape(zero, {});
    Shape shape{Dim(-1)};
    for (int i = 1; i < x.rank(); ++i) shape.push_back(Dim(1));
    return wide - reshape(zero, shape);
}

/// Reshapes a scalar scale, or one per channel, to broadcast along axis 1 of a tensor of this rank.
Tensor per_channel(const Tensor& scale, int rank) {
    if (scale.shape().element_count().is_one()) return reshape(scale, {});
    Shape shape{Dim(-1)};
    for (int i = 2; i < rank; ++i) shape.push_back(Dim(1));
    return reshape(scale, shape);
}

}  // namespace

Tensors import_conv(OnnxCall& call) {
    const Tensor x = call.in(0), w = call.in(1);
    return {conv_of(call, x, w, call.has(2) ? call.in(2) : Tensor())};
}

// Computes in integers, so no sum is rounded.
Tensors import_conv_integer(OnnxCall& call) {
    const Tensor x = call.in(0), w = call.in(1);
    if (has_failed(call)) return {};
    return {conv_of(call, without_zero_point(call, x, 2), without_zero_point(call, w, 3), {})};
}

// inputs: x, its scale and zero point, w, its scales and zero points, scale and zero point of y,
// bias (i32, of scale x_scale * w_scale)
Tensors import_qlinear_conv(OnnxCall& call) {
    const Tensor x = call.in(0), w = call.in(3), y_zero = call.in(7);
    const Tensor x_scale = call.in(1), w_scale = call.in(4), y_scale = call.in(6);
    if (has_failed(call)) return {};
    const Tensor sums =
        conv_of(call, without_zero_point(call, x, 2), without_zero_point(call, w, 5),
                call.has(8) ? call.in(8) : Tensor());
    if (!sums.ok() || has_failed(call)) return {};
    const auto wide = [](const Tensor& t) {
        return t.dtype() == DType::kF32 ? t : cast(t, DType::kF32);
    };
    const Tensor scale = reshape(wide(x_scale), {}) * per_channel(wide(w_scale), sums.rank()) /
                         reshape(wide(y_scale), {});
    const Tensor zero = reshape(cast(y_zero, DType::kF32), {});
    const Tensor y = round(cast(sums, DType::kF32) * scale) + zero;
    const bool is_unsigned_y = is_unsigned(y_zero.dtype());
    return {cast(clamp(y, is_unsigned_y ? 0 : -128, is_unsigned_y ? 255 : 127), y_zero.dtype())};
}

// inputs: x, weights, offset, bias, mask
Tensors import_deform_conv(OnnxCall& call) {
    const Tensor x = call.in(0), w = call.in(1), offset = call.in(2);
    if (!has_fixed_space(call, x) || !has_fixed_space(call, w)) return {};
    const std::optional<OnnxWindow> window = read_window(call, spatial_extents(w.shape()));
    if (!window) return {};
    return {deform_conv(
        x, w, offset, call.has(4) ? call.in(4) : Tensor(), call.has(3) ? call.in(3) : Tensor(),
        window->options(call.integer("group", 1)), call.integer("offset_group", 1))};
}

// output_shape may replace pads: the excess is cropped on both sides.
Tensors import_conv_transpose(OnnxCall& call) {
    const Tensor x = call.in(0), w = call.in(1);
    if (!has_fixed_space(call, x) || !has_fixed_space(call, w)) return {};
    std::optional<OnnxWindow> window = read_window(call, spatial_extents(w.shape()));
    if (!window) return {};
    const List size = spatial_extents(x.shape());
    const size_t rank = size.size();
    List added = call.integers("output_padding", List(rank, 0));
    List wanted = call.integers("output_shape");
    if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
    const std::string how = call.text("auto_pad", "NOTSET");
    const bool is_same = how == "SAME_UPPER" || how == "SAME_LOWER";
    if (is_same && wanted.empty())
        for (size_t i = 0; i < rank; ++i) wanted.push_back(size[i] * window->strides[i]);
    if (has_failed(call)) return {};
    if (window->kernel.size() != rank || added.size() != rank ||
        (!wanted.empty() && wanted.size() != rank))
        return call.invalid("weights, output_padding or output_shape do not fit " +
                            to_string(x.shape()));
    for (size_t i = 0; i < rank && !wanted.empty(); ++i) {
        const int64_t all =
            (size[i] - 1) * window->strides[i] + (window->kernel[i] - 1) * window->dilations[i] + 1;
        split_padding(*window, i, all + added[i] - wanted[i], how == "SAME_UPPER");
        added[i] = wanted[i] - all + window->low[i] + window->high[i];
    }
    return {conv_transpose(x, w, call.has(2) ? call.in(2) : Tensor(),
                           window->options(call.integer("group", 1)), added)};
}

Tensors import_col2im(OnnxCall& call) {
    const Tensor x = call.in(0);
    const List extents = call.integers_in(1), kernel = call.integers_in(2);
    if (has_failed(call)) return {};
    const std::optional<OnnxWindow> window = read_window(call, kernel);
    if (!window) return {};
    return {fold(x, extents, kernel, window->options())};
}

namespace {

/// The node's window over x, and the kernel's extents, which are an attribute.
struct OnnxPool {
    Tensor x;
    List kernel;
    PoolOptions options;
};

std::optional<OnnxPool> read_pool(OnnxCall& call) {
    const Tensor x = call.in(0);
    if (!has_fixed_space(call, x)) return {};
    const List kernel = call.integers("kernel_shape");
    std::optional<OnnxWindow> w = read_window(call, kernel);
    if (!w) return {};
    if (kernel.size() + 2 != static_cast<size_t>(x.rank())) {
        call.invalid("a kernel " + to_string(AttrValue(kernel)) + " over " + to_string(x.shape()));
        return {};
    }
    if (!apply_auto_pad(call, *w, spatial_extents(x.shape()))) return {};
    const bool is_explicit = call.text("auto_pad", "NOTSET") == "NOTSET";
    return OnnxPool{x,
                    kernel,
                    {.strides = w->strides,
                     .dilations = w->dilations,
                     .pad_begin = w->low,
                     .pad_end = w->high,
                     .ceil_mode = is_explicit && call.flag("ceil_mode", false),
                     .count_include_pad = call.flag("count_include_pad", false)}};
}

}  // namespace

Tensors import_average_pool(OnnxCall& call) {
    const std::optional<OnnxPool> pool = read_pool(call);
    if (!pool) return {};
    return {avg_pool(pool->x, pool->kernel, pool->options)};
}

Tensors import_lp_pool(OnnxCall& call) {
    const std::optional<OnnxPool> pool = read_pool(call);
    if (!pool) return {};
    const auto p = static_cast<double>(call.integer("p", 2));
    return {lp_pool(pool->x, p, pool->kernel, pool->options)};
}

// The second output indexes the flattened tensor.
Tensors import_max_pool(OnnxCall& call) {
    const std::optional<OnnxPool> pool = read_pool(call);
    if (!pool) return {};
    const Tensor y = max_pool(pool->x, pool->kernel, pool->options);
    if (call.output_count < 2 || !y.ok()) return {y};
    Attrs attrs = y.trace()->graph().producer(y.value())->attrs;
    attrs.set("column_major", call.integer("storage_order", 0));
    attrs.set("whole_tensor", int64_t{1});
    return {y, apply_one(op("max_pool_index"), {pool->x}, attrs)};
}

// Indices refer to the flattened tensor that was pooled, whose extents follow from the window. A
// larger output_shape appends zeros.
Tensors import_max_unpool(OnnxCall& call) {
    const Tensor x = call.in(0), indices = call.in(1);
    if (!has_fixed_space(call, x)) return {};
    const std::optional<OnnxWindow> w = read_window(call, call.integers("kernel_shape"));
    if (!w) return {};
    const List count = spatial_extents(x.shape());
    if (w->kernel.size() != count.size())
        return call.invalid("a kernel " + to_string(AttrValue(w->kernel)) + " over " +
                            to_string(x.shape()));
    List size;
    for (size_t i = 0; i < count.size(); ++i)
        size.push_back((count[i] - 1) * w->strides[i] + w->kernel[i] - w->low[i] - w->high[i]);
    const Tensor plane = call.trace.constant(static_cast<double>(count_of(size)), indices.dtype());
    const Tensor in_plane = mod(indices, plane);
    Tensor y = max_unpool(x, in_plane, size);
    if (!call.has(2) || !y.ok()) return {y};
    const List wanted = call.integers_in(2);
    if (wanted.size() != static_cast<size_t>(x.rank()))
        return call.invalid("output_shape is " + to_string(AttrValue(wanted)));
    List low(wanted.size(), 0), high(wanted.size(), 0);
    for (size_t i = 2; i < wanted.size(); ++i) high[i] = wanted[i] - size[i - 2];
    return {pad(y, low, high)};
}

}  // namespace hearth
