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
        .samples =
            [](Samples& s) {
                binary_samples(s);
                binary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 2);
            },
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
        .samples =
            [](Samples& s) {
                binary_samples(s);
                binary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 2);
            },
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
        .samples =
            [](Samples& s) {
                binary_samples(s);
                binary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 2);
            },
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
        .samples =
            [](Samples& s) {
                binary_samples(s, 0.5, 3);
                binary_samples_of(s, DType::kI32, -9, 9);
                binary_samples_of(s, DType::kU32, 0, 9);
                narrow_integer_samples(s, 2);
            },
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
        .samples =
            [](Samples& s) {
                unary_samples(s);
                unary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 1);
            },
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
        .onnx = {{"Mod", 10, import_mod}},
        .samples =
            [](Samples& s) {
                binary_samples(s, 0.5, 3);
                binary_samples_of(s, DType::kI32, -9, 9);
                binary_samples_of(s, DType::kU32, 0, 9);
                narrow_integer_samples(s, 2);
            },
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
        .onnx = {{"Min", 8, import_minimum}},
        .samples =
            [](Samples& s) {
                binary_samples(s);
                binary_samples_of(s, DType::kI32, -9, 9);
            },
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
        .onnx = {{"Max", 8, import_maximum}},
        .samples =
            [](Samples& s) {
                binary_samples(s);
                binary_samples_of(s, DType::kI32, -9, 9);
            },
    },
    {
        .name = "abs",
        .summary = "|x|",
        .inputs = {{"x", TypeClass::kNumber}},
        .infer = same_as_input,
        .compute = at_wrapping([](auto& c) { return abs(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * sign(v.in(0))}; },
        .onnx = {{"Abs", 6}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                unary_samples_of(s, DType::kI32, -9, 9);
                narrow_integer_samples(s, 1);
            },
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
    {
        .name = "reciprocal",
        .summary = "1 / x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return 1.0 / c.x(0); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {neg(v.cotangent() * v.out() * v.out())};
        },
        .onnx = {{"Reciprocal", 6}},
        .samples = [](Samples& s) { unary_samples(s, 0.5, 3); },
    },
    {
        .name = "sqrt",
        .summary = "the square root",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return sqrt(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * 0.5 / v.out()}; },
        .onnx = {{"Sqrt", 6}},
        .samples = [](Samples& s) { unary_samples(s, 0.25, 3); },
    },
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

namespace {

Tensor unary(std::string_view name, const Tensor& x) {
    return apply_one(op(name), {x});
}
Tensor binary(std::string_view name, const Tensor& a, const Tensor& b) {
    return apply_one(op(name), {a, b});
}

}  // namespace

Tensor add(const Tensor& a, const Tensor& b) {
    return binary("add", a, b);
}
Tensor sub(const Tensor& a, const Tensor& b) {
    return binary("sub", a, b);
}
Tensor mul(const Tensor& a, const Tensor& b) {
    return binary("mul", a, b);
}
Tensor div(const Tensor& a, const Tensor& b) {
    return binary("div", a, b);
}
Tensor neg(const Tensor& x) {
    return unary("neg", x);
}
Tensor pow(const Tensor& base, const Tensor& exponent) {
    return binary("pow", base, exponent);
}
Tensor pow(const Tensor& base, double exponent) {
    return pow(base, constant_like(base, exponent));
}
Tensor mod(const Tensor& a, const Tensor& b) {
    return binary("mod", a, b);
}
Tensor fmod(const Tensor& a, const Tensor& b) {
    return binary("fmod", a, b);
}
Tensor minimum(const Tensor& a, const Tensor& b) {
    return binary("minimum", a, b);
}
Tensor maximum(const Tensor& a, const Tensor& b) {
    return binary("maximum", a, b);
}
Tensor minimum(const Tensor& a, double b) {
    return minimum(a, constant_like(a, b));
}
Tensor maximum(const Tensor& a, double b) {
    return maximum(a, constant_like(a, b));
}
Tensor abs(const Tensor& x) {
    return unary("abs", x);
}
Tensor sign(const Tensor& x) {
    return unary("sign", x);
}
Tensor reciprocal(const Tensor& x) {
    return unary("reciprocal", x);
}
Tensor sqrt(const Tensor& x) {
    return unary("sqrt", x);
}
Tensor rsqrt(const Tensor& x) {
    return unary("rsqrt", x);
}
Tensor square(const Tensor& x) {
    return mul(x, x);
}

Tensor operator+(const Tensor& a, const Tensor& b) {
    return add(a, b);
}
Tensor operator-(const Tensor& a, const Tensor& b) {
    return sub(a, b);
}
Tensor operator*(const Tensor& a, const Tensor& b) {
    return mul(a, b);
}
Tensor operator/(const Tensor& a, const Tensor& b) {
    return div(a, b);
}
Tensor operator-(const Tensor& a) {
    return neg(a);
}
Tensor operator+(const Tensor& a, double b) {
    return add(a, constant_like(a, b));
}
Tensor operator-(const Tensor& a, double b) {
    return sub(a, constant_like(a, b));
}
Tensor operator*(const Tensor& a, double b) {
    return mul(a, constant_like(a, b));
}
Tensor operator/(const Tensor& a, double b) {
    return div(a, constant_like(a, b));
}
Tensor operator+(double a, const Tensor& b) {
    return add(constant_like(b, a), b);
}
Tensor operator-(double a, const Tensor& b) {
    return sub(constant_like(b, a), b);
}
Tensor operator*(double a, const Tensor& b) {
    return mul(constant_like(b, a), b);
}
Tensor operator/(double a, const Tensor& b) {
    return div(constant_like(b, a), b);
}

}  // namespace hearth
