// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise functions of one or two real numbers.

#include "compiler/ops/shared/rules.hpp"

#include <numbers>

namespace hearth {

namespace {

void angle_samples(Samples& s) {
    unary_samples(s, -3, 3);
    // Many turns: the reduced angle depends on every bit.
    for (double far : {1e5, 1e37}) {
        Sample& sample = s.add({{257}});
        sample.low = -far;
        sample.high = far;
        sample.gradient = false;
    }
}

constinit const OpDef kOps[] = {
    real_function(
        "exp", "e ^ x", [](auto x) { return exp(x); }, [](UnaryGradient d) { return d.g * d.y; },
        {{"Exp", 6}}, [](Samples& s) { unary_samples(s); }),
    real_function(
        "log", "the natural logarithm", [](auto x) { return log(x); },
        [](UnaryGradient d) { return d.g / d.x; }, {{"Log", 6}},
        [](Samples& s) { unary_samples(s, 0.1, 9); }),
    real_function(
        "sin", "sin(x), x in radians", [](auto x) { return sin(x); },
        [](UnaryGradient d) { return d.g * cos(d.x); }, {{"Sin", 7}}, angle_samples),
    real_function(
        "cos", "cos(x), x in radians", [](auto x) { return cos(x); },
        [](UnaryGradient d) { return neg(d.g * sin(d.x)); }, {{"Cos", 7}}, angle_samples),
    real_function(
        "tan", "tan(x), x in radians", [](auto x) { return tan(x); },
        [](UnaryGradient d) { return d.g * (square(d.y) + 1.0); }, {{"Tan", 7}},
        [](Samples& s) { unary_samples(s, -1.2, 1.2); }),
    real_function(
        "asin", "the angle in [-pi/2, pi/2] whose sine is x", [](auto x) { return asin(x); },
        [](UnaryGradient d) { return d.g * rsqrt(1.0 - square(d.x)); }, {{"Asin", 7}},
        [](Samples& s) { unary_samples(s, -0.9, 0.9); }),
    real_function(
        "acos", "the angle in [0, pi] whose cosine is x", [](auto x) { return acos(x); },
        [](UnaryGradient d) { return neg(d.g * rsqrt(1.0 - square(d.x))); }, {{"Acos", 7}},
        [](Samples& s) { unary_samples(s, -0.9, 0.9); }),
    real_function(
        "atan", "the angle in (-pi/2, pi/2) whose tangent is x", [](auto x) { return atan(x); },
        [](UnaryGradient d) { return d.g / (square(d.x) + 1.0); }, {{"Atan", 7}},
        [](Samples& s) { unary_samples(s, -3, 3); }),
    {
        .name = "atan2",
        .summary = "the angle of the point (x, y) from the x axis, in [-pi, pi]",
        .inputs = {{"y"}, {"x"}},
        .infer = broadcast_same_type,
        .compute = compute_float([](auto& c) { return atan2(c.x(0), c.x(1)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor y = v.in(0), x = v.in(1), g = v.cotangent();
            // Scaled to a length of 1 to sqrt(2): squares overflow or underflow.  At the origin,
            // which has no angle, the gradient is zero.
            const double least = smallest_normal(y.dtype());
            const Tensor scale = maximum(maximum(abs(y), abs(x)), least);
            const Tensor sine = y / scale, cosine = x / scale;
            const Tensor length = maximum(square(sine) + square(cosine), 1) * scale;
            return {sum_to_shape(g * (cosine / length), y.shape()),
                    neg(sum_to_shape(g * (sine / length), x.shape()))};
        },
        .samples = [](Samples& s) { binary_samples(s, 0.25, 2); },
    },
    {
        .name = "logaddexp",
        .summary = "log(e^a + e^b), without overflow",
        .inputs = {{"a"}, {"b"}},
        .infer = broadcast_same_type,
        .compute = compute_float([](auto& c) {
            auto a = c.x(0), b = c.x(1);
            // Equal infinities have no difference.
            auto distance = select(a == b, 0.0, abs(a - b));
            return max(a, b) + log1p_of_fraction(exp(-distance));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor a = v.in(0), b = v.in(1);
            const Tensor share = sigmoid(where(equal(a, b), 0.0, a - b));
            return {sum_to_shape(v.cotangent() * share, a.shape()),
                    sum_to_shape(v.cotangent() * (1.0 - share), b.shape())};
        },
        .samples = [](Samples& s) { binary_samples(s, -3, 3); },
    },
    real_function(
        "sinh", "(e^x - e^-x) / 2", [](auto x) { return sinh(x); },
        [](UnaryGradient d) { return d.g * cosh(d.x); }, {{"Sinh", 9}},
        [](Samples& s) { unary_samples(s); }),
    real_function(
        "cosh", "(e^x + e^-x) / 2", [](auto x) { return cosh(x); },
        [](UnaryGradient d) { return d.g * sinh(d.x); }, {{"Cosh", 9}},
        [](Samples& s) { unary_samples(s); }),
    real_function(
        "tanh", "sinh(x) / cosh(x)", [](auto x) { return tanh(x); },
        [](UnaryGradient d) { return d.g * (1.0 - square(d.y)); }, {{"Tanh", 6}},
        [](Samples& s) { unary_samples(s); }),
    real_function(
        "asinh", "the number whose sinh is x", [](auto x) { return asinh(x); },
        [](UnaryGradient d) { return d.g * rsqrt(square(d.x) + 1.0); }, {{"Asinh", 9}},
        [](Samples& s) { unary_samples(s, -3, 3); }),
    real_function(
        "acosh", "the number >= 0 whose cosh is x", [](auto x) { return acosh(x); },
        [](UnaryGradient d) { return d.g * rsqrt(square(d.x) - 1.0); }, {{"Acosh", 9}},
        [](Samples& s) { unary_samples(s, 1.25, 5); }),
    real_function(
        "atanh", "the number whose tanh is x", [](auto x) { return atanh(x); },
        [](UnaryGradient d) { return d.g / (1.0 - square(d.x)); }, {{"Atanh", 9}},
        [](Samples& s) { unary_samples(s, -0.9, 0.9); }),
    real_function(
        "erf", "2 / sqrt(pi) * the integral of e^(-t^2) from 0 to x", [](auto x) { return erf(x); },
        [](UnaryGradient d) {
            const Tensor slope = exp(neg(square(d.x))) * (2 * std::numbers::inv_sqrtpi);
            return d.g * slope;
        },
        {{"Erf", 9}}, [](Samples& s) { unary_samples(s, -3, 3); }),
    {
        .name = "floor",
        .summary = "the largest whole number <= x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return floor(c.x(0)); }),
        .stops_gradient = true,
        .onnx = {{"Floor", 6}},
        .samples = [](Samples& s) { unary_samples(s, -9, 9); },
    },
    {
        .name = "ceil",
        .summary = "the smallest whole number >= x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return ceil(c.x(0)); }),
        .stops_gradient = true,
        .onnx = {{"Ceil", 6}},
        .samples = [](Samples& s) { unary_samples(s, -9, 9); },
    },
    {
        .name = "round",
        .summary = "the nearest whole number, halves to the even one",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return round_even(c.x(0)); }),
        .stops_gradient = true,
        .onnx = {{"Round", 11}},
        .samples = [](Samples& s) { unary_samples(s, -9, 9); },
    },
};

}  // namespace

extern constinit const std::span<const OpDef> math_ops{kOps};

HEARTH_UNARY_FUNCTION(exp)
HEARTH_UNARY_FUNCTION(log)
HEARTH_UNARY_FUNCTION(sin)
HEARTH_UNARY_FUNCTION(cos)
HEARTH_UNARY_FUNCTION(tan)
HEARTH_UNARY_FUNCTION(asin)
HEARTH_UNARY_FUNCTION(acos)
HEARTH_UNARY_FUNCTION(atan)
HEARTH_BINARY_FUNCTION(atan2)
HEARTH_BINARY_FUNCTION(logaddexp)
HEARTH_UNARY_FUNCTION(sinh)
HEARTH_UNARY_FUNCTION(cosh)
HEARTH_UNARY_FUNCTION(tanh)
HEARTH_UNARY_FUNCTION(asinh)
HEARTH_UNARY_FUNCTION(acosh)
HEARTH_UNARY_FUNCTION(atanh)
HEARTH_UNARY_FUNCTION(erf)
HEARTH_UNARY_FUNCTION(floor)
HEARTH_UNARY_FUNCTION(ceil)
HEARTH_UNARY_FUNCTION(round)

}  // namespace hearth
