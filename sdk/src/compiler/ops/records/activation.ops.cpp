// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Activation functions.  At a kink the gradient is PyTorch's choice.

#include "compiler/ops/onnx/onnx_export.hpp"
#include "compiler/ops/onnx/onnx_rules.hpp"
#include "compiler/ops/shared/rules.hpp"

#include <numbers>

namespace hearth {

namespace {

// Klambauer et al., "Self-Normalizing Neural Networks", 2017; and the ONNX standard's floats, which
// differ from the eighth digit on.
constexpr double kSeluAlpha = 1.6732632423543772;
constexpr double kSeluGamma = 1.0507009873554805;
constexpr double kOnnxSeluAlpha = 1.67326319217681884765625;
constexpr double kOnnxSeluGamma = 1.05070102214813232421875;

// Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016: the tanh approximation.
constexpr double kGeluCubic = 0.044715;
constexpr double kGeluScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // sqrt(2 / pi)

// log(1 + e^x) without overflow.
template <class V>
V softplus_of(V x) {
    return max(x, 0.0) + log1p_of_fraction(exp(-abs(x)));
}

constinit const OpDef kOps[] = {
    real_function(
        "relu", "max(x, 0)", [](auto x) { return max(x, 0.0); },
        [](UnaryGradient d) { return where(greater(d.y, 0), d.g, 0.0); }, {{"Relu", 6}},
        [](Samples& s) { unary_samples(s); }),
    {
        .name = "leaky_relu",
        .summary = "x where x >= 0, else alpha * x",
        .inputs = {{"x"}},
        .attrs = {{"alpha", AttrType::kFloat, 0.01}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return select(x >= 0.0, x, c.attrs().real("alpha") * x);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent();
            return {where(greater(v.in(0), 0), g, g * v.attrs.real("alpha"))};
        },
        .onnx = {{"LeakyRelu", 6}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                s.add({{3, 5}}, {{"alpha", 0.3}});
            },
    },
    {
        .name = "prelu",
        .summary = "x where x >= 0, else slope * x",
        .inputs = {{"x"}, {"slope"}},
        .infer = [](InferContext& call) -> Status {
            HEARTH_TRY(broadcast_same_type(call));
            if (call.outputs[0].shape == call.shape(0)) return {};
            return invalid_argument("slope " + to_string(call.shape(1)) +
                                    " does not broadcast to x " + to_string(call.shape(0)));
        },
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return select(x >= 0.0, x, c.x(1) * x);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor g = v.cotangent(), is_positive = greater(v.in(0), 0);
            return {where(is_positive, g, g * v.in(1)),
                    sum_to_shape(where(is_positive, 0.0, g * v.in(0)), v.in(1).shape())};
        },
        .onnx = {{"PRelu", 9}},
        .samples =
            [](Samples& s) {
                s.add({{}, {}});
                s.add({{7}, {1}});
                s.add({{kBatch, 5}, {5}});
                s.add({{2, 3, 5}, {3, 1}});
                s.add({{2, 3, 1, 5}, {2, 3, 1, 5}});
            },
    },
    {
        .name = "elu",
        .summary = "x where x >= 0, else alpha * (e^x - 1)",
        .inputs = {{"x"}},
        .attrs = {{"alpha", AttrType::kFloat, 1}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return select(x >= 0.0, x, c.attrs().real("alpha") * (exp(min(x, 0.0)) - 1.0));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const double alpha = v.attrs.real("alpha");
            const Tensor g = v.cotangent();
            return {where(greater(v.in(0), 0), g, g * (v.out() + alpha))};
        },
        .onnx = {{"Elu", 6}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                s.add({{3, 5}}, {{"alpha", 0.7}});
            },
    },
    {
        .name = "selu",
        .summary = "gamma * x where x >= 0, else gamma * alpha * (e^x - 1)",
        .inputs = {{"x"}},
        .attrs = {{"alpha", AttrType::kFloat, kOnnxSeluAlpha},
                  {"gamma", AttrType::kFloat, kOnnxSeluGamma}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            const double gamma = c.attrs().real("gamma"), alpha = c.attrs().real("alpha");
            return select(x >= 0.0, gamma * x, gamma * alpha * (exp(min(x, 0.0)) - 1.0));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const double gamma = v.attrs.real("gamma"), alpha = v.attrs.real("alpha");
            const Tensor g = v.cotangent();
            return {where(greater(v.in(0), 0), g * gamma, g * (v.out() + gamma * alpha))};
        },
        .onnx = {{"Selu", 6}},
        .samples = [](Samples& s) { unary_samples(s); },
    },
    {
        .name = "celu",
        .summary = "max(x, 0) + min(0, alpha * (e^(x / alpha) - 1))",
        .inputs = {{"x"}},
        .attrs = {{"alpha", AttrType::kFloat, 1}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            const double alpha = c.attrs().real("alpha");
            return select(x >= 0.0, x, alpha * (exp(min(x, 0.0) / alpha) - 1.0));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const double alpha = v.attrs.real("alpha");
            const Tensor g = v.cotangent();
            return {where(greater(v.in(0), 0), g, g * (v.out() / alpha + 1.0))};
        },
        .onnx = {{"Celu", 12}},
        .samples =
            [](Samples& s) {
                unary_samples(s);
                s.add({{3, 5}}, {{"alpha", 2.0}});
            },
    },
    {
        .name = "gelu",
        .summary = "x / 2 * (1 + erf(x / sqrt(2)))",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return 0.5 * x * (1.0 + erf(x * (1 / std::numbers::sqrt2)));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor x = v.in(0);
            const Tensor cdf = (erf(x * (1 / std::numbers::sqrt2)) + 1.0) * 0.5;
            const Tensor density = exp(square(x) * -0.5) * (0.5 * kGeluScale);
            return {v.cotangent() * (cdf + x * density)};
        },
        .onnx_export = onnx_export::same,
        .onnx = {{"Gelu", 20, import_gelu}},
        .samples = [](Samples& s) { unary_samples(s, -4, 4); },
    },
    {
        .name = "gelu_tanh",
        .summary = "x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return 0.5 * x * (1.0 + tanh(kGeluScale * (x + kGeluCubic * x * x * x)));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            // Beyond 16, where tanh is 1, the square may overflow.
            const Tensor x = clamp(v.in(0), -16, 16);
            const Tensor t = tanh((x + x * square(x) * kGeluCubic) * kGeluScale);
            const Tensor slope = (square(x) * (3 * kGeluCubic) + 1.0) * kGeluScale;
            return {v.cotangent() * 0.5 * (t + 1.0 + x * (1.0 - square(t)) * slope)};
        },
        .onnx_export = onnx_export::gelu_tanh,
        .samples = [](Samples& s) { unary_samples(s, -4, 4); },
    },
    {
        .name = "silu",
        .summary = "x / (1 + e^-x)",
        .inputs = {{"x"}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            auto x = c.x(0);
            return x / (1.0 + exp(-x));
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor s = sigmoid(v.in(0));
            return {v.cotangent() * s * (v.in(0) * (1.0 - s) + 1.0)};
        },
        .onnx_export = onnx_export::silu,
        .samples = [](Samples& s) { unary_samples(s, -4, 4); },
    },
    real_function(
        "mish", "x * tanh(softplus(x))", [](auto x) { return x * tanh(softplus_of(x)); },
        [](UnaryGradient d) {
            const Tensor x = d.x, t = tanh(softplus(x));
            return d.g * (t + x * sigmoid(x) * (1.0 - square(t)));
        },
        {{"Mish", 18}}, [](Samples& s) { unary_samples(s, -4, 4); }),
    real_function(
        "softplus", "log(1 + e^x)", [](auto x) { return softplus_of(x); },
        [](UnaryGradient d) { return d.g * sigmoid(d.x); }, {{"Softplus", 1}},
        [](Samples& s) { unary_samples(s, -4, 4); }),
    real_function(
        "softsign", "x / (1 + |x|)", [](auto x) { return x / (1.0 + abs(x)); },
        [](UnaryGradient d) { return d.g / square(abs(d.x) + 1.0); }, {{"Softsign", 1}},
        [](Samples& s) { unary_samples(s); }),
    real_function(
        "sigmoid", "1 / (1 + e^-x)", [](auto x) { return 1.0 / (1.0 + exp(-x)); },
        [](UnaryGradient d) { return d.g * d.y * (1.0 - d.y); }, {{"Sigmoid", 6}},
        [](Samples& s) { unary_samples(s, -4, 4); }),
    {
        .name = "hard_sigmoid",
        .summary = "min(max(alpha * x + beta, 0), 1)",
        .inputs = {{"x"}},
        .attrs = {{"alpha", AttrType::kFloat, 0.2}, {"beta", AttrType::kFloat, 0.5}},
        .infer = same_as_input,
        .compute = compute_float([](auto& c) {
            const double alpha = c.attrs().real("alpha"), beta = c.attrs().real("beta");
            return min(max(alpha * c.x(0) + beta, 0.0), 1.0);
        }),
        .vjp = [](VjpContext& v) -> std::vector<Tensor> {
            const Tensor inside = logical_and(greater(v.out(), 0), less(v.out(), 1));
            return {where(inside, v.cotangent() * v.attrs.real("alpha"), 0.0)};
        },
        .onnx = {{"HardSigmoid", 6}},
        .samples =
            [](Samples& s) {
                unary_samples(s, -4, 4);
                s.add({{3, 5}}, {{"alpha", 0.5}, {"beta", 0.25}});
            },
    },
    real_function(
        "hard_swish", "x * min(max(x / 6 + 1/2, 0), 1)",
        [](auto x) { return x * min(max(x / 6.0 + 0.5, 0.0), 1.0); },
        [](UnaryGradient d) {
            const Tensor x = d.x, g = d.g;
            const Tensor inner = where(less_equal(x, -3), 0.0, g * (x / 3.0 + 0.5));
            return where(greater_equal(x, 3), g, inner);
        },
        {{"HardSwish", 14}}, [](Samples& s) { unary_samples(s, -5, 5); }),
};

}  // namespace

extern constinit const std::span<const OpDef> activation_ops{kOps};

namespace {

Tensor unary(std::string_view name, const Tensor& x, Attrs attrs = {}) {
    return apply_one(op(name), {x}, std::move(attrs));
}

}  // namespace

HEARTH_UNARY_FUNCTION(relu)
Tensor leaky_relu(const Tensor& x, double alpha) {
    return unary("leaky_relu", x, {{"alpha", alpha}});
}
HEARTH_BINARY_FUNCTION(prelu)
Tensor elu(const Tensor& x, double alpha) {
    return unary("elu", x, {{"alpha", alpha}});
}
Tensor selu(const Tensor& x) {
    return unary("selu", x, {{"alpha", kSeluAlpha}, {"gamma", kSeluGamma}});
}
Tensor celu(const Tensor& x, double alpha) {
    return unary("celu", x, {{"alpha", alpha}});
}
HEARTH_UNARY_FUNCTION(gelu)
HEARTH_UNARY_FUNCTION(gelu_tanh)
HEARTH_UNARY_FUNCTION(silu)
HEARTH_UNARY_FUNCTION(mish)
HEARTH_UNARY_FUNCTION(softplus)
HEARTH_UNARY_FUNCTION(softsign)
HEARTH_UNARY_FUNCTION(sigmoid)
Tensor hard_sigmoid(const Tensor& x, double alpha, double beta) {
    return unary("hard_sigmoid", x, {{"alpha", alpha}, {"beta", beta}});
}
HEARTH_UNARY_FUNCTION(hard_swish)

}  // namespace hearth
