// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shape rules, gradient helpers and samples that operator records share.

#include "compiler/ops/shared/rules.hpp"

#include "compiler/ir/graph.hpp"

#include <hearth/grad.hpp>

#include <algorithm>

namespace hearth {

Status same_as_input(InferContext& call) {
    return call.one(call.dtype(0), call.shape(0));
}

namespace {

Result<Shape> broadcast_all(const InferContext& call) {
    Shape shape = call.shape(0);
    for (size_t k = 1; k < call.inputs.size(); ++k) {
        HEARTH_ASSIGN(shape, broadcast(shape, call.inputs[k].shape));
        if (call.inputs[k].dtype != call.dtype(0))
            return invalid_argument("element types differ: " + std::string(name_of(call.dtype(0))) +
                                    " and " + std::string(name_of(call.inputs[k].dtype)));
    }
    HEARTH_TRY(check_shape(shape));
    return shape;
}

}  // namespace

Status broadcast_same_type(InferContext& call) {
    HEARTH_ASSIGN(const Shape shape, broadcast_all(call));
    return call.one(call.dtype(0), shape);
}

Status broadcast_to_bool(InferContext& call) {
    HEARTH_ASSIGN(const Shape shape, broadcast_all(call));
    return call.one(DType::kBool, shape);
}

Status bool_like_input(InferContext& call) {
    return call.one(DType::kBool, call.shape(0));
}

Status check_axis(const Attrs& attrs, int rank) {
    const int64_t axis = attrs.integer("axis");
    if (axis >= 0 && axis < rank) return {};
    return out_of_range("axis " + std::to_string(axis) + " of a tensor of rank " +
                        std::to_string(rank));
}

Status check_axes(const Attrs& attrs, int rank) {
    const std::vector<int64_t>& axes = attrs.integers("axes");
    for (size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] < 0 || axes[i] >= rank)
            return out_of_range("axis " + std::to_string(axes[i]) + " of a tensor of rank " +
                                std::to_string(rank));
        if (i > 0 && axes[i] <= axes[i - 1])
            return invalid_argument("axes " + to_string(AttrValue(axes)) +
                                    " are not sorted and distinct");
    }
    return {};
}

Status check_shape(const Shape& shape) {
    int symbolic = 0;
    for (Dim d : shape.dims()) {
        if (d.count < 0) return invalid_argument("negative extent in " + to_string(shape));
        symbolic += d.is_batch;
    }
    if (symbolic > 1)
        return invalid_argument("more than one symbolic extent in " + to_string(shape));
    return {};
}

Status reduce_axes(InferContext& call) {
    Shape shape = call.shape(0);
    HEARTH_TRY(check_axes(call.attrs, shape.rank()));
    for (int64_t axis : call.attrs.integers("axes")) shape[static_cast<int>(axis)] = Dim(1);
    return call.one(call.dtype(0), shape);
}

std::vector<int64_t> normalize_axes(const Tensor& x, const Axes& axes, std::string_view op_name) {
    std::vector<int64_t> all;
    if (!x.ok()) return all;
    if (axes.empty())
        for (int i = 0; i < x.rank(); ++i) all.push_back(i);
    for (int64_t axis : axes) {
        const Result<int> at = normalize_axis(axis, x.rank());
        if (!at.ok() || std::find(all.begin(), all.end(), *at) != all.end()) {
            x.trace()->fail(at.ok() ? invalid_argument(std::string(op_name) + ": axis " +
                                                       std::to_string(axis) + " is given twice")
                                    : at.status().with_context(op_name));
            return {};
        }
        all.push_back(*at);
    }
    std::sort(all.begin(), all.end());
    return all;
}

Tensor failed_like(const Tensor& x) {
    return {x.trace(), kInvalidId};
}

Tensor fail(const Tensor& x, Status status) {
    if (x.ok()) x.trace()->fail(std::move(status));
    return failed_like(x);
}

Tensor constant_like(const Tensor& x, double value) {
    return x.ok() ? x.trace()->constant(value, x.dtype()) : failed_like(x);
}

double smallest_normal(DType dtype) {
    return dtype == DType::kF16 ? 0x1p-14 : dtype == DType::kF64 ? 0x1p-1022 : 0x1p-126;
}

Tensor zeros_like(const Tensor& x) {
    return expand(constant_like(x, 0), x.shape());
}

std::vector<Tensor> vjp_of(std::vector<Tensor> (*decompose)(DecomposeContext&), VjpContext& call) {
    // Copies inputs, so that one derived from another does not pass cotangents on to it.
    std::vector<Tensor> inputs, floating;
    for (const Tensor& t : call.inputs) {
        inputs.push_back(is_floating(t.dtype()) ? identity(t) : t);
        if (is_floating(t.dtype())) floating.push_back(inputs.back());
    }
    DecomposeContext parts{call.trace, call.attrs, inputs};
    const std::vector<Tensor> outputs = decompose(parts);
    const std::vector<Tensor> found = vjp(outputs, call.cotangents, floating);
    std::vector<Tensor> all;
    size_t next = 0;
    for (const Tensor& t : call.inputs)
        all.push_back(is_floating(t.dtype()) ? found[next++] : Tensor());
    return all;
}

namespace {

// 1,031 elements are not a multiple of any workgroup size.
const Shape kUnaryShapes[] = {{},
                              {1},
                              {7},
                              {3, 5},
                              {2, 1, 3},
                              {kBatch, 5},
                              {Dim(2, true), 3},
                              {2, 3, 1, 5},
                              {1, 2, 3, 2, 2},
                              {1031}};
const Shape kBinaryShapes[][2] = {{{}, {}},
                                  {{5}, {5}},
                                  {{3, 1}, {5}},
                                  {{2, 3, 4}, {}},
                                  {{1}, {2, 1, 3}},
                                  {{2, 1, 4}, {3, 1}},
                                  {{kBatch, 3}, {3}},
                                  {{kBatch, 1}, {1, 4}},
                                  {{2, 1, 2, 1, 3}, {1, 3, 1, 2, 1}},
                                  {{33, 9}, {33, 9}}};

}  // namespace

void unary_samples_of(Samples& samples, DType dtype, double low, double high) {
    for (const Shape& shape : kUnaryShapes) {
        Sample& s = samples.add_typed({{dtype, shape}});
        s.low = low;
        s.high = high;
    }
}

void binary_samples_of(Samples& samples, DType dtype, double low, double high) {
    for (const auto& shapes : kBinaryShapes) {
        Sample& s = samples.add_typed({{dtype, shapes[0]}, {dtype, shapes[1]}});
        s.low = low;
        s.high = high;
    }
}

void unary_samples(Samples& samples, double low, double high) {
    unary_samples_of(samples, DType::kF32, low, high);
}

void binary_samples(Samples& samples, double low, double high) {
    binary_samples_of(samples, DType::kF32, low, high);
}

void narrow_integer_samples(Samples& samples, int input_count) {
    for (DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI64}) {
        Sample& s = input_count == 1 ? samples.add_typed({{dtype, {67}}})
                                     : samples.add_typed({{dtype, {67}}, {dtype, {67}}});
        const bool is_byte = size_bytes(dtype) == 1;
        s.high = is_unsigned(dtype) ? (is_byte ? 256 : 65536) : (is_byte ? 128 : 32768);
        s.low = is_unsigned(dtype) ? 0 : -s.high;
    }
}

void reduce_samples(Samples& samples) {
    using Axis = std::vector<int64_t>;
    samples.add({{}}, {{"axes", Axis{}}});
    samples.add({{1}}, {{"axes", Axis{0}}});
    samples.add({{7}}, {{"axes", Axis{0}}});
    samples.add({{3, 5}}, {{"axes", Axis{0}}});
    samples.add({{3, 5}}, {{"axes", Axis{1}}});
    samples.add({{3, 5}}, {{"axes", Axis{0, 1}}});
    samples.add({{2, 1, 3}}, {{"axes", Axis{1}}});
    samples.add({{2, 3, 4}}, {{"axes", Axis{0, 2}}});
    samples.add({{kBatch, 5}}, {{"axes", Axis{0}}});
    samples.add({{kBatch, 5}}, {{"axes", Axis{1}}});
    samples.add({{Dim(2, true), 3}}, {{"axes", Axis{0, 1}}});
    samples.add({{2, 3, 1, 5}}, {{"axes", Axis{1, 3}}});
    samples.add({{1, 2, 3, 2, 2}}, {{"axes", Axis{2, 4}}});
    samples.add({{3, 257}}, {{"axes", Axis{1}}});
    // Near 1, to keep long products in range.
    for (const Shape& shape : {Shape{1031}, Shape{259, 3}}) {
        Sample& s = samples.add({shape}, {{"axes", Axis{0}}});
        s.low = 0.99;
        s.high = 1.01;
    }
}

}  // namespace hearth
