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
    {
        .name = "exp",
        .summary = "e ^ x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return exp(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * v.out()}; },
        .onnx = {{"Exp", 6}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "log",
        .summary = "the natural logarithm",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return log(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() / v.in(0)}; },
        .onnx = {{"Log", 6}},
        .samples = [](Samples& s) { unary_samples(s, 0.1, 9); },
    },
    {
        .name = "sin",
        .summary = "sin(x), x in radians",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return sin(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * cos(v.in(0))}; },
        .onnx = {{"Sin", 7}},
        .samples = angle_samples,
    },
    {
        .name = "cos",
        .summary = "cos(x), x in radians",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return cos(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {neg(v.cotangent() * sin(v.in(0)))};
        },
        .onnx = {{"Cos", 7}},
        .samples = angle_samples,
    },
    {
        .name = "tan",
        .summary = "tan(x), x in radians",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return tan(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * (square(v.out()) + 1.0)};
        },
        .onnx = {{"Tan", 7}},
        .samples = [](Samples& s) { unary_samples(s, -1.2, 1.2); },
    },
    {
        .name = "asin",
        .summary = "the angle in [-pi/2, pi/2] whose sine is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return asin(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * rsqrt(1.0 - square(v.in(0)))};
        },
        .onnx = {{"Asin", 7}},
        .samples = [](Samples& s) { unary_samples(s, -0.9, 0.9); },
    },
    {
        .name = "acos",
        .summary = "the angle in [0, pi] whose cosine is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return acos(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {neg(v.cotangent() * rsqrt(1.0 - square(v.in(0))))};
        },
        .onnx = {{"Acos", 7}},
        .samples = [](Samples& s) { unary_samples(s, -0.9, 0.9); },
    },
    {
        .name = "atan",
        .summary = "the angle in (-pi/2, pi/2) whose tangent is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return atan(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() / (square(v.in(0)) + 1.0)};
        },
        .onnx = {{"Atan", 7}},
        .samples = [](Samples& s) { unary_samples(s, -3, 3); },
    },
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
    {
        .name = "sinh",
        .summary = "(e^x - e^-x) / 2",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return sinh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * cosh(v.in(0))}; },
        .onnx = {{"Sinh", 9}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "cosh",
        .summary = "(e^x + e^-x) / 2",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return cosh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> { return {v.cotangent() * sinh(v.in(0))}; },
        .onnx = {{"Cosh", 9}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "tanh",
        .summary = "sinh(x) / cosh(x)",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return tanh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * (1.0 - square(v.out()))};
        },
        .onnx = {{"Tanh", 6}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "asinh",
        .summary = "the number whose sinh is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return asinh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * rsqrt(square(v.in(0)) + 1.0)};
        },
        .onnx = {{"Asinh", 9}},
        .samples = [](Samples& s) { unary_samples(s, -3, 3); },
    },
    {
        .name = "acosh",
        .summary = "the number >= 0 whose cosh is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return acosh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() * rsqrt(square(v.in(0)) - 1.0)};
        },
        .onnx = {{"Acosh", 9}},
        .samples = [](Samples& s) { unary_samples(s, 1.25, 5); },
    },
    {
        .name = "atanh",
        .summary = "the number whose tanh is x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return atanh(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            return {v.cotangent() / (1.0 - square(v.in(0)))};
        },
        .onnx = {{"Atanh", 9}},
        .samples = [](Samples& s) { unary_samples(s, -0.9, 0.9); },
    },
    {
        .name = "erf",
        .summary = "2 / sqrt(pi) * the integral of e^(-t^2) from 0 to x",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) { return erf(c.x(0)); }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor slope = exp(neg(square(v.in(0)))) * (2 * std::numbers::inv_sqrtpi);
            return {v.cotangent() * slope};
        },
        .onnx = {{"Erf", 9}},
        .samples = [](Samples& s) { unary_samples(s, -3, 3); },
    },
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

namespace {

Tensor unary(std::string_view name, const Tensor& x) {
    return apply_one(op(name), {x});
}

}  // namespace

Tensor exp(const Tensor& x) {
    return unary("exp", x);
}
Tensor log(const Tensor& x) {
    return unary("log", x);
}
Tensor sin(const Tensor& x) {
    return unary("sin", x);
}
Tensor cos(const Tensor& x) {
    return unary("cos", x);
}
Tensor tan(const Tensor& x) {
    return unary("tan", x);
}
Tensor asin(const Tensor& x) {
    return unary("asin", x);
}
Tensor acos(const Tensor& x) {
    return unary("acos", x);
}
Tensor atan(const Tensor& x) {
    return unary("atan", x);
}
Tensor atan2(const Tensor& y, const Tensor& x) {
    return apply_one(op("atan2"), {y, x});
}
Tensor logaddexp(const Tensor& a, const Tensor& b) {
    return apply_one(op("logaddexp"), {a, b});
}
Tensor sinh(const Tensor& x) {
    return unary("sinh", x);
}
Tensor cosh(const Tensor& x) {
    return unary("cosh", x);
}
Tensor tanh(const Tensor& x) {
    return unary("tanh", x);
}
Tensor asinh(const Tensor& x) {
    return unary("asinh", x);
}
Tensor acosh(const Tensor& x) {
    return unary("acosh", x);
}
Tensor atanh(const Tensor& x) {
    return unary("atanh", x);
}
Tensor erf(const Tensor& x) {
    return unary("erf", x);
}
Tensor floor(const Tensor& x) {
    return unary("floor", x);
}
Tensor ceil(const Tensor& x) {
    return unary("ceil", x);
}
Tensor round(const Tensor& x) {
    return unary("round", x);
}

}  // namespace hearth
