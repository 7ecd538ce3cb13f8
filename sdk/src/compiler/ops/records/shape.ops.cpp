// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Operators that only move elements: views, concatenation and padding.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <hearth/core/extents.hpp>

#include <algorithm>

namespace hearth {

namespace {

std::vector<int64_t> inverse(const std::vector<int64_t>& permutation) {
    std::vector<int64_t> back(permutation.size());
    for (size_t i = 0; i < permutation.size(); ++i)
        back[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
    return back;
}

bool is_empty(const Shape& shape) {
    return shape.element_count().count == 0;
}

// The first `rows` elements of a symbolic axis.
Tensor take_rows(const Tensor& x, int64_t axis, Dim rows) {
    const auto rank = static_cast<size_t>(x.rank());
    Shape shape = x.shape();
    shape[static_cast<int>(axis)] = rows;
    return apply_one(op("slice"), {x},
                     {{"begins", std::vector<int64_t>(rank, 0)},
                      {"steps", std::vector<int64_t>(rank, 1)},
                      {"shape", shape}});
}

Status infer_reshape(InferContext& call) {
    const Shape& shape = call.attrs.shape("shape");
    HEARTH_TRY(check_shape(shape));
    if (shape.element_count() != call.shape(0).element_count())
        return invalid_argument("cannot make " + to_string(shape) + " of " +
                                to_string(call.shape(0)) + ": " +
                                to_string(call.shape(0).element_count()) + " elements, not " +
                                to_string(shape.element_count()));
    return call.one(call.dtype(0), shape);
}

Status infer_transpose(InferContext& call) {
    const std::vector<int64_t>& perm = call.attrs.integers("perm");
    const int rank = call.shape(0).rank();
    std::vector<int64_t> sorted = perm;
    std::sort(sorted.begin(), sorted.end());
    bool is_permutation = static_cast<int>(perm.size()) == rank;
    for (size_t i = 0; i < sorted.size(); ++i)
        is_permutation = is_permutation && sorted[i] == static_cast<int64_t>(i);
    if (!is_permutation)
        return invalid_argument(to_string(AttrValue(perm)) + " is no permutation of " +
                                std::to_string(rank) + " axes");
    Shape shape;
    for (int64_t axis : perm) shape.push_back(call.shape(0)[static_cast<int>(axis)]);
    return call.one(call.dtype(0), shape);
}

Status infer_expand(InferContext& call) {
    const Shape& shape = call.attrs.shape("shape");
    HEARTH_TRY(check_shape(shape));
    HEARTH_ASSIGN(const Shape both, broadcast(call.shape(0), shape));
    if (both != shape)
        return invalid_argument(to_string(call.shape(0)) + " does not stretch to " +
                                to_string(shape));
    return call.one(call.dtype(0), shape);
}

Status infer_split(InferContext& call) {
    HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
    Shape piece = call.shape(0);
    Dim& along = piece[static_cast<int>(call.attrs.integer("axis"))];
    const Dim whole = along;
    int64_t total = 0;
    for (int64_t extent : call.attrs.integers("extents")) {
        if (extent < 0) return invalid_argument("a piece of " + std::to_string(extent));
        total += extent;
        along = Dim(extent);
        call.outputs.push_back({call.dtype(0), piece});
    }
    if (whole == Dim(total)) return {};
    return invalid_argument("the pieces hold " + std::to_string(total) + " elements, the axis " +
                            to_string(whole));
}

/// Elements per step along `axis`.
int64_t count_behind(const Shape& shape, int axis) {
    int64_t count = 1;
    for (int i = axis + 1; i < shape.rank(); ++i) count *= shape[i].count;
    return count;
}

/// True if parts like this one, concatenated along `axis`, are contiguous in memory.
bool lies_in_turn(const Shape& part, int axis) {
    for (int i = 0; i < part.rank(); ++i)
        if (i < axis ? !part[i].is_one() : i > axis && part[i].is_batch) return false;
    return true;
}

Status infer_concat(InferContext& call) {
    Shape shape = call.shape(0);
    HEARTH_TRY(check_axis(call.attrs, shape.rank()));
    const int axis = static_cast<int>(call.attrs.integer("axis"));
    for (size_t k = 1; k < call.inputs.size(); ++k) {
        const Shape& next = call.inputs[k].shape;
        bool agrees = next.rank() == shape.rank() && call.inputs[k].dtype == call.dtype(0) &&
                      next[axis].is_batch == shape[axis].is_batch;
        for (int i = 0; agrees && i < shape.rank(); ++i) agrees = i == axis || next[i] == shape[i];
        if (!agrees)
            return invalid_argument("part " + std::to_string(k) + " differs in more than axis " +
                                    std::to_string(axis) + ", or in whether that is symbolic");
        shape[axis].count += next[axis].count;
    }
    for (const TensorType& part : call.inputs)
        if (part.shape[axis].count == 0) return invalid_argument("a part is empty");
    return call.one(call.dtype(0), shape);
}

// begins, steps: one per axis; shape: that of the result.
Status infer_slice(InferContext& call) {
    const std::vector<int64_t>&begins = call.attrs.integers("begins"),
          &steps = call.attrs.integers("steps");
    const Shape &from = call.shape(0), &to = call.attrs.shape("shape");
    const auto rank = static_cast<size_t>(from.rank());
    if (begins.size() != rank || steps.size() != rank || to.rank() != from.rank())
        return invalid_argument("needs a begin, a step and an extent for each of " +
                                std::to_string(rank) + " axes");
    for (int i = 0; i < from.rank(); ++i) {
        const int64_t begin = begins[static_cast<size_t>(i)], step = steps[static_cast<size_t>(i)];
        // A slice of a symbolic axis must be a leading part that scales with it: nothing else stays
        // in bounds for every batch size.
        const bool fits =
            from[i].is_batch
                ? to[i].is_batch && begin == 0 && step == 1 && to[i].count >= 0 &&
                      to[i].count <= from[i].count
                : !to[i].is_batch && begin >= 0 && step >= 1 && to[i].count >= 0 &&
                      begin <= from[i].count && step <= INT32_MAX && to[i].count <= from[i].count &&
                      (to[i].count == 0 || begin + (to[i].count - 1) * step < from[i].count);
        if (!fits)
            return out_of_range("axis " + std::to_string(i) + ": " + to_string(to[i]) +
                                " elements from " + std::to_string(begin) + " by " +
                                std::to_string(step) + " of " + to_string(from[i]));
    }
    return call.one(call.dtype(0), to);
}

// low: elements before; interior: elements between neighbours; shape: that of the result.
Status infer_pad(InferContext& call) {
    const std::vector<int64_t>&low = call.attrs.integers("low"),
          &interior = call.attrs.integers("interior");
    const Shape &from = call.shape(0), &to = call.attrs.shape("shape");
    const auto rank = static_cast<size_t>(from.rank());
    if (low.size() != rank || interior.size() != rank || to.rank() != from.rank())
        return invalid_argument("needs two numbers and an extent for each of " +
                                std::to_string(rank) + " axes");
    for (int i = 0; i < from.rank(); ++i) {
        const int64_t before = low[static_cast<size_t>(i)],
                      between = interior[static_cast<size_t>(i)];
        const bool is_same = from[i].is_batch == to[i].is_batch;
        const bool fits = from[i].is_batch
                              ? before == 0 && between == 0 && to[i].count >= from[i].count
                              : before >= 0 && between >= 0 && before <= INT32_MAX &&
                                    between < INT32_MAX && from[i].count > 0 &&
                                    from[i].count <= INT32_MAX &&
                                    before + (from[i].count - 1) * (between + 1) < to[i].count;
        if (!is_same || !fits)
            return out_of_range("axis " + std::to_string(i) + ": " + to_string(from[i]) +
                                " elements do not fit in " + to_string(to[i]) + " from " +
                                std::to_string(before) + " by " + std::to_string(between + 1));
    }
    return call.one(call.dtype(0), to);
}

using List = std::vector<int64_t>;

constinit const OpDef kOps[] = {
    {
        .name = "reshape",
        .summary = "the same elements in the same order under another shape",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"shape", AttrType::kShape}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .is_reshape = true,
        .infer = infer_reshape,
        .compute = compute_any([](auto& c) { return c.in_linear(0, c.linear()); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {reshape(v.cotangent(), v.in(0).shape())};
        },
        .onnx_export = onnx_export::reshape,
        .onnx = {{"Reshape", 5, import_reshape}},
        .samples =
            [](Samples& s) {
                s.add({{}}, {{"shape", Shape{1}}});
                s.add({{1, 1}}, {{"shape", Shape{}}});
                s.add({{2, 3, 4}}, {{"shape", Shape{4, 6}}});
                s.add({{kBatch, 4}}, {{"shape", Shape{kBatch, 2, 2}}});
                s.add({{kBatch, 4}}, {{"shape", Shape{Dim(4, true)}}});
                s.add({{Dim(4, true)}}, {{"shape", Shape{2, kBatch, 2}}});
                s.add({{1, 2, 3, 2, 2}}, {{"shape", Shape{24}}});
                s.add_typed({{DType::kI32, {33, 9}}}, {{"shape", Shape{9, 33}}});
            },
    },
    {
        .name = "transpose",
        .summary = "axis i of the result is axis perm[i] of x",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"perm", AttrType::kIntegers}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .infer = infer_transpose,
        .compute = compute_any([](auto& c) {
            auto place = c.coords();
            const std::vector<int64_t>& perm = c.attrs().integers("perm");
            for (int i = 0; i < c.rank(); ++i)
                place[static_cast<int>(perm[static_cast<size_t>(i)])] = c.coord(i);
            return c.in(0, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {transpose(v.cotangent(), inverse(v.attrs.integers("perm")))};
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Transpose", 1,
                  [](OnnxCall& call) -> std::vector<Tensor> {
                      return {transpose(call.in(0), call.integers("perm"))};
                  }}},
        .samples =
            [](Samples& s) {
                s.add({{}}, {{"perm", List{}}});
                s.add({{7}}, {{"perm", List{0}}});
                s.add({{3, 5}}, {{"perm", List{1, 0}}});
                s.add({{kBatch, 5}}, {{"perm", List{1, 0}}});
                s.add({{2, 1, 3}}, {{"perm", List{2, 0, 1}}});
                s.add({{2, 3, 1, 5}}, {{"perm", List{0, 3, 1, 2}}});
                s.add({{1, 2, 3, 2, 2}}, {{"perm", List{4, 2, 0, 1, 3}}});
                s.add_typed({{DType::kI32, {33, 9}}}, {{"perm", List{1, 0}}});
            },
    },
    {
        .name = "expand",
        .summary = "x broadcast to a shape",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"shape", AttrType::kShape}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .infer = infer_expand,
        .compute = compute_any([](auto& c) { return c.x(0); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {sum_to_shape(v.cotangent(), v.in(0).shape())};
        },
        .onnx_export = onnx_export::expand,
        .onnx = {{"Expand", 8, import_expand}},
        .samples =
            [](Samples& s) {
                s.add({{}}, {{"shape", Shape{}}});
                s.add({{}}, {{"shape", Shape{3, 5}}});
                s.add({{1}}, {{"shape", Shape{7}}});
                s.add({{3, 1}}, {{"shape", Shape{2, 3, 5}}});
                s.add({{5}}, {{"shape", Shape{kBatch, 5}}});
                s.add({{kBatch, 1}}, {{"shape", Shape{2, kBatch, 3}}});
                s.add({{1, 2, 1, 2, 2}}, {{"shape", Shape{3, 2, 4, 2, 2}}});
            },
    },
    {
        .name = "split",
        .summary = "pieces of x along the axis, of the given extents",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"axis", AttrType::kInteger}, {"extents", AttrType::kIntegers}},
        .op_class = OpClass::kComposite,
        .infer = infer_split,
        .decompose = [](DecomposeContext& d) -> std::vector<Tensor> {
            std::vector<Tensor> pieces;
            int64_t begin = 0;
            for (int64_t extent : d.attrs.integers("extents")) {
                const int64_t end = begin + extent;
                pieces.push_back(slice(d.in(0), d.attrs.integer("axis"), begin, end));
                begin = end;
            }
            return pieces;
        },
        // One concatenation, where separate slices would each give a padded tensor.
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {concat(v.cotangents, v.attrs.integer("axis"))};
        },
        .samples =
            [](Samples& s) {
                s.add({{7}}, {{"axis", int64_t{0}}, {"extents", List{3, 4}}});
                s.add({{3, 5}}, {{"axis", int64_t{1}}, {"extents", List{1, 2, 2}}});
                s.add({{kBatch, 4, 2}}, {{"axis", int64_t{1}}, {"extents", List{4}}});
                s.add({{kBatch, 3}}, {{"axis", int64_t{1}}, {"extents", List{2, 1}}});
            },
    },
    {
        .name = "flip",
        .summary = "x read backwards along the axes",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"axes", AttrType::kIntegers}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_axes(call.attrs, call.shape(0).rank()));
            return same_as_input(call);
        },
        .compute = compute_any([](auto& c) {
            auto place = c.coords();
            for (int64_t axis : c.attrs().integers("axes")) {
                const int i = static_cast<int>(axis);
                place[i] = c.dim(i) - 1 - place[i];
            }
            return c.in(0, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {flip(v.cotangent(), v.attrs.integers("axes"))};
        },
        .onnx_export = onnx_export::flip,
        .samples =
            [](Samples& s) {
                s.add({{7}}, {{"axes", List{0}}});
                s.add({{3, 5}}, {{"axes", List{0, 1}}});
                s.add({{kBatch, 5}}, {{"axes", List{0}}});
                s.add({{2, 3, 1, 5}}, {{"axes", List{1, 2, 3}}});
            },
    },
    {
        .name = "slice",
        .summary = "every step-th element of each axis, from its begin",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"begins", AttrType::kIntegers},
                  {"steps", AttrType::kIntegers},
                  {"shape", AttrType::kShape}},
        .op_class = OpClass::kInjective,
        .is_view = true,
        .infer = infer_slice,
        .compute = compute_any([](auto& c) {
            auto place = c.coords();
            for (int i = 0; i < c.rank(); ++i)
                place[i] = place[i] * c.index(c.attrs().integers("steps")[static_cast<size_t>(i)]) +
                           c.index(c.attrs().integers("begins")[static_cast<size_t>(i)]);
            return c.in(0, place);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            if (is_empty(v.out().shape())) return {zeros_like(v.in(0))};
            List interior = v.attrs.integers("steps");
            for (int64_t& step : interior) --step;
            return {apply_one(op("pad"), {v.cotangent()},
                              {{"low", v.attrs.integers("begins")},
                               {"interior", interior},
                               {"shape", v.in(0).shape()},
                               {"value", 0.0}})};
        },
        .onnx_export = onnx_export::slice,
        .onnx = {{"Slice", 1, import_slice}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& from, List begins, List steps, const Shape& to) {
                    s.add({from}, {{"begins", begins}, {"steps", steps}, {"shape", to}});
                };
                add({}, {}, {}, {});
                add({7}, {2}, {1}, {3});
                add({3, 7}, {0, 1}, {1, 2}, {3, 3});
                add({kBatch, 5}, {0, 4}, {1, 1}, {kBatch, 1});
                add({Dim(2, true), 3}, {0, 0}, {1, 2}, {kBatch, 2});
                add({2, 3, 1, 5}, {1, 0, 0, 1}, {1, 2, 1, 3}, {1, 2, 1, 2});
                add({1, 2, 3, 2, 2}, {0, 1, 2, 0, 1}, {1, 1, 1, 1, 1}, {1, 1, 1, 2, 1});
            },
    },
    {
        .name = "pad",
        .summary = "x amid elements of one value: before, after and between its own",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"low", AttrType::kIntegers},
                  {"interior", AttrType::kIntegers},
                  {"shape", AttrType::kShape},
                  {"value", AttrType::kFloat, 0}},
        .op_class = OpClass::kInjective,
        .infer = infer_pad,
        .compute = compute_any([](auto& c) {
            auto place = c.coords();
            auto is_inside = c.index(0) == c.index(0);
            for (int i = 0; i < c.rank(); ++i) {
                const int64_t low = c.attrs().integers("low")[static_cast<size_t>(i)];
                const int64_t step = c.attrs().integers("interior")[static_cast<size_t>(i)] + 1;
                // An unpadded axis is read at the output's index, which keeps rows independent.
                if (low == 0 && step == 1 && c.in_shape(0)[i] == c.attrs().shape("shape")[i])
                    continue;
                // Outside of x, the nearest element is read and ignored.
                auto beyond = place[i] - c.index(low);
                auto from = max(beyond, c.index(0)) / c.index(step);
                auto last = c.in_dim(0, i) - 1;
                is_inside = logical_and(is_inside, from * c.index(step) == beyond);
                is_inside = logical_and(is_inside, from <= last);
                place[i] = min(from, last);
            }
            auto value = c.value(c.attrs().real("value"));
            return select(is_inside, c.in(0, place), value);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            List steps = v.attrs.integers("interior");
            for (int64_t& step : steps) ++step;
            return {apply_one(op("slice"), {v.cotangent()},
                              {{"begins", v.attrs.integers("low")},
                               {"steps", steps},
                               {"shape", v.in(0).shape()}})};
        },
        .onnx_export = onnx_export::pad,
        .onnx = {{"Pad", 2, import_pad}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](const Shape& from, List low, List interior, const Shape& to) {
                    s.add({from},
                          {{"low", low}, {"interior", interior}, {"shape", to}, {"value", 0.5}});
                };
                add({}, {}, {}, {});
                add({1}, {2}, {0}, {7});
                add({3}, {1}, {2}, {9});
                add({kBatch, 5}, {0, 2}, {0, 0}, {kBatch, 7});
                add({kBatch, 2}, {0, 0}, {0, 1}, {Dim(2, true), 3});
                add({2, 3, 1, 5}, {1, 0, 0, 3}, {0, 1, 0, 0}, {3, 5, 2, 8});
                add({1, 2, 3, 2, 2}, {0, 1, 0, 0, 1}, {0, 0, 0, 0, 0}, {1, 3, 4, 2, 3});
            },
    },
    {
        .name = "concat",
        .summary = "the parts one after another along the axis",
        .inputs = {{"parts", TypeClass::kAny, true}},
        .attrs = {{"axis", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .traits = {.is_concat = true},
        .infer = infer_concat,
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            if (lies_in_turn(c.in_shape(0), axis)) {
                const auto count = [&](int k) {
                    return c.in_dim(k, axis) * c.index(count_behind(c.in_shape(k), axis));
                };
                auto from = c.linear();
                auto result = c.in_linear(0, min(from, count(0) - 1));
                for (int k = 1; k < c.input_count(); ++k) {
                    from = from - count(k - 1);
                    const auto at = min(max(from, c.index(0)), count(k) - 1);
                    result = select(from >= c.index(0), c.in_linear(k, at), result);
                }
                return result;
            }
            auto place = c.coords();
            auto here = place[axis];
            auto begin = c.index(0);
            // Reads the nearest element of each part; the last part that begins at or before this
            // index gives the result.
            place[axis] = min(here, c.in_dim(0, axis) - 1);
            auto result = c.in(0, place);
            for (int k = 1; k < c.input_count(); ++k) {
                begin = begin + c.in_dim(k - 1, axis);
                auto last = c.in_dim(k, axis) - 1;
                place[axis] = min(max(here - begin, c.index(0)), last);
                result = select(here >= begin, c.in(k, place), result);
            }
            return result;
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const int64_t axis = v.attrs.integer("axis");
            std::vector<Tensor> parts;
            if (v.out().shape()[static_cast<int>(axis)].is_batch) {
                // A symbolic axis can only be sliced from its begin. Flipping reaches the rest: the
                // elements after the first k parts lead the flipped tensor.
                Tensor rest = v.cotangent();
                for (const Tensor& part : v.inputs) {
                    parts.push_back(take_rows(rest, axis, part.dim(static_cast<int>(axis))));
                    const Dim all = rest.dim(static_cast<int>(axis));
                    const Dim left(all.count - part.dim(static_cast<int>(axis)).count, true);
                    if (left.count > 0)
                        rest = flip(take_rows(flip(rest, {axis}), axis, left), {axis});
                }
                return parts;
            }
            int64_t begin = 0;
            for (const Tensor& part : v.inputs) {
                const int64_t extent = part.dim(static_cast<int>(axis)).count;
                parts.push_back(slice(v.cotangent(), axis, begin, begin + extent));
                begin += extent;
            }
            return parts;
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Concat", 4, import_concat}},
        .samples =
            [](Samples& s) {
                s.add({{1}, {6}}, {{"axis", int64_t{0}}});
                s.add({{3, 5}}, {{"axis", int64_t{1}}});
                s.add({{3, 5}, {3, 1}, {3, 2}}, {{"axis", int64_t{1}}});
                s.add({{kBatch, 5}, {kBatch, 3}}, {{"axis", int64_t{1}}});
                s.add({{kBatch, 2}, {Dim(2, true), 2}}, {{"axis", int64_t{0}}});
                s.add({{2, 3, 1, 5}, {2, 4, 1, 5}}, {{"axis", int64_t{1}}});
                s.add({{1, 2, 3, 2, 2}, {1, 2, 3, 2, 2}, {1, 2, 3, 2, 2}, {1, 2, 3, 2, 2}},
                      {{"axis", int64_t{4}}});
            },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> shape_ops{kOps};

Tensor reshape(const Tensor& x, const Shape& wanted) {
    if (!x.ok() || x.shape() == wanted) return x;
    Shape shape = wanted;
    const Dim total = x.shape().element_count();
    int open = -1;
    Dim known(1);
    for (int i = 0; i < shape.rank(); ++i) {
        if (shape[i].count == -1 && open < 0)
            open = i;
        else
            known = Dim(saturated_product(known.count, shape[i].count),
                        known.is_batch || shape[i].is_batch);
    }
    if (open >= 0) {
        if (known.count <= 0 || total.count % known.count != 0 ||
            (known.is_batch && !total.is_batch))
            return fail(x, invalid_argument("reshape: " + to_string(x.shape()) +
                                            " does not divide into " + to_string(wanted)));
        shape[open] = Dim(total.count / known.count, total.is_batch && !known.is_batch);
    }
    return apply_one(op("reshape"), {x}, {{"shape", shape}});
}

Tensor flatten(const Tensor& x, int64_t first, int64_t last) {
    if (!x.ok()) return x;
    if (x.rank() == 0) return reshape(x, {1});
    const Result<int> from = normalize_axis(first, x.rank()), to = normalize_axis(last, x.rank());
    if (!from.ok()) return fail(x, from.status().with_context("flatten"));
    if (!to.ok()) return fail(x, to.status().with_context("flatten"));
    Shape shape;
    Dim joined(1);
    for (int i = 0; i < x.rank(); ++i) {
        const Dim d = x.shape()[i];
        if (i < *from || i > *to) {
            shape.push_back(d);
            continue;
        }
        joined = Dim(joined.count * d.count, joined.is_batch || d.is_batch);
        if (i == *to) shape.push_back(joined);
    }
    return reshape(x, shape);
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
    const std::vector<int64_t> all = normalize_axes(x, axes, "squeeze");
    if (!x.ok() || !x.trace()->status().ok()) return failed_like(x);
    Shape shape;
    for (int i = 0; i < x.rank(); ++i) {
        const bool is_named = std::find(all.begin(), all.end(), i) != all.end();
        if (!is_named || (axes.empty() && !x.shape()[i].is_one()))
            shape.push_back(x.shape()[i]);
        else if (!x.shape()[i].is_one())
            return fail(x, invalid_argument("squeeze: axis " + std::to_string(i) + " of " +
                                            to_string(x.shape()) + " is not 1"));
    }
    return reshape(x, shape);
}

Tensor unsqueeze(const Tensor& x, const Axes& axes) {
    if (!x.ok()) return x;
    const int rank = x.rank() + static_cast<int>(axes.size());
    if (rank > kMaxRank)
        return fail(x, out_of_range("unsqueeze: rank " + std::to_string(rank) + ", at most " +
                                    std::to_string(kMaxRank)));
    std::vector<int> added;
    for (int64_t axis : axes) {
        const Result<int> at = normalize_axis(axis, rank);
        if (!at.ok()) return fail(x, at.status().with_context("unsqueeze"));
        added.push_back(*at);
    }
    std::sort(added.begin(), added.end());
    if (std::adjacent_find(added.begin(), added.end()) != added.end())
        return fail(x, invalid_argument("unsqueeze: an axis is given twice"));
    Shape shape = x.shape();
    for (int axis : added) shape.insert(axis, Dim(1));
    return reshape(x, shape);
}

Tensor transpose(const Tensor& x, const Axes& permutation) {
    if (!x.ok()) return x;
    std::vector<int64_t> perm = permutation;
    if (perm.empty())
        for (int i = x.rank(); i-- > 0;) perm.push_back(i);
    for (int64_t& axis : perm)
        if (axis < 0) axis += x.rank();
    return apply_one(op("transpose"), {x}, {{"perm", perm}});
}

Tensor swapaxes(const Tensor& x, int64_t a, int64_t b) {
    if (!x.ok()) return x;
    const Result<int> first = normalize_axis(a, x.rank()), second = normalize_axis(b, x.rank());
    if (!first.ok()) return fail(x, first.status().with_context("swap_axes"));
    if (!second.ok()) return fail(x, second.status().with_context("swap_axes"));
    if (*first == *second) return x;
    std::vector<int64_t> perm;
    for (int i = 0; i < x.rank(); ++i) perm.push_back(i);
    std::swap(perm[static_cast<size_t>(*first)], perm[static_cast<size_t>(*second)]);
    return transpose(x, perm);
}

Tensor expand(const Tensor& x, const Shape& shape) {
    if (!x.ok() || x.shape() == shape) return x;
    return apply_one(op("expand"), {x}, {{"shape", shape}});
}

Tensor flip(const Tensor& x, const Axes& axes) {
    const std::vector<int64_t> all = normalize_axes(x, axes, "flip");
    if (!x.ok() || !x.trace()->status().ok()) return failed_like(x);
    return apply_one(op("flip"), {x}, {{"axes", all}});
}

Tensor tile(const Tensor& x, const std::vector<int64_t>& repeats) {
    if (!x.ok()) return x;
    if (repeats.size() != static_cast<size_t>(x.rank()))
        return fail(x, invalid_argument("tile: " + std::to_string(repeats.size()) +
                                        " repeats for " + to_string(x.shape())));
    Tensor tiled = x;
    for (int i = 0; i < x.rank(); ++i) {
        const int64_t n = repeats[static_cast<size_t>(i)];
        if (n == 1) continue;
        Shape result = tiled.shape(), stretched = result;
        if (n < 0 || x.rank() == kMaxRank ||
            __builtin_mul_overflow(result[i].count, n, &result[i].count))
            return fail(
                x, out_of_range("tile: " + std::to_string(n) + " times " + to_string(x.shape())));
        stretched.insert(i, Dim(n));
        tiled = reshape(expand(unsqueeze(tiled, {i}), stretched), result);
    }
    return tiled;
}

Tensor roll(const Tensor& x, int64_t shift, int64_t axis) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context("roll"));
    const Dim extent = x.dim(*at);
    if (extent.is_batch)
        return fail(x, invalid_argument("roll: axis " + std::to_string(*at) + " of " +
                                        to_string(x.shape()) + " is symbolic"));
    if (extent.count == 0) return x;
    const int64_t from = ((-shift % extent.count) + extent.count) % extent.count;
    if (from == 0) return x;
    return concat({slice(x, *at, from, extent.count), slice(x, *at, 0, from)}, *at);
}

Tensor concat(std::span<const Tensor> parts, int64_t axis) {
    if (parts.empty() || !parts[0].ok()) return parts.empty() ? Tensor() : parts[0];
    const Result<int> at = normalize_axis(axis, parts[0].rank());
    if (!at.ok()) return fail(parts[0], at.status().with_context("concat"));
    // Empty parts are skipped, and one kernel takes a limited number.
    constexpr size_t kMostParts = 8;
    std::vector<Tensor> group, groups;
    for (const Tensor& part : parts) {
        if (!part.ok()) return part;
        if (part.dim(*at) == Dim(0)) continue;
        group.push_back(part);
        if (group.size() < kMostParts) continue;
        groups.push_back(apply(op("concat"), group, {{"axis", int64_t{*at}}})[0]);
        group.clear();
    }
    if (groups.empty() && group.empty()) return parts[0];
    if (groups.empty() && group.size() == 1) return group[0];
    if (!group.empty()) groups.push_back(apply(op("concat"), group, {{"axis", int64_t{*at}}})[0]);
    return groups.size() == 1 ? groups[0] : concat(groups, *at);
}

Tensor concat(std::initializer_list<Tensor> parts, int64_t axis) {
    return concat(std::span(parts.begin(), parts.size()), axis);
}

Tensor stack(std::span<const Tensor> parts, int64_t axis) {
    std::vector<Tensor> layers;
    for (const Tensor& part : parts) layers.push_back(unsqueeze(part, {axis}));
    return concat(layers, axis);
}

Tensor slice(const Tensor& x, int64_t axis, int64_t begin, int64_t end, int64_t step) {
    if (!x.ok()) return x;
    const Result<int> at = normalize_axis(axis, x.rank());
    if (!at.ok()) return fail(x, at.status().with_context("slice"));
    const Dim extent = x.dim(*at);
    const bool is_whole = begin == 0 && step == 1 && end >= INT32_MAX;
    if (extent.is_batch && is_whole) return x;
    if (step == 0 || extent.is_batch)
        return fail(x, invalid_argument(step == 0 ? "slice: the step is zero"
                                                  : "slice: axis " + std::to_string(*at) + " of " +
                                                        to_string(x.shape()) +
                                                        " is symbolic and cannot be cut"));
    const int64_t n = extent.count;
    if (begin < 0) begin = std::max(begin + n, step > 0 ? int64_t{0} : int64_t{-1});
    if (end < 0) end = std::max(end + n, step > 0 ? int64_t{0} : int64_t{-1});
    if (step < 0) {
        // Element i of the flipped tensor is element n - 1 - i.
        const int64_t from = n - 1 - std::min(begin, n - 1), to = n - 1 - std::min(end, n - 1);
        if (step < -n) step = -std::max<int64_t>(n, 1);
        return slice(flip(x, {*at}), *at, from, to, -step);
    }
    begin = std::min(begin, n);
    end = std::min(end, n);
    step = std::min(step, std::max<int64_t>(n, 1));
    const int64_t count = end > begin ? (end - begin + step - 1) / step : 0;
    if (count == n && step == 1) return x;
    const auto rank = static_cast<size_t>(x.rank());
    std::vector<int64_t> begins(rank, 0), steps(rank, 1);
    Shape shape = x.shape();
    begins[static_cast<size_t>(*at)] = begin;
    steps[static_cast<size_t>(*at)] = step;
    shape[*at] = Dim(count);
    return apply_one(op("slice"), {x}, {{"begins", begins}, {"steps", steps}, {"shape", shape}});
}

std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& extents, int64_t axis) {
    const std::vector<Tensor> failed(extents.size(), failed_like(x));
    if (!x.ok()) return failed;
    const Result<int> at = normalize_axis(axis, x.rank());
    int64_t total = 0;
    for (int64_t extent : extents) total += extent < 0 ? INT32_MAX : extent;
    if (!at.ok() || x.dim(*at) != Dim(total)) {
        fail(x, at.ok() ? invalid_argument("split: the pieces hold " + std::to_string(total) +
                                           " elements, axis " + std::to_string(*at) + " of " +
                                           to_string(x.shape()) + " holds " + to_string(x.dim(*at)))
                        : at.status().with_context("split"));
        return failed;
    }
    if (extents.empty()) return {};
    std::vector<Tensor> pieces =
        apply(op("split"), std::span(&x, 1), {{"axis", int64_t{*at}}, {"extents", extents}});
    pieces.resize(extents.size(), failed_like(x));
    return pieces;
}

Tensor pad(const Tensor& x, const std::vector<int64_t>& pad_begin,
           const std::vector<int64_t>& pad_end, double value) {
    if (!x.ok()) return x;
    const auto rank = static_cast<size_t>(x.rank());
    if (pad_begin.size() != rank || pad_end.size() != rank)
        return fail(
            x, invalid_argument("pad: needs two numbers for each axis of " + to_string(x.shape())));
    // Negative padding is cropped first.
    Tensor cut = x;
    std::vector<int64_t> before(rank), interior(rank, 0);
    Shape shape = x.shape();
    bool grows = false;
    for (size_t i = 0; i < rank; ++i) {
        const int axis = static_cast<int>(i);
        if (pad_begin[i] < 0 || pad_end[i] < 0)
            cut = slice(cut, axis, std::max<int64_t>(-pad_begin[i], 0),
                        x.dim(axis).count - std::max<int64_t>(-pad_end[i], 0));
        before[i] = std::max<int64_t>(pad_begin[i], 0);
        const int64_t added = before[i] + std::max<int64_t>(pad_end[i], 0);
        if (added > 0 && x.dim(axis).is_batch)
            return fail(x, invalid_argument("pad: axis " + std::to_string(i) + " of " +
                                            to_string(x.shape()) + " is symbolic"));
        shape[axis].count = cut.dim(axis).count + added;
        grows = grows || added > 0;
    }
    if (!cut.ok() || !grows) return cut;
    if (is_empty(cut.shape())) return expand(constant_like(x, value), shape);
    return apply_one(op("pad"), {cut},
                     {{"low", before}, {"interior", interior}, {"shape", shape}, {"value", value}});
}

}  // namespace hearth
