// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Comparisons, logic, selection and conversion. Only `where`, `clamp` and `cast` have gradients:
// bools receive no cotangent.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <algorithm>

namespace hearth {

namespace {

void comparison_samples(Samples& s) {
    binary_samples(s);
    binary_samples_of(s, DType::kI32, -2, 3);
    binary_samples_of(s, DType::kU32, 0, 4);
}

void logic_samples(Samples& s) {
    binary_samples_of(s, DType::kBool, 0, 2);
}

// Floats convert to narrow integers with saturation, as in HostTensor::set.
template <class C, class V>
V saturate_to_dtype(C& c, V x) {
    const DType dtype = c.dtype();
    if (!is_integer(dtype) || size_bytes(dtype) >= 4) return x;
    const double range = size_bytes(dtype) == 1 ? 256 : 65536;
    const double low = is_unsigned(dtype) ? 0 : -range / 2;
    V bounded = min(max(x, low), low + range - 1);
    return select(is_nan(x), 0.0, bounded);
}

constexpr OpDef condition(std::string_view name, std::string_view summary, TypeClass type,
                          ComputeRule compute, OnnxMapping onnx, void (*samples)(Samples&)) {
    return {.name = name,
            .summary = summary,
            .inputs = {{"a", type}, {"b", type}},
            .infer = broadcast_to_bool,
            .compute = compute,
            .onnx = {onnx},
            .samples = samples};
}

constinit const OpDef kOps[] = {
    {
        .name = "equal",
        .summary = "a == b",
        .inputs = {{"a", TypeClass::kAny}, {"b", TypeClass::kAny}},
        .infer = broadcast_to_bool,
        .compute = compute_any([](auto& c) { return c.x(0) == c.x(1); }),
        .onnx = {{"Equal", 7}},
        .samples =
            [](Samples& s) {
                comparison_samples(s);
                logic_samples(s);
            },
    },
    {
        .name = "not_equal",
        .summary = "a != b",
        .inputs = {{"a", TypeClass::kAny}, {"b", TypeClass::kAny}},
        .infer = broadcast_to_bool,
        .compute = compute_any([](auto& c) { return c.x(0) != c.x(1); }),
        .onnx_export = onnx_export::not_equal,
        .samples = comparison_samples,
    },
    condition("less", "a < b", TypeClass::kNumber,
              compute_any([](auto& c) { return c.x(0) < c.x(1); }), {"Less", 7},
              comparison_samples),
    condition("less_equal", "a <= b", TypeClass::kNumber,
              compute_any([](auto& c) { return c.x(0) <= c.x(1); }), {"LessOrEqual", 12},
              comparison_samples),
    condition("greater", "a > b", TypeClass::kNumber,
              compute_any([](auto& c) { return c.x(0) > c.x(1); }), {"Greater", 7},
              comparison_samples),
    condition("greater_equal", "a >= b", TypeClass::kNumber,
              compute_any([](auto& c) { return c.x(0) >= c.x(1); }), {"GreaterOrEqual", 12},
              comparison_samples),
    condition("logical_and", "a and b", TypeClass::kBool,
              compute_integer([](auto& c) { return logical_and(c.x(0) != 0, c.x(1) != 0); }),
              {"And", 7}, logic_samples),
    condition("logical_or", "a or b", TypeClass::kBool,
              compute_integer([](auto& c) { return logical_or(c.x(0) != 0, c.x(1) != 0); }),
              {"Or", 7}, logic_samples),
    condition("logical_xor", "a or b, but not both", TypeClass::kBool,
              compute_integer([](auto& c) { return logical_xor(c.x(0) != 0, c.x(1) != 0); }),
              {"Xor", 7}, logic_samples),
    {
        .name = "logical_not",
        .summary = "not x",
        .inputs = {{"x", TypeClass::kBool}},
        .infer = same_as_input,
        .compute = compute_integer([](auto& c) { return c.x(0) == 0; }),
        .onnx = {{"Not", 1}},
        .samples = [](Samples& s) { unary_samples_of(s, DType::kBool, 0, 2); },
    },
    {
        .name = "is_nan",
        .summary = "whether x is NaN",
        .inputs = {{"x"}},
        .infer = bool_like_input,
        .compute = compute_float([](auto& c) { return is_nan(c.x(0)); }),
        .onnx = {{"IsNaN", 9}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "is_inf",
        .summary = "whether x is an infinity of an asked sign",
        .inputs = {{"x"}},
        .attrs = {{"detect_positive", AttrType::kInteger, 1},
                  {"detect_negative", AttrType::kInteger, 1}},
        .infer = bool_like_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            auto positive = logical_and(is_inf(x), x > 0.0);
            auto negative = logical_and(is_inf(x), x < 0.0);
            auto never = logical_and(positive, negative);
            return logical_or(c.attrs().flag("detect_positive") ? positive : never,
                              c.attrs().flag("detect_negative") ? negative : never);
        }),
        .onnx_export = onnx_export::same,
        .onnx = {{"IsInf", 10,
                  [](OnnxCall& call) -> std::vector<Tensor> {
                      return {is_inf(call.in(0), call.flag("detect_positive", true),
                                     call.flag("detect_negative", true))};
                  }}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "where",
        .summary = "yes where the condition holds, else no",
        .inputs = {{"condition", TypeClass::kBool},
                   {"yes", TypeClass::kAny},
                   {"no", TypeClass::kAny}},
        .infer = [](InferContext& call) -> Status {
            if (call.dtype(1) != call.dtype(2))
                return invalid_argument(
                    "element types differ: " + std::string(name_of(call.dtype(1))) + " and " +
                    std::string(name_of(call.dtype(2))));
            HEARTH_ASSIGN(const Shape branches, broadcast(call.shape(1), call.shape(2)));
            HEARTH_ASSIGN(const Shape shape, broadcast(call.shape(0), branches));
            HEARTH_TRY(check_shape(shape));
            return call.one(call.dtype(1), shape);
        },
        .compute = compute_any([](auto& c) { return select(c.x(0) != 0, c.x(1), c.x(2)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {Tensor(), sum_to_shape(where(v.in(0), v.cotangent(), 0.0), v.in(1).shape()),
                    sum_to_shape(where(v.in(0), 0.0, v.cotangent()), v.in(2).shape())};
        },
        .onnx = {{"Where", 9}},
        .samples =
            [](Samples& s) {
                const DType flag = DType::kBool, real = DType::kF32, whole = DType::kI32;
                s.add_typed({{flag, {}}, {real, {}}, {real, {}}});
                s.add_typed({{flag, {7}}, {real, {7}}, {real, {7}}});
                s.add_typed({{flag, {3, 1}}, {real, {5}}, {real, {3, 5}}});
                s.add_typed({{flag, {kBatch, 1}}, {real, {kBatch, 5}}, {real, {}}});
                s.add_typed({{flag, {2, 1, 1, 3}}, {real, {2, 5, 1, 3}}, {real, {4, 1}}});
                s.add_typed({{flag, {33, 9}}, {whole, {33, 9}}, {whole, {1, 9}}}).high = 9;
            },
    },
    {
        .name = "clamp",
        .summary = "min(max(x, low), high)",
        .inputs = {{"x"}},
        .attrs = {{"low", AttrType::kFloat}, {"high", AttrType::kFloat}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            return min(max(c.x(0), c.attrs().real("low")), c.attrs().real("high"));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor inside = logical_and(greater_equal(v.in(0), v.attrs.real("low")),
                                              less_equal(v.in(0), v.attrs.real("high")));
            return {where(inside, v.cotangent(), 0.0)};
        },
        .onnx_export = onnx_export::clamp,
        .onnx = {{"Clip", 6, import_clip}},
        .samples =
            [](Samples& s) {
                const Attrs narrow{{"low", -0.5}, {"high", 0.75}};
                for (const Shape& shape : {Shape{}, Shape{7}, Shape{kBatch, 5}, Shape{2, 3, 1, 5}})
                    s.add({shape}, narrow);
                s.add({{3, 5}}, {{"low", -HUGE_VAL}, {"high", 0.5}});
                s.add({{1031}}, {{"low", 0.0}, {"high", HUGE_VAL}});
            },
    },
    {
        .name = "cast",
        .summary = "x with another element type; of floats that an integer type does not hold its "
                   "nearest number, of NaN zero; integers wrap",
        .inputs = {{"x", TypeClass::kAny}},
        .attrs = {{"to", AttrType::kDType}},
        .is_cast = true,
        .infer = [](InferContext& call) -> Status {
            return call.one(call.attrs.dtype("to"), call.shape(0));
        },
        .compute = {[](CpuAt<double>& c) { return saturate_to_dtype(c, c.x(0)); },
                    [](CpuAt<int64_t>& c) { return wrap_to_dtype(c, c.x(0)); },
                    [](GpuAt& c) {
                        const Scalar x = c.x(0);
                        if (c.dtype() == DType::kBool) return c.to_output(x != 0);
                        if (c.dtype() == DType::kF16) return round_f16(c.to_output(x));
                        if (c.dtype() == DType::kBF16) return round_bf16(c.to_output(x));
                        if (is_floating(x.type())) return c.to_output(saturate_to_dtype(c, x));
                        return wrap_to_dtype(c, c.to_output(x));
                    }},
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            if (!is_floating(v.in(0).dtype())) return {Tensor()};
            return {cast(v.cotangent(), v.in(0).dtype())};
        },
        .onnx_export = onnx_export::cast,
        .onnx = {{"Cast", 6, import_cast}},
        .samples =
            [](Samples& s) {
                const auto add = [&s](DType from, DType to, const Shape& shape, double low,
                                      double high) {
                    Sample& sample = s.add_typed({{from, shape}}, {{"to", to}});
                    sample.low = low;
                    sample.high = high;
                };
                add(DType::kF32, DType::kF32, {kBatch, 5}, -2, 2);
                add(DType::kF32, DType::kI32, {3, 5}, -9, 9);
                add(DType::kF32, DType::kU8, {7}, 0, 300);
                add(DType::kF32, DType::kI8, {2, 1, 3}, -300, 300);
                add(DType::kF32, DType::kBool, {}, -2, 2);
                add(DType::kI32, DType::kF32, {2, 3, 1, 5}, -9, 9);
                add(DType::kI32, DType::kI8, {1031}, -1000, 1000);
                add(DType::kI32, DType::kU16, {kBatch, 5}, 0, 100000);
                add(DType::kI64, DType::kI32, {7}, -9, 9);
                add(DType::kU32, DType::kF32, {3, 5}, 0, 9);
                add(DType::kI32, DType::kBool, {3, 5}, -1, 2);
                add(DType::kBool, DType::kF32, {7}, 0, 2);
                add(DType::kBool, DType::kI64, {1}, 0, 2);
            },
    },
    {
        .name = "identity",
        .summary = "x",
        .inputs = {{"x", TypeClass::kAny}},
        .infer = same_as_input,
        .compute = compute_any([](auto& c) { return c.x(0); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent()}; },
        .onnx_export = onnx_export::identity,
        // Returns the input itself; no node is needed.
        .onnx = {{"Identity", 1,
                  [](OnnxCall& call) -> std::vector<Tensor> { return {call.in(0)}; }}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                unary_samples_of(s, DType::kI32, -9, 9);
                unary_samples_of(s, DType::kBool, 0, 2);
            },
    },
    {
        .name = "stop_gradient",
        .summary = "x, through which no gradient flows",
        .inputs = {{"x", TypeClass::kAny}},
        .infer = same_as_input,
        .compute = compute_any([](auto& c) { return c.x(0); }),
        .stops_gradient = true,
        .onnx_export = onnx_export::identity,
        .samples = [](Samples& s) { unary_samples(s); },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> compare_ops{kOps};

HEARTH_BINARY_FUNCTION(equal)
HEARTH_BINARY_FUNCTION(not_equal)
HEARTH_BINARY_FUNCTION(less)
HEARTH_BINARY_FUNCTION(less_equal)
HEARTH_BINARY_FUNCTION(greater)
HEARTH_BINARY_FUNCTION(greater_equal)
HEARTH_FUNCTION_OF_NUMBER(equal)
HEARTH_FUNCTION_OF_NUMBER(not_equal)
HEARTH_FUNCTION_OF_NUMBER(less)
HEARTH_FUNCTION_OF_NUMBER(less_equal)
HEARTH_FUNCTION_OF_NUMBER(greater)
HEARTH_FUNCTION_OF_NUMBER(greater_equal)
HEARTH_BINARY_FUNCTION(logical_and)
HEARTH_BINARY_FUNCTION(logical_or)
HEARTH_BINARY_FUNCTION(logical_xor)
HEARTH_UNARY_FUNCTION(logical_not)
HEARTH_UNARY_FUNCTION(is_nan)
Tensor is_inf(const Tensor& x, bool positive, bool negative) {
    return apply_one(
        op("is_inf"), {x},
        {{"detect_positive", int64_t{positive}}, {"detect_negative", int64_t{negative}}});
}

Tensor where(const Tensor& condition, const Tensor& yes, const Tensor& no) {
    return apply_one(op("where"), {condition, yes, no});
}
Tensor where(const Tensor& condition, const Tensor& yes, double no) {
    return where(condition, yes, constant_like(yes, no));
}
Tensor where(const Tensor& condition, double yes, const Tensor& no) {
    return where(condition, constant_like(no, yes), no);
}

Tensor masked_fill(const Tensor& x, const Tensor& mask, double value) {
    return where(mask, value, x);
}

namespace {

/// Keeps the elements of x whose column index is at least (at most) the row index plus k.
Tensor triangle(std::string_view name, const Tensor& x, int64_t k, bool upper) {
    if (!x.ok()) return x;
    if (x.rank() < 2)
        return fail(x, invalid_argument(std::string(name) + ": x is " + to_string(x.shape()) +
                                        ", expected matrices"));
    const Tensor row = unsqueeze(arange(*x.trace(), {x.dim(-2)}), {1});
    const Tensor column = arange(*x.trace(), {x.dim(-1)});
    const auto from = static_cast<double>(std::clamp<int64_t>(k, -(int64_t{1} << 30), 1 << 30));
    const Tensor diagonal = row + from;
    return where(upper ? greater_equal(column, diagonal) : less_equal(column, diagonal), x, 0.0);
}

}  // namespace

Tensor triu(const Tensor& x, int64_t k) {
    return triangle("triu", x, k, true);
}
Tensor tril(const Tensor& x, int64_t k) {
    return triangle("tril", x, k, false);
}

Tensor clamp(const Tensor& x, double low, double high) {
    if (!x.ok() || is_floating(x.dtype()))
        return apply_one(op("clamp"), {x}, {{"low", low}, {"high", high}});
    return minimum(maximum(x, low), high);
}

Tensor cast(const Tensor& x, DType dtype) {
    if (!x.ok() || x.dtype() == dtype) return x;
    return apply_one(op("cast"), {x}, {{"to", dtype}});
}

HEARTH_UNARY_FUNCTION(identity)

}  // namespace hearth
