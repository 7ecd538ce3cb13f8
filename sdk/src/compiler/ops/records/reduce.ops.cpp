// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reductions. The records keep the reduced axes with extent 1, so that results broadcast against
// their inputs; the functions drop these axes unless keep_dims is set.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <cmath>

namespace hearth {

namespace {

// Gradient of an extremum: the elements that attain it share it, as in PyTorch's amax.
std::vector<Tensor> reduce_extremum_vjp(VjpContext& v) {
    const std::vector<int64_t>& axes = v.attrs.integers("axes");
    const Tensor reaches = cast(equal(v.in(0), v.out()), v.in(0).dtype());
    return {reaches * (v.cotangent() / sum(reaches, axes, true))};
}

// Product of all other elements along `axis`, from the factors themselves: dividing the product by
// the element fails for zeros.
Tensor product_of_others(const Tensor& x, int64_t axis) {
    return apply_one(op("product_of_others"), {x}, {{"axis", axis}});
}

// Output type of argmax and argmin.
Status infer_arg(InferContext& call) {
    Shape shape = call.shape(0);
    HEARTH_TRY(check_axis(call.attrs, shape.rank()));
    const auto axis = static_cast<int>(call.attrs.integer("axis"));
    if (shape[axis] == Dim(0))
        return invalid_argument("axis " + std::to_string(axis) + " of " + to_string(shape) +
                                " has no elements to choose from");
    shape[axis] = Dim(1);
    return call.one(DType::kI64, shape);
}

void arg_samples(Samples& s) {
    const auto add = [&s](const Shape& shape, int64_t axis, DType dtype = DType::kF32) {
        s.add_typed({{dtype, shape}}, {{"axis", axis}});
    };
    add({1}, 0);
    add({7}, 0);
    add({3, 5}, 0);
    add({3, 5}, 1);
    add({2, 1, 3}, 1);
    add({kBatch, 5}, 0);
    add({kBatch, 5}, 1);
    add({2, 3, 1, 5}, 3);
    add({1, 2, 3, 2, 2}, 2);
    add({3, 257}, 1, DType::kI32);
}

void whole_reduce_samples(Samples& s) {
    reduce_samples(s);
    s.add_typed({{DType::kI32, {3, 5}}}, {{"axes", std::vector<int64_t>{1}}});
}

constexpr OpDef reduction(std::string_view name, std::string_view summary, ReduceOp reduce,
                          OnnxMapping onnx, std::vector<Tensor> (*vjp)(VjpContext&),
                          void (*samples)(Samples&)) {
    return {.name = name,
            .summary = summary,
            .inputs = {{"x", TypeClass::kNumber}},
            .attrs = {{"axes", AttrType::kIntegers}},
            .op_class = OpClass::kReduce,
            .reduce = reduce,
            .infer = reduce_axes,
            .vjp = vjp,
            .onnx_export = onnx_export::reduce,
            .onnx = {onnx},
            .samples = samples};
}

/// find(c, count, element): the index of one of so many elements.
template <class F>
constexpr OpDef extremum_index(std::string_view name, std::string_view summary, OnnxMapping onnx,
                               F /*find*/) {
    return {.name = name,
            .summary = summary,
            .inputs = {{"x", TypeClass::kNumber}},
            .attrs = {{"axis", AttrType::kInteger}},
            .op_class = OpClass::kInjective,
            .infer = infer_arg,
            .compute = compute_any([](auto& c) {
                const int axis = static_cast<int>(c.attrs().integer("axis"));
                auto place = c.coords();
                return F{}(c, c.in_dim(0, axis), [&](auto i) {
                    place[axis] = i;
                    return c.in(0, place);
                });
            }),
            .onnx_export = onnx_export::arg,
            .onnx = {onnx},
            .samples = arg_samples};
}

constinit const OpDef kOps[] = {
    reduction(
        "reduce_sum", "sum over the axes", ReduceOp::kSum,
        {"ReduceSum", 1, [](OnnxCall& call) { return import_reduce(call, sum); }},
        [](VjpContext& v) -> std::vector<Tensor> {
            return {expand(v.cotangent(), v.in(0).shape())};
        },
        whole_reduce_samples),
    reduction(
        "reduce_prod", "product over the axes", ReduceOp::kProduct,
        {"ReduceProd", 1, [](OnnxCall& call) { return import_reduce(call, prod); }},
        [](VjpContext& v) -> std::vector<Tensor> {
            // One axis at a time; the chain rule from the last one back.
            std::vector<Tensor> partial{v.in(0)};
            const std::vector<int64_t>& axes = v.attrs.integers("axes");
            for (int64_t axis : axes) partial.push_back(prod(partial.back(), {axis}, true));
            Tensor g = v.cotangent();
            for (size_t i = axes.size(); i-- > 0;) g = g * product_of_others(partial[i], axes[i]);
            return {g};
        },
        reduce_samples),
    reduction("reduce_max", "largest element over the axes; NaN if there is one", ReduceOp::kMax,
              {"ReduceMax", 1, [](OnnxCall& call) { return import_reduce(call, max, any); }},
              reduce_extremum_vjp, whole_reduce_samples),
    reduction("reduce_min", "smallest element over the axes; NaN if there is one", ReduceOp::kMin,
              {"ReduceMin", 1, [](OnnxCall& call) { return import_reduce(call, min, all); }},
              reduce_extremum_vjp, whole_reduce_samples),
    {
        .name = "product_of_others",
        .summary = "for each element the product of all others along the axis",
        .inputs = {{"x", TypeClass::kNumber}},
        .attrs = {{"axis", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
            return same_as_input(call);
        },
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto place = c.coords();
            auto here = place[axis];
            return c.product(c.dim(axis), [&](auto i) {
                place[axis] = i;
                return select(i == here, c.value(1), c.in(0, place));
            });
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {apply_one(op("sum_of_products_of_others"), {v.in(0), v.cotangent()},
                              {{"axis", v.attrs.integer("axis")}})};
        },
        .samples =
            [](Samples& s) {
                for (int64_t axis : {0, 1, 2}) s.add({{2, 1, 3}}, {{"axis", axis}});
                s.add({{kBatch, 5}}, {{"axis", int64_t{0}}});
                s.add({{7}}, {{"axis", int64_t{0}}});
            },
    },
    {
        .name = "sum_of_products_of_others",
        .summary = "for each element k along the axis the sum over all i but k of g_i times the "
                   "product of all x but x_i and x_k",
        .inputs = {{"x", TypeClass::kNumber}, {"g", TypeClass::kNumber}},
        .attrs = {{"axis", AttrType::kInteger}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(check_axis(call.attrs, call.shape(0).rank()));
            if (call.shape(1) != call.shape(0) || call.dtype(1) != call.dtype(0))
                return invalid_argument("x and g must have one type and shape");
            return same_as_input(call);
        },
        .compute = compute_any([](auto& c) {
            const int axis = static_cast<int>(c.attrs().integer("axis"));
            auto place = c.coords();
            auto here = place[axis];
            return c.sum(c.dim(axis), [&](auto i) {
                place[axis] = i;
                auto g = c.in(1, place);
                auto others = c.product(c.dim(axis), [&](auto j) {
                    place[axis] = j;
                    return select(logical_or(j == here, j == i), c.value(1), c.in(0, place));
                });
                return select(i == here, c.value(0), g * others);
            });
        }),
        .samples =
            [](Samples& s) {
                for (int64_t axis : {0, 1, 2}) s.add({{2, 1, 3}, {2, 1, 3}}, {{"axis", axis}});
                s.add({{kBatch, 5}, {kBatch, 5}}, {{"axis", int64_t{0}}});
                s.add({{7}, {7}}, {{"axis", int64_t{0}}});
            },
    },
    extremum_index("argmax",
                   "index of the first largest element along the axis, kept with extent 1",
                   {"ArgMax", 1, [](OnnxCall& call) { return import_arg(call, argmax); }},
                   [](auto& c, auto count, auto element) { return c.argmax(count, element); }),
    extremum_index("argmin",
                   "index of the first smallest element along the axis, kept with extent 1",
                   {"ArgMin", 1, [](OnnxCall& call) { return import_arg(call, argmin); }},
                   [](auto& c, auto count, auto element) { return c.argmin(count, element); }),
    {
        .name = "extent",
        .summary = "number of elements of a shape, symbolic extents included",
        .attrs = {{"shape", AttrType::kShape}, {"dtype", AttrType::kDType}},
        .op_class = OpClass::kInjective,
        .infer = [](InferContext& call) -> Status {
            return call.one(call.attrs.dtype("dtype"), {});
        },
        .compute =
            compute_float([](auto& c) { return c.number(c.count_of(c.attrs().shape("shape"))); }),
        .stops_gradient = true,
        .onnx_export = onnx_export::extent,
        .samples =
            [](Samples& s) {
                s.add({}, {{"shape", Shape{}}, {"dtype", DType::kF32}});
                s.add({}, {{"shape", Shape{3, 5}}, {"dtype", DType::kF32}});
                s.add({}, {{"shape", Shape{Dim(2, true), 3}}, {"dtype", DType::kF32}});
            },
    },
};

Tensor reduce(std::string_view name, const Tensor& x, const Axes& axes, bool keep_dims) {
    if (!x.ok()) return x;
    const std::vector<int64_t> all = normalize_axes(x, axes, name);
    if (!x.trace()->status().ok()) return failed_like(x);
    // A reduction over no axes is the identity.
    const Tensor kept = all.empty() ? x : apply_one(op(name), {x}, {{"axes", all}});
    return keep_dims || all.empty() ? kept : squeeze(kept, all);
}

Tensor arg_extremum(std::string_view name, const Tensor& x, int64_t axis, bool keep_dims) {
    const std::vector<int64_t> axes = normalize_axes(x, {axis}, name);
    if (axes.empty()) return failed_like(x);
    const Tensor kept = apply_one(op(name), {x}, {{"axis", axes[0]}});
    return keep_dims ? kept : squeeze(kept, axes);
}

}  // namespace

extern constinit const std::span<const OpDef> reduce_ops{kOps};

Tensor sum(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce("reduce_sum", x, axes, keep_dims);
}
Tensor max(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce("reduce_max", x, axes, keep_dims);
}
Tensor min(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce("reduce_min", x, axes, keep_dims);
}
Tensor prod(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce("reduce_prod", x, axes, keep_dims);
}

namespace {

Tensor reduce_flags(const Tensor& x, const Axes& axes, bool keep_dims,
                    Tensor (*fold)(const Tensor&, const Axes&, bool), std::string_view name) {
    if (!x.ok()) return x;
    if (x.dtype() != DType::kBool)
        return fail(x, invalid_argument(std::string(name) + ": x must be bool, found " +
                                        std::string(name_of(x.dtype()))));
    // The maximum over no elements is the smallest i32, which gives false; the minimum gives true.
    return greater(fold(cast(x, DType::kI32), axes, keep_dims), 0);
}

}  // namespace

Tensor any(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce_flags(x, axes, keep_dims, max, "any");
}
Tensor all(const Tensor& x, const Axes& axes, bool keep_dims) {
    return reduce_flags(x, axes, keep_dims, min, "all");
}
Tensor argmax(const Tensor& x, int64_t axis, bool keep_dims) {
    return arg_extremum("argmax", x, axis, keep_dims);
}
Tensor argmin(const Tensor& x, int64_t axis, bool keep_dims) {
    return arg_extremum("argmin", x, axis, keep_dims);
}

Tensor numel_along(const Tensor& x, const Axes& axes) {
    const std::vector<int64_t> all = normalize_axes(x, axes, "extent");
    Dim count(1);
    for (int64_t axis : all) {
        const Dim d = x.shape()[static_cast<int>(axis)];
        count = Dim(count.count * d.count, count.is_batch || d.is_batch);
    }
    if (!x.ok()) return x;
    const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::kF32;
    if (!count.is_batch) return x.trace()->constant(static_cast<double>(count.count), dtype);
    return apply(op("extent"), {}, {{"shape", Shape{count}}, {"dtype", dtype}}, x.trace())[0];
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep_dims) {
    return sum(x, axes, keep_dims) / numel_along(x, axes);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep_dims) {
    if (!x.ok()) return x;
    const std::vector<int64_t> all = normalize_axes(x, axes, "logsumexp");
    if (!x.trace()->status().ok()) return failed_like(x);
    // An infinite maximum would give inf - inf; the gradient does not depend on the shift.
    const Tensor largest = max(x, all, true);
    const Tensor shift = apply_one(op("stop_gradient"), {where(is_inf(largest), 0.0, largest)});
    const Tensor kept = log(sum(exp(x - shift), all, true)) + shift;
    return keep_dims || all.empty() ? kept : squeeze(kept, all);
}

Tensor var(const Tensor& x, const Axes& axes, bool keep_dims, double correction) {
    const Tensor squares = sum(square(x - mean(x, axes, true)), axes, keep_dims);
    const Tensor count = numel_along(x, axes);
    return squares / (correction == 0 ? count : count - correction);
}

Tensor sum_to_shape(const Tensor& x, const Shape& shape) {
    if (!x.ok() || x.shape() == shape) return x;
    const int added = x.rank() - shape.rank();
    std::vector<int64_t> stretched;
    for (int i = 0; i < x.rank(); ++i)
        if (i < added || (shape[i - added].is_one() && !x.shape()[i].is_one()))
            stretched.push_back(i);
    return reshape(stretched.empty() ? x : sum(x, stretched, true), shape);
}

}  // namespace hearth
