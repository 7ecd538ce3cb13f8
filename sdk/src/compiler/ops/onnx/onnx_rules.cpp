// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shared ONNX import rules.

#include "compiler/ops/onnx/onnx_rules.hpp"

#include "compiler/ops/shared/rules.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// `axis` counted from the front; -1 after failing the trace.
int axis_of(OnnxCall& call, int64_t axis, int rank) {
    const Result<int> at = normalize_axis(axis, rank);
    if (at.ok()) return *at;
    call.trace.fail(at.status());
    return -1;
}

}  // namespace

std::vector<Tensor> import_chain(OnnxCall& call, Tensor (*join)(const Tensor&, const Tensor&)) {
    const std::vector<Tensor> parts = call.all();
    if (parts.empty()) return call.invalid("has no inputs");
    Tensor all = parts[0];
    for (size_t i = 1; i < parts.size(); ++i) all = join(all, parts[i]);
    return {all};
}

std::vector<Tensor> import_cast(OnnxCall& call) {
    const int64_t number = call.integer("to", 0);
    const std::optional<DType> to = dtype_from_onnx(number);
    if (!to) return call.unsupported("element type " + onnx_type_name(number));
    const Tensor x = call.in(0);
    return {x.dtype() == *to ? x : cast(x, *to)};
}

// Bounds are attributes up to version 6, optional inputs since 11.
std::vector<Tensor> import_clip(OnnxCall& call) {
    Tensor x = call.in(0);
    if (call.opset < 11) return {clamp(x, call.real("min", -HUGE_VAL), call.real("max", HUGE_VAL))};
    if (call.has(1)) x = maximum(x, call.in(1));
    if (call.has(2)) x = minimum(x, call.in(2));
    return {x};
}

std::vector<Tensor> import_concat(OnnxCall& call) {
    if (!call.attrs.has("axis")) return call.invalid("needs the attribute 'axis'");
    const std::vector<Tensor> parts = call.all();
    if (parts.empty()) return call.invalid("has no inputs");
    return {concat(parts, call.integer("axis", 0))};
}

std::vector<Tensor> import_expand(OnnxCall& call) {
    const Tensor x = call.in(0);
    const std::optional<Shape> wanted = call.shape(call.extents_in(1));
    if (!wanted || !x.ok()) return {x};
    const Result<Shape> shape = broadcast(x.shape(), *wanted);
    if (!shape.ok()) return call.invalid(shape.status().message());
    if (Status s = check_extents(*shape); !s.ok()) return call.unsupported(s.message());
    return {expand(x, *shape)};
}

std::vector<Tensor> import_gather(OnnxCall& call) {
    const Tensor x = call.in(0), indices = call.in(1);
    if (x.rank() + indices.rank() - 1 > kMaxRank)
        return call.unsupported("a result of rank " +
                                std::to_string(x.rank() + indices.rank() - 1));
    return {take(x, indices, call.integer("axis", 0))};
}

std::vector<Tensor> import_gelu(OnnxCall& call) {
    const std::string how = call.text("approximate", "none");
    if (how != "none" && how != "tanh") return call.invalid("approximate is '" + how + "'");
    return {how == "tanh" ? gelu_tanh(call.in(0)) : gelu(call.in(0))};
}

namespace {

// Up to version 11, the axes from `axis` on are flattened into one.
std::vector<Tensor> import_softmax_like(OnnxCall& call,
                                        Tensor (*function)(const Tensor&, int64_t)) {
    const Tensor x = call.in(0);
    if (call.opset >= 13) return {function(x, call.integer("axis", -1))};
    const int axis = axis_of(call, call.integer("axis", 1), x.rank());
    if (!x.ok() || axis < 0) return {};
    if (axis == x.rank() - 1) return {function(x, axis)};
    return {reshape(function(flatten(x, axis, -1), axis), x.shape())};
}

}  // namespace

std::vector<Tensor> import_softmax(OnnxCall& call) {
    return import_softmax_like(call, softmax);
}

std::vector<Tensor> import_log_softmax(OnnxCall& call) {
    return import_softmax_like(call, log_softmax);
}

// inputs: indices, depth, [off value, on value]. Negative indices count from the back.
std::vector<Tensor> import_one_hot(OnnxCall& call) {
    Tensor indices = call.in(0);
    const int64_t depth = call.integer_in(1, 0);
    const Tensor values = call.in(2);
    if (!call.trace.status().ok()) return {};
    if (depth < 1 || depth > INT32_MAX) return call.invalid("depth is " + std::to_string(depth));
    if (values.shape() != Shape{2})
        return call.invalid("values are " + to_string(values.shape()) + ", expected [2]");
    if (is_floating(indices.dtype())) indices = cast(indices, DType::kI64);
    const Tensor is_hot = one_hot(indices, depth, call.integer("axis", -1));
    const Tensor off = slice(values, 0, 0, 1), on = slice(values, 0, 1, 2);
    return {where(not_equal(is_hot, 0), on, off)};
}

// Amounts and the value are attributes up to version 2, inputs since 11; axes came with 18.
std::vector<Tensor> import_pad(OnnxCall& call) {
    Tensor x = call.in(0);
    const std::vector<int64_t> pads = call.list("pads", 1).value_or(std::vector<int64_t>());
    const double value = call.has(1) ? call.real_in(2, 0) : call.real("value", 0);
    const std::string mode = call.text("mode", "constant");
    std::vector<int64_t> axes;
    if (call.has(3))
        axes = call.integers_in(3);
    else
        for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
    if (!x.ok() || !call.trace.status().ok()) return {};
    constexpr std::pair<std::string_view, PadMode> kModes[] = {
        {"constant", PadMode::kConstant},
        {"reflect", PadMode::kReflect},
        {"edge", PadMode::kReplicate},
        {"wrap", PadMode::kCircular},
    };
    const auto* how = std::ranges::find(kModes, mode, [](const auto& m) { return m.first; });
    if (how == std::end(kModes)) return call.invalid("mode is '" + mode + "'");
    if (pads.size() != 2 * axes.size())
        return call.invalid("has " + std::to_string(pads.size()) + " amounts for " +
                            std::to_string(axes.size()) + " axes");
    std::vector<int64_t> low(static_cast<size_t>(x.rank()), 0), high = low;
    for (size_t i = 0; i < axes.size(); ++i) {
        const int axis = axis_of(call, axes[i], x.rank());
        if (axis < 0) return {};
        const int64_t before = pads[i], after = pads[i + axes.size()];
        if (x.dim(axis).count + before + after < 0)
            return call.invalid("cuts more than the " + to_string(x.dim(axis)) +
                                " elements of axis " + std::to_string(axis));
        low[static_cast<size_t>(axis)] = before;
        high[static_cast<size_t>(axis)] = after;
    }
    if (how->second == PadMode::kConstant) return {pad(x, low, high, value)};
    return {pad(x, low, high, how->second)};
}

// The result has the type of the base, whatever that of the exponent.
std::vector<Tensor> import_pow(OnnxCall& call) {
    const Tensor base = call.in(0), exponent = call.in(1);
    if (!base.ok() || !exponent.ok()) return {};
    if (is_floating(base.dtype())) {
        const bool same = exponent.dtype() == base.dtype();
        return {pow(base, same ? exponent : cast(exponent, base.dtype()))};
    }
    const Tensor real = pow(cast(base, DType::kF64), cast(exponent, DType::kF64));
    // An integer power may come out slightly too small; truncation would lose one.
    return {cast(is_floating(exponent.dtype()) ? real : round(real), base.dtype())};
}

// 0 copies the input's extent at this axis; -1 is inferred.
std::vector<Tensor> import_reshape(OnnxCall& call) {
    const Tensor x = call.in(0);
    std::vector<Dim> dims = call.extents_in(1);
    if (!x.ok() || !call.trace.status().ok()) return {};
    const Dim total = x.shape().element_count();
    std::optional<size_t> open;
    Dim known(1);
    for (size_t i = 0; i < dims.size(); ++i) {
        Dim& d = dims[i];
        if (d.count == 0 && !call.flag("allowzero", false)) {
            if (i >= static_cast<size_t>(x.rank()))
                return call.invalid("keeps extent " + std::to_string(i) + " of " +
                                    to_string(x.shape()));
            d = x.dim(static_cast<int>(i));
        }
        if (d.count == -1 && !open) {
            open = i;
            continue;
        }
        if (d.count < 0) return call.invalid("extent " + std::to_string(d.count));
        if (__builtin_mul_overflow(known.count, d.count, &known.count) || known.count > kMaxExtent)
            return call.invalid("more elements than " + to_string(x.shape()) + " has");
        if (known.is_batch && d.is_batch) return call.unsupported("rows times rows as a shape");
        known.is_batch = known.is_batch || d.is_batch;
    }
    if (open) {
        const bool fits = known.count > 0 && total.count % known.count == 0 &&
                          (total.is_batch || !known.is_batch);
        if (!fits)
            return call.invalid(to_string(x.shape()) + " does not divide into " + to_string(known));
        dims[*open] = Dim(total.count / known.count, total.is_batch && !known.is_batch);
    }
    const std::optional<Shape> shape = call.shape(dims);
    if (!shape) return {};
    return {reshape(x, *shape)};
}

// Attributes up to version 1, inputs since 10.
namespace {

/// Starts or ends of slices; bounds that depend on the batch size are per_row.
std::vector<Dim> bounds_in(OnnxCall& call, std::string_view name, size_t k) {
    if (call.has(k)) return call.extents_in(k);
    std::vector<Dim> bounds;
    for (int64_t n : call.integers(name)) bounds.emplace_back(n);
    return bounds;
}

/// True if a slice covers an axis completely, for any batch size.
bool takes_all(Dim extent, Dim start, Dim end, int64_t step) {
    const bool to_end = end.is_batch ? extent.is_batch && end.count >= extent.count
                                     : end.count >= (extent.is_batch ? INT32_MAX : extent.count);
    const bool from_begin = start == Dim(0) || (!start.is_batch && start.count <= INT32_MIN);
    return from_begin && to_end && step == 1;
}

}  // namespace

std::vector<Tensor> import_slice(OnnxCall& call) {
    Tensor x = call.in(0);
    using List = std::vector<int64_t>;
    const std::vector<Dim> starts = bounds_in(call, "starts", 1), ends = bounds_in(call, "ends", 2);
    List axes = call.list("axes", 3).value_or(List()), steps;
    if (call.has(4)) steps = call.integers_in(4);
    if (!x.ok() || !call.trace.status().ok()) return {};
    if (axes.empty())
        for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    if (steps.empty()) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() ||
        steps.size() != starts.size())
        return call.invalid("starts, ends, axes and steps differ in number");
    for (size_t i = 0; i < starts.size(); ++i) {
        const int axis = axis_of(call, axes[i], x.rank());
        if (axis < 0) return {};
        const Dim extent = x.dim(axis), start = starts[i], end = ends[i];
        if (takes_all(extent, start, end, steps[i])) continue;
        // A full reversal, which also works along the batch axis.
        const bool flips = start == Dim(-1) && steps[i] == -1 && end.count <= INT32_MIN;
        if (flips) {
            x = flip(x, {axis});
        } else if (start.is_batch || end.is_batch) {
            return call.unsupported("from " + to_string(start) + " to " + to_string(end) + " of " +
                                    to_string(extent) + " elements");
        } else {
            x = slice(x, axis, start.count, end.count, steps[i]);
        }
    }
    return {x};
}

std::vector<Tensor> import_arg(OnnxCall& call, Tensor (*function)(const Tensor&, int64_t, bool)) {
    const Tensor x = call.in(0);
    const int axis = axis_of(call, call.integer("axis", 0), x.rank());
    if (!x.ok() || axis < 0) return {};
    const bool keep_dims = call.flag("keepdims", true);
    if (!call.flag("select_last_index", false)) return {function(x, axis, keep_dims)};
    // The last of equal elements is the first in the flipped tensor.
    const Dim extent = x.dim(axis);
    if (extent.is_batch) return call.unsupported("the last of equal elements along the rows");
    const Tensor from_back = function(flip(x, {axis}), axis, keep_dims);
    return {static_cast<double>(extent.count - 1) - from_back};
}

std::vector<Tensor> import_reduce(OnnxCall& call, ReductionFunction function,
                                  ReductionFunction of_flags) {
    const OnnxReduction reduction(call);
    const Tensor& x = reduction.x();
    const bool are_flags = x.dtype() == DType::kBool && of_flags != nullptr;
    return {reduction.run(are_flags ? of_flags : function, x)};
}

OnnxReduction::OnnxReduction(OnnxCall& call)
    : x_(call.in(0)),
      axes_(call.list("axes", 1).value_or(Axes())),
      keep_dims_(call.flag("keepdims", true)) {
    is_noop_ = axes_.empty() && call.flag("noop_with_empty_axes", false);
}

}  // namespace hearth
