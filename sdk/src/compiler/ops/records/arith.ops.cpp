// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise arithmetic with broadcasting.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

// An integer division must not trap, whatever the data: x / 0 is 0, and x / -1 is -x, because the
// quotient of the smallest integer and -1 overflows.
template <class C>
auto is_minus_one(C& c) {
    return is_unsigned(c.dtype()) ? c.index(0) != c.index(0) : c.x(1) == -1;
}

const auto divide_integers = [](auto& c) {
    auto a = c.x(0);
    auto b = c.x(1);
    auto negates = is_minus_one(c);
    auto divisor = select(logical_or(b == 0, negates), c.value(1), b);
    return select(b == 0, c.value(0), select(negates, 0 - a, a / divisor));
};

// GLSL leaves % undefined for negative operands, so the remainder is computed from the quotient.
const auto c_remainder = [](auto& c) {
    auto a = c.x(0);
    auto b = c.x(1);
    auto is_trivial = logical_or(b == 0, is_minus_one(c));
    auto divisor = select(is_trivial, c.value(1), b);
    return select(is_trivial, c.value(0), a - a / divisor * divisor);
};

// Exact: on a GPU the quotient of two integers may round to just below the exact one, and x -
// floor(q) * y would then be the divisor.
const auto float_remainder = [](auto& c) { return fmod(c.x(0), c.x(1)); };

template <class C, class V>
V with_sign_of_divisor(C& c, V rest) {
    auto b = c.x(1);
    return select(logical_and(rest != 0, logical_xor(rest < 0, b < 0)), rest + b, rest);
}

// Gradient of an extremum: goes to the larger (smaller) operand; equal operands split it, as in
// PyTorch.
std::vector<Tensor> extremum_vjp(const VjpContext& v, const Tensor& is_first,
                                 const Tensor& is_second) {
    const Tensor g = v.cotangent();
    const Tensor shared = where(equal(v.in(0), v.in(1)), g * 0.5, 0.0);
    return {sum_to_shape(where(is_first, g, shared), v.in(0).shape()),
            sum_to_shape(where(is_second, g, shared), v.in(1).shape())};
}

void extremum_samples(Samples& s) {
    binary_samples(s);
    binary_samples_of(s, DType::kI32, -9, 9);
}
void number_samples(Samples& s) {
    extremum_samples(s);
    narrow_integer_samples(s, 2);
}
void quotient_samples(Samples& s) {
    binary_samples(s, 0.5, 3);
    binary_samples_of(s, DType::kI32, -9, 9);
    binary_samples_of(s, DType::kU32, 0, 9);
    narrow_integer_samples(s, 2);
}
void unary_number_samples(Samples& s) {
    unary_samples(s);
    unary_samples_of(s, DType::kI32, -9, 9);
    narrow_integer_samples(s, 1);
}

constinit const OpDef kOps[] = {
    {
        .name = "add",
        .summary = "a + b",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_wrapping([](auto& c) { return c.x(0) + c.x(1); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {sum_to_shape(v.cotangent(), v.in(0).shape()),
                    sum_to_shape(v.cotangent(), v.in(1).shape())};
        },
        .onnx = {{"Add", 7}},
        .samples = number_samples,
    },
    {
        .name = "sub",
        .summary = "a - b",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_wrapping([](auto& c) { return c.x(0) - c.x(1); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {sum_to_shape(v.cotangent(), v.in(0).shape()),
                    neg(sum_to_shape(v.cotangent(), v.in(1).shape()))};
        },
        .onnx = {{"Sub", 7}},
        .samples = number_samples,
    },
    {
        .name = "mul",
        .summary = "a * b",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_wrapping([](auto& c) { return c.x(0) * c.x(1); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {sum_to_shape(v.cotangent() * v.in(1), v.in(0).shape()),
                    sum_to_shape(v.cotangent() * v.in(0), v.in(1).shape())};
        },
        .onnx = {{"Mul", 7}},
        .samples = number_samples,
    },
    {
        .name = "div",
        .summary = "a / b; integers towards zero, and x / 0 = 0",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_by_type([](auto& c) { return c.x(0) / c.x(1); },
                              [](auto& c) { return wrap_to_dtype(c, divide_integers(c)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), b = v.in(1);
            // Divided last: g / b overflows where b is subnormal, and the quotient may be zero.
            return {sum_to_shape(g / b, v.in(0).shape()),
                    neg(sum_to_shape(g * v.out() / b, b.shape()))};
        },
        .onnx = {{"Div", 7}},
        .samples = quotient_samples,
    },
    {
        .name = "neg",
        .summary = "-x",
        .inputs = {{"x", TypeClass::kNumber}},
        .infer = same_as_input,
        .compute = at_wrapping([](auto& c) { return -c.x(0); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {neg(v.cotangent())}; },
        .onnx_export = onnx_export::neg,
        .onnx = {{"Neg", 6}},
        .samples = unary_number_samples,
    },
    {
        .name = "pow",
        .summary = "base ^ exponent; NaN for a negative base and a fractional exponent",
        .inputs = {{"base"}, {"exponent"}},
        .infer = broadcast_same_type,
        .compute = compute_float([](auto& c) { return pow(c.x(0), c.x(1)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), a = v.in(0), b = v.in(1);
            // The limits where the formulas give 0 * infinity, as in PyTorch.
            const Tensor to_base = where(equal(b, 0), 0.0, g * b * pow(a, b - 1.0));
            const Tensor is_flat = logical_and(equal(a, 0), greater_equal(b, 0));
            const Tensor to_exponent = where(is_flat, 0.0, g * v.out() * log(a));
            return {sum_to_shape(to_base, a.shape()), sum_to_shape(to_exponent, b.shape())};
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Pow", 7, import_pow}},
        .samples = [](Samples& s) { binary_samples(s, 0.25, 3); },
        .tolerance = {.f32 = 1e-4},
    },
    {
        .name = "mod",
        .summary = "a - floor(a / b) * b, with the sign of b",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_by_type([](auto& c) { return with_sign_of_divisor(c, float_remainder(c)); },
                              [](auto& c) { return with_sign_of_divisor(c, c_remainder(c)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent();
            return {sum_to_shape(g, v.in(0).shape()),
                    neg(sum_to_shape(g * floor(v.in(0) / v.in(1)), v.in(1).shape()))};
        },
        .onnx_export = onnx_export::mod,
        .onnx = {{"Mod", 10,
                  [](OnnxCall& call) -> std::vector<Tensor> {
                      const Tensor a = call.in(0), b = call.in(1);
                      return {call.flag("fmod", false) ? fmod(a, b) : mod(a, b)};
                  }}},
        .samples = quotient_samples,
    },
    {
        .name = "fmod",
        .summary = "a - trunc(a / b) * b, with the sign of a",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = at_by_type(float_remainder, c_remainder),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), quotient = v.in(0) / v.in(1);
            const Tensor whole = sign(quotient) * floor(abs(quotient));
            return {sum_to_shape(g, v.in(0).shape()),
                    neg(sum_to_shape(g * whole, v.in(1).shape()))};
        },
        .onnx_export = onnx_export::fmod,
        .samples =
            [](Samples& s) {
                binary_samples(s, 0.5, 3);
                binary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 2);
            },
    },
    {
        .name = "minimum",
        .summary = "the smaller operand; NaN if one is NaN",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = compute_any([](auto& c) { return min(c.x(0), c.x(1)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return extremum_vjp(v, less(v.in(0), v.in(1)), less(v.in(1), v.in(0)));
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Min", 8, [](OnnxCall& call) { return import_chain(call, minimum); }}},
        .samples = extremum_samples,
    },
    {
        .name = "maximum",
        .summary = "the larger operand; NaN if one is NaN",
        .inputs = {{"a", TypeClass::kNumber}, {"b", TypeClass::kNumber}},
        .infer = broadcast_same_type,
        .compute = compute_any([](auto& c) { return max(c.x(0), c.x(1)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return extremum_vjp(v, less(v.in(1), v.in(0)), less(v.in(0), v.in(1)));
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Max", 8, [](OnnxCall& call) { return import_chain(call, maximum); }}},
        .samples = extremum_samples,
    },
    {
        .name = "abs",
        .summary = "|x|",
        .inputs = {{"x", TypeClass::kNumber}},
        .infer = same_as_input,
        .compute = at_wrapping([](auto& c) { return abs(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * sign(v.in(0))}; },
        .onnx = {{"Abs", 6}},
        .samples = unary_number_samples,
    },
    {
        .name = "sign",
        .summary = "-1, 0 or 1",
        .inputs = {{"x", TypeClass::kNumber}},
        .infer = same_as_input,
        .compute = compute_any([](auto& c) { return sign(c.x(0)); }),
        .stops_gradient = true,
        .onnx = {{"Sign", 9}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                unary_samples_of(s, DType::kI32, -2, 3);
            },
    },
    real_function(
        "reciprocal", "1 / x", [](auto x) { return 1.0 / x; },
        [](UnaryGradient d) { return neg(d.g * d.y * d.y); }, {{"Reciprocal", 6}},
        [](Samples& s) { unary_samples(s, 0.5, 3); }),
    real_function(
        "sqrt", "the square root", [](auto x) { return sqrt(x); },
        [](UnaryGradient d) { return d.g * 0.5 / d.y; }, {{"Sqrt", 6}},
        [](Samples& s) { unary_samples(s, 0.25, 3); }),
    {
        .name = "rsqrt",
        .summary = "1 / sqrt(x)",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return rsqrt(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * -0.5 * v.out() / v.in(0)};
        },
        .onnx_export = onnx_export::rsqrt,
        .samples = [](Samples& s) { unary_samples(s, 0.25, 3); },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> arith_ops{kOps};

HEARTH_BINARY_FUNCTION(add)
HEARTH_BINARY_FUNCTION(sub)
HEARTH_BINARY_FUNCTION(mul)
HEARTH_BINARY_FUNCTION(div)
HEARTH_UNARY_FUNCTION(neg)
HEARTH_BINARY_FUNCTION(pow)
HEARTH_FUNCTION_OF_NUMBER(pow)
HEARTH_BINARY_FUNCTION(mod)
HEARTH_BINARY_FUNCTION(fmod)
HEARTH_BINARY_FUNCTION(minimum)
HEARTH_BINARY_FUNCTION(maximum)
HEARTH_FUNCTION_OF_NUMBER(minimum)
HEARTH_FUNCTION_OF_NUMBER(maximum)
HEARTH_UNARY_FUNCTION(abs)
HEARTH_UNARY_FUNCTION(sign)
HEARTH_UNARY_FUNCTION(reciprocal)
HEARTH_UNARY_FUNCTION(sqrt)
HEARTH_UNARY_FUNCTION(rsqrt)
Tensor square(const Tensor& x) {
    return mul(x, x);
}

#define HEARTH_OPERATOR(symbol, function)                      \
    Tensor operator symbol(const Tensor& a, const Tensor& b) { \
        return function(a, b);                                 \
    }                                                          \
    Tensor operator symbol(const Tensor& a, double b) {        \
        return function(a, constant_like(a, b));               \
    }                                                          \
    Tensor operator symbol(double a, const Tensor& b) {        \
        return function(constant_like(b, a), b);               \
    }

HEARTH_OPERATOR(+, add)
HEARTH_OPERATOR(-, sub)
HEARTH_OPERATOR(*, mul)
HEARTH_OPERATOR(/, div)
Tensor operator-(const Tensor& a) {
    return neg(a);
}

}  // namespace hearth
