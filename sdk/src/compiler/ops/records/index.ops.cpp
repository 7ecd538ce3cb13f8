// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads at indices that are data, and the sums that are their gradients. No atomics: each element
// of a sum loops over every index or, with many indices, over its segment of the sorted ones, so
// results are bitwise reproducible.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/elements.hpp"
#include "compiler/ops/shared/lines.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <algorithm>

namespace hearth {

namespace {

// Wraps negative indices as NumPy does, then clamps: no read leaves the tensor.
template <class I>
I in_bounds(I index, I count) {
    I from_front = select(index < 0, index + count, index);
    return min(max(from_front, count - count), count - 1);
}

Status check_gather_axis(const InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    if (call.shape(0)[static_cast<int>(call.attrs.integer("axis"))].count == 0)
        return invalid_argument("the axis to read from is empty");
    return {};
}

Status infer_gather(InferContext& call) {
    HEARTH_TRY(check_gather_axis(call));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    if (call.shape(0).rank() - 1 + call.shape(1).rank() > kMaxRank)
        return out_of_range("the result's rank is above " + std::to_string(kMaxRank));
    Shape shape;
    for (int i = 0; i < axis; ++i) shape.push_back(call.shape(0)[i]);
    for (Dim d : call.shape(1).dims()) shape.push_back(d);
    for (int i = axis + 1; i < call.shape(0).rank(); ++i) shape.push_back(call.shape(0)[i]);
    HEARTH_TRY(check_shape(shape));
    return call.one(call.dtype(0), shape);
}

Status check_elements(const Shape& x, const Shape& indices, int axis) {
    bool fits = x.rank() == indices.rank();
    for (int i = 0; fits && i < x.rank(); ++i)
        fits =
            i == axis || (indices[i].is_batch == x[i].is_batch && indices[i].count <= x[i].count);
    if (fits) return {};
    return invalid_argument("indices must lie within x's extents except along axis " +
                            std::to_string(axis));
}

Status infer_index_sum(InferContext& call) {
    const Shape& shape = call.attrs.shape("shape");
    HEARTH_TRY(check_axis(call.attrs, shape.rank()));
    HEARTH_TRY(check_shape(shape));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    Shape expected = shape;
    if (call.shape(1).rank() == 1) expected[axis] = call.shape(1)[0];
    if (call.shape(1).rank() != 1 || call.shape(0) != expected || shape[axis].count == 0)
        return invalid_argument("source must be " + to_string(expected) +
                                " and indices have one axis");
    return call.one(call.dtype(0), shape);
}

void reference_index_sum(ReferenceContext& call) {
    const HostTensor &source = call.inputs[0], &indices = call.inputs[1];
    HostTensor& out = call.outputs[0];
    const Lines from(source.shape(), static_cast<int>(call.attrs.integer("axis")));
    const Lines to(out.shape(), static_cast<int>(call.attrs.integer("axis")));
    const auto run = [&](const auto& elements, auto sums) {
        for (int64_t line = 0; line < from.count; ++line) {
            for (int64_t i = 0; i < from.extent; ++i) {
                const int64_t index = indices.get_int(i);
                const int64_t j =
                    std::clamp<int64_t>(index < 0 ? index + to.extent : index, 0, to.extent - 1);
                sums[static_cast<size_t>(to.base(line) + j * to.stride)] +=
                    elements[static_cast<size_t>(from.base(line) + i * from.stride)];
            }
        }
        for (size_t i = 0; i < sums.size(); ++i) store(out, static_cast<int64_t>(i), sums[i]);
    };
    const auto count = static_cast<size_t>(out.element_count());
    if (is_floating(source.dtype()))
        run(elements_of<double>(source), std::vector<double>(count));
    else
        run(elements_of<int64_t>(source), std::vector<int64_t>(count));
}

/// Loops over all indices, or sorts them, whichever costs less.
std::vector<Tensor> index_sum_by_cost(DecomposeContext& call) {
    const Tensor source = call.in(0);
    const Shape& shape = call.attrs.shape("shape");
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    if (shape[axis].is_batch || !should_sort(shape, call.in(1).dim(0)))
        return {apply_one(op("index_sum_scan"), {source, call.in(1)}, call.attrs)};
    Dim before(1), after(1);
    for (int i = 0; i < shape.rank(); ++i) {
        if (i == axis) continue;
        Dim& d = i < axis ? before : after;
        d = Dim(d.count * shape[i].count, d.is_batch || shape[i].is_batch);
    }
    const auto count = static_cast<double>(shape[axis].count);
    const Tensor i = cast(call.in(1), DType::kI64);
    const Tensor targets = clamp(where(less(i, 0), i + count, i), 0, count - 1);
    const Tensor zeros = expand(constant_like(source, 0), {before, shape[axis], after});
    return {reshape(
        fold_sorted(zeros, reshape(source, {before, call.in(1).dim(0), after}), targets, "add"),
        shape)};
}

Status infer_one_hot(InferContext& call) {
    Shape shape = call.shape(0);
    const int64_t depth = call.attrs.integer("depth"), axis = call.attrs.integer("axis");
    if (axis < 0 || axis > shape.rank() || shape.rank() == kMaxRank)
        return out_of_range("axis " + std::to_string(axis) + " of a result of rank " +
                            std::to_string(shape.rank() + 1));
    if (depth < 0) return invalid_argument("depth is " + std::to_string(depth));
    shape.insert(static_cast<int>(axis), Dim(depth));
    return call.one(call.attrs.dtype("dtype"), shape);
}

constexpr TensorType real(const Shape& shape) {
    return {DType::kF32, shape};
}
constexpr TensorType index(const Shape& shape) {
    return {DType::kI32, shape};
}

void gather_samples(Samples& s) {
    const auto add = [&s](const Shape& x, const Shape& indices, int64_t axis, double count) {
        Sample& sample = s.add_typed({real(x), index(indices)}, {{"axis", axis}});
        sample.low = -count;
        sample.high = count;
    };
    add({7}, {}, 0, 7);
    add({7}, {5}, 0, 7);
    add({3, 5}, {2, 3}, 1, 5);
    add({4, 5}, {kBatch}, 0, 4);
    add({kBatch, 5}, {3}, 1, 5);
    add({kBatch, 5}, {4}, 0, 3);
    add({2, 1, 3}, {1}, 1, 1);
    add({2, 3, 1, 5}, {4, 1}, 3, 5);
}

void index_sum_samples(Samples& s, bool differentiable) {
    const auto add = [&](const Shape& source, const Shape& indices, int64_t axis,
                         const Shape& shape, double count) {
        Sample& sample =
            s.add_typed({real(source), index(indices)}, {{"axis", axis}, {"shape", shape}});
        sample.low = -count;
        sample.high = count;
        sample.gradient = differentiable;
    };
    add({5}, {5}, 0, {7}, 7);
    add({3, 6}, {6}, 1, {3, 4}, 4);
    add({kBatch, 5}, {kBatch}, 0, {4, 5}, 4);
    add({4, 5}, {4}, 0, {kBatch, 5}, 3);
    add({2, 1, 3}, {1}, 1, {2, 3, 3}, 3);
    // Enough to be sorted.
    if (differentiable) add({2, 600, 3}, {600}, 1, {2, 400, 3}, 400);
}

void gather_elements_samples(Samples& s) {
    const auto add = [&s](const Shape& x, const Shape& indices, int64_t axis, double count) {
        Sample& sample = s.add_typed({real(x), index(indices)}, {{"axis", axis}});
        sample.low = -count;
        sample.high = count;
    };
    add({7}, {5}, 0, 7);
    add({3, 5}, {3, 1}, 1, 5);
    add({3, 5}, {4, 5}, 0, 3);
    add({3, 5}, {2, 4}, 1, 5);
    add({kBatch, 5}, {kBatch, 2}, 1, 5);
    add({2, 1, 3}, {2, 1, 7}, 2, 3);
    add({2, 3, 1, 5}, {2, 3, 1, 5}, 1, 3);
}

constinit const OpDef kOps[] = {
    {
        .name = "gather",
        .summary = "slices of x along the axis, at the indices",
        .inputs = {{"x", TypeClass::kAny}, {"indices", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger, 0}},
        .op_class = OpClass::kInjective,
        .traits = {.is_gather = true},
        .infer = infer_gather,
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis")), added = c.in_rank(1);
            auto out = c.coords();
            decltype(out) index_place, place;
            for (int i = 0; i < added; ++i) index_place.axis.push_back(out[axis + i]);
            auto index = c.to_index(c.in(1, index_place));
            for (int i = 0; i < axis; ++i) place.axis.push_back(out[i]);
            place.axis.push_back(in_bounds(index, c.in_dim(0, axis)));
            for (int i = axis + added; i < c.rank(); ++i) place.axis.push_back(out[i]);
            return c.in(0, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            // The axes of the indices are flattened into one.
            const int64_t axis = v.attrs.integer("axis");
            Shape shape = v.in(0).shape();
            shape[static_cast<int>(axis)] = v.in(1).shape().element_count();
            return {apply_one(op("index_sum"),
                              {reshape(v.cotangent(), shape), reshape(v.in(1), {Dim(-1)})},
                              {{"axis", axis}, {"shape", v.in(0).shape()}}),
                    Tensor()};
        },
        .onnx_export = onnx_export::gather,
        .onnx = {{"Gather", 1, import_gather}},
        .samples = gather_samples,
    },
    {
        .name = "index_sum",
        .summary = "out[.., j, ..] = sum of source[.., i, ..] over all i with indices[i] = j",
        .inputs = {{"source", TypeClass::kNumber}, {"indices", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger}, {"shape", AttrType::kShape}},
        .op_class = OpClass::kComposite,
        .infer = infer_index_sum,
        .reference = reference_index_sum,
        .decompose = index_sum_by_cost,
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {take(v.cotangent(), v.in(1), v.attrs.integer("axis")), Tensor()};
        },
        .samples = [](Samples& s) { index_sum_samples(s, true); },
    },
    {
        .name = "index_sum_scan",
        .summary = "index_sum, each element looking at all indices; made by its decomposition",
        .inputs = {{"source", TypeClass::kNumber}, {"indices", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger}, {"shape", AttrType::kShape}},
        .op_class = OpClass::kInjective,
        .infer = infer_index_sum,
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto place = c.coords();
            auto here = place[axis];
            return c.sum(c.in_dim(1, 0), [&](auto i) {
                decltype(place) index_place;
                index_place.axis.push_back(i);
                auto target = in_bounds(c.to_index(c.in(1, index_place)), c.dim(axis));
                place[axis] = i;
                return select(target == here, c.in(0, place), c.value(0));
            });
        }),
        .samples = [](Samples& s) { index_sum_samples(s, false); },
    },
    {
        .name = "gather_elements",
        .summary = "out[.., i, ..] = x[.., indices[.., i, ..], ..]",
        .inputs = {{"x", TypeClass::kAny}, {"indices", TypeClass::kInteger}},
        .attrs = {{"axis", AttrType::kInteger, 0}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_gather_axis(call));
            HEARTH_TRY(check_elements(call.shape(0), call.shape(1),
                                      static_cast<int>(call.attrs.integer("axis"))));
            return call.one(call.dtype(0), call.shape(1));
        },
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto place = c.coords();
            place[axis] = in_bounds(c.to_index(c.in(1, place)), c.in_dim(0, axis));
            return c.in(0, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {scatter_elements(zeros_like(v.in(0)), v.in(1), v.cotangent(),
                                     v.attrs.integer("axis"), "add"),
                    Tensor()};
        },
        .onnx_export = onnx_export::gather,
        .onnx = {{"GatherElements", 11,
                  [](OnnxCall& call) -> std::vector<Tensor> {
                      return {gather_elements(call.in(0), call.in(1), call.integer("axis", 0))};
                  }}},
        .samples = gather_elements_samples,
    },
    {
        .name = "one_hot",
        .summary = "1 where the coordinate along the new axis is the index, else 0",
        .inputs = {{"indices", TypeClass::kInteger}},
        .attrs = {{"depth", AttrType::kInteger},
                  {"axis", AttrType::kInteger},
                  {"dtype", AttrType::kDType}},
        .op_class = OpClass::kInjective,
        .infer = infer_one_hot,
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto out = c.coords();
            decltype(out) place;
            for (int i = 0; i < c.rank(); ++i)
                if (i != axis) place.axis.push_back(out[i]);
            auto index = c.to_index(c.in(0, place));
            auto from_front = select(index < 0, index + c.dim(axis), index);
            return select(from_front == out[axis], c.value(1), c.value(0));
        }),
        .stops_gradient = true,
        .onnx_export = onnx_export::one_hot,
        .onnx = {{"OneHot", 9, import_one_hot}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& indices, int64_t depth, int64_t axis,
                                      DType dtype) {
                    Sample& sample = s.add_typed(
                        {index(indices)}, {{"depth", depth}, {"axis", axis}, {"dtype", dtype}});
                    // Some indices are out of range: their rows are all zeros.
                    sample.low = static_cast<double>(-depth);
                    sample.high = static_cast<double>(depth + 1);
                };
                add({}, 3, 0, DType::kF32);
                add({7}, 5, 1, DType::kF32);
                add({kBatch}, 5, 1, DType::kF32);
                add({kBatch, 1}, 4, 0, DType::kF32);
                add({2, 1, 3}, 1, 2, DType::kI32);
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> index_ops{kOps};

namespace {

Tensor gather_along(std::string_view name, const Tensor& x, const Tensor& indices, int64_t axis) {
    if (!x.ok() || !indices.ok()) return failed_like(x);
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context(name));
    return apply_one(op(name), {x, indices}, {{"axis", int64_t{*at}}});
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, int64_t axis) {
    return gather_along("gather", x, indices, axis);
}

Tensor gather_elements(const Tensor& x, const Tensor& indices, int64_t axis) {
    return gather_along("gather_elements", x, indices, axis);
}

Tensor one_hot(const Tensor& indices, int64_t depth, int64_t axis, DType dtype) {
    if (!indices.ok()) return indices;
    const Result<int> at = normalize_axis(axis, indices.rank() + 1);
    if (!at.ok()) return fail(indices, at.status().with_context("one_hot"));
    return apply_one(op("one_hot"), {indices},
                     {{"depth", depth}, {"axis", int64_t{*at}}, {"dtype", dtype}});
}

}  // namespace hearth
