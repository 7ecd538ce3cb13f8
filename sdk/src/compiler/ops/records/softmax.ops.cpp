// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Softmax and log-softmax: composites with gradient rules of their own.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <cmath>

namespace hearth {

namespace {

Status infer_softmax(InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    return same_as_input(call);
}

// The maximum along the axis, or 0 if that is -inf. x minus it is then NaN only for NaN or +inf in
// x.
Tensor shift_of(const Tensor& x, int64_t axis) {
    const Tensor largest = max(x, {axis}, true);
    return where(is_inf(largest, false, true), 0.0, largest);
}

// Calls body(x, y) for each slice along the axis, in double.
template <class F>
void for_each_slice(ReferenceContext& call, F body) {
    const HostTensor& x = call.inputs[0];
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    const int64_t count = x.shape()[axis].count;
    int64_t inner = 1;
    for (int i = axis + 1; i < x.shape().rank(); ++i) inner *= x.shape()[i].count;
    std::vector<double> from(static_cast<size_t>(count)), to(from.size());
    for (int64_t first = 0; first < x.element_count(); ++first) {
        if (first / inner % count != 0) continue;
        for (int64_t i = 0; i < count; ++i) from[static_cast<size_t>(i)] = x.get(first + i * inner);
        body(from, to);
        for (int64_t i = 0; i < count; ++i)
            call.outputs[0].set(first + i * inner, to[static_cast<size_t>(i)]);
    }
}

double largest_of(const std::vector<double>& list) {
    double best = -HUGE_VAL;
    for (double v : list) best = std::isnan(v) || v > best ? v : best;
    return best;
}

double exp_sum(const std::vector<double>& list, double shift) {
    double total = 0;
    for (double v : list) total += std::exp(v - shift);
    return total;
}

void softmax_reference(ReferenceContext& call) {
    for_each_slice(call, [](const std::vector<double>& x, std::vector<double>& y) {
        const double shift = largest_of(x);
        const double total = exp_sum(x, shift);
        for (size_t i = 0; i < x.size(); ++i)
            y[i] = shift == -HUGE_VAL ? 0 : std::exp(x[i] - shift) / total;
    });
}

void log_softmax_reference(ReferenceContext& call) {
    for_each_slice(call, [](const std::vector<double>& x, std::vector<double>& y) {
        const double shift = largest_of(x);
        const double log_total = shift == -HUGE_VAL ? 0 : std::log(exp_sum(x, shift)) + shift;
        for (size_t i = 0; i < x.size(); ++i) y[i] = x[i] - log_total;
    });
}

void softmax_samples(Samples& s) {
    const auto add = [&s](const Shape& shape, int64_t axis) -> Sample& {
        return s.add({shape}, {{"axis", axis}});
    };
    add({1}, 0);
    add({7}, 0);
    add({3, 5}, 0);
    add({3, 5}, 1);
    add({kBatch, 5}, 1);
    add({kBatch, 5}, 0);
    add({2, 1, 3}, 1);
    add({2, 3, 1, 5}, 3);
    add({1, 2, 3, 2, 2}, 2);
    add({3, 257}, 1);
    Sample& wide = add({4, 33}, 1);
    wide.low = -80;
    wide.high = 80;
}

constinit const OpDef kOps[] = {
    {
        .name = "softmax",
        .summary = "exp(x) / sum(exp(x)) along the axis; zeros for a slice of minus infinities",
        .inputs = {{"x"}},
        .attrs = {{"axis", AttrType::kInteger}},
        .op_class = OpClass::kComposite,
        .infer = infer_softmax,
        .reference = softmax_reference,
        .decompose = [](DecomposeContext& d) -> std::vector<Tensor> {
            const int64_t axis = d.attrs.integer("axis");
            const Tensor e = exp(d.in(0) - shift_of(d.in(0), axis));
            const Tensor total = sum(e, {axis}, true);
            return {e / where(equal(total, 0), 1.0, total)};
        },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor weighted = v.cotangent() * v.out();
            return {weighted - v.out() * sum(weighted, {v.attrs.integer("axis")}, true)};
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Softmax", 1, import_softmax}},
        .samples = softmax_samples,
    },
    {
        .name = "log_softmax",
        .summary = "x - log(sum(exp(x))) along the axis",
        .inputs = {{"x"}},
        .attrs = {{"axis", AttrType::kInteger}},
        .op_class = OpClass::kComposite,
        .infer = infer_softmax,
        .reference = log_softmax_reference,
        .decompose = [](DecomposeContext& d) -> std::vector<Tensor> {
            const int64_t axis = d.attrs.integer("axis");
            const Tensor shifted = d.in(0) - shift_of(d.in(0), axis);
            const Tensor total = sum(exp(shifted), {axis}, true);
            return {shifted - log(where(equal(total, 0), 1.0, total))};
        },
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor total = sum(v.cotangent(), {v.attrs.integer("axis")}, true);
            return {v.cotangent() - exp(v.out()) * total};
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"LogSoftmax", 1, import_log_softmax}},
        .samples = softmax_samples,
    },
};

Tensor along(std::string_view name, const Tensor& x, int64_t axis) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context(name));
    return apply_one(op(name), {x}, {{"axis", int64_t{*at}}});
}

}  // namespace

extern constinit const std::span<const OpDef> softmax_ops{kOps};

Tensor softmax(const Tensor& x, int64_t axis) {
    return along("softmax", x, axis);
}
Tensor log_softmax(const Tensor& x, int64_t axis) {
    return along("log_softmax", x, axis);
}

}  // namespace hearth
