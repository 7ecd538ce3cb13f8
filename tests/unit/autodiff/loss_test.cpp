// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Losses against PyTorch's values (1.13, in double) and against finite differences.

#include "compiler/interpreter/gradcheck.hpp"
#include "compiler/interpreter/interpreter.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth::test {
namespace {

/// scale * sin(1.3 i + phase): what the reference values were computed from.
HostTensor wave_data(const Shape& shape, double phase, double scale = 1) {
    HostTensor data(DType::kF64, shape);
    for (int64_t i = 0; i < data.element_count(); ++i)
        data.set(i, scale * std::sin(1.3 * static_cast<double>(i) + phase));
    return data;
}

Tensor wave(const Tensor& like, double phase) {
    return like.trace()->constant(wave_data({3}, phase));
}

Tensor labels(const Tensor& like, double second = 0) {
    return like.trace()->constant(
        HostTensor::of({3}, std::vector<double>{1, second, 3}, DType::kI64));
}

Tensor weights(const Tensor& like) {
    return like.trace()->constant(
        HostTensor::of({4}, std::vector<double>{0.5, 1, 2, 3}, DType::kF64));
}

struct LossCase {
    const char* name;
    Tensor (*build)(const Tensor& p, const Tensor& t);
    double expected;
};

constexpr LossCase kCases[] = {
    {"mse", [](const Tensor& p, const Tensor& t) { return mse_loss(p, t); }, 1.49015144845011},
    {"mse_sum", [](const Tensor& p, const Tensor& t) { return mse_loss(p, t, Reduction::kSum); },
     17.8818173814013},
    {"mae", [](const Tensor& p, const Tensor& t) { return l1_loss(p, t); }, 1.10022743691414},
    {"huber", [](const Tensor& p, const Tensor& t) { return huber_loss(p, t, 0.7); },
     0.547842789613892},
    {"smooth_l1", [](const Tensor& p, const Tensor& t) { return smooth_l1_loss(p, t, 0.7); },
     0.782632556591275},
    {"poisson", [](const Tensor& p, const Tensor& t) { return poisson_nll_loss(p, t); },
     1.82816954834406},
    {"cosine", [](const Tensor& p, const Tensor& t) { return cosine_distance(p, t); },
     0.459762175180372},
    {"ce",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) { return cross_entropy(p, labels(p)); },
     1.6490880443778},
    {"ce_weights",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return cross_entropy(p, labels(p), {.weight = weights(p)});
     },
     0.779712615758938},
    {"ce_smooth",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return cross_entropy(p, labels(p), {.label_smoothing = 0.2});
     },
     1.74941379736592},
    {"ce_weights_smooth",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return cross_entropy(p, labels(p), {.label_smoothing = 0.2, .weight = weights(p)});
     },
     1.0177591838505},
    {"ce_ignore",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return cross_entropy(p, labels(p, -100),
                              {.label_smoothing = 0.2, .weight = weights(p), .ignore_index = -100});
     },
     0.602373665528534},
    {"ce_ignore_plain",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return cross_entropy(p, labels(p, -100), {.ignore_index = -100});
     },
     0.392635766405508},
    {"ce_soft",
     [](const Tensor& p, const Tensor& t) {
         return cross_entropy(p, softmax(t), {.label_smoothing = 0.2, .weight = weights(p)});
     },
     2.10044178830681},
    {"nll",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return nll_loss(log_softmax(p), labels(p),
                         {.weight = weights(p), .reduction = Reduction::kSum});
     },
     3.50870677091522},
    {"bce",
     [](const Tensor& p, const Tensor& t) { return binary_cross_entropy(sigmoid(p), sigmoid(t)); },
     0.735636212322851},
    {"bce_logits",
     [](const Tensor& p, const Tensor& t) {
         return binary_cross_entropy_with_logits(p, sigmoid(t));
     },
     0.735636212322851},
    {"bce_pos",
     [](const Tensor& p, const Tensor& t) {
         return binary_cross_entropy_with_logits(p, sigmoid(t), Reduction::kMean, 3);
     },
     1.44392064162512},
    {"kl", [](const Tensor& p, const Tensor& t) { return kl_div(log_softmax(p), softmax(t)); },
     0.582570236032924},
    {"hinge", [](const Tensor& p, const Tensor& t) { return hinge_loss(p, sign(t)); },
     0.660216048862565},
    {"cat_lp",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return sum(categorical_log_prob(p, labels(p)));
     },
     -4.94726413313339},
    {"cat_entropy",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) { return sum(categorical_entropy(p)); },
     2.5900554140753},
    {"norm_lp",
     [](const Tensor& p, const Tensor& t) { return sum(normal_log_prob(p, t, p * 0.3)); },
     -22.9904144481285},
    {"norm_entropy",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) { return sum(normal_entropy(p * 0.3)); },
     17.7819000302018},
    {"ppo",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return ppo_clip_loss(wave(p, 2), wave(p, 2.2), wave(p, 5));
     },
     0.0233769660021474},
    {"ppo_value",
     [](const Tensor& p, [[maybe_unused]] const Tensor& t) {
         return ppo_value_loss(wave(p, 2), wave(p, 2.2), wave(p, 5), 0.1);
     },
     1.23496283196724},
};

class Loss : public testing::TestWithParam<LossCase> {};

const Shape kShape{3, 4};

TEST_P(Loss, EqualsPyTorchs) {
    Trace trace("loss");
    const Tensor p = trace.constant(wave_data(kShape, 0, 2));
    const Tensor t = trace.constant(wave_data(kShape, 1, 1.5));
    trace.output("loss", GetParam().build(p, t));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto results = evaluate(*graph, {});
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ((*results)[0].shape(), Shape{});
    EXPECT_NEAR((*results)[0].get(0), GetParam().expected, 1e-12);
}

TEST_P(Loss, GradientEqualsFiniteDifferences) {
    const TracedFunction f = [](Trace&, std::span<const Tensor> inputs) {
        return std::vector<Tensor>{GetParam().build(inputs[0], inputs[1])};
    };
    const std::vector<TensorType> types(2, {DType::kF64, kShape});
    const std::vector<HostTensor> inputs{wave_data(kShape, 0, 2), wave_data(kShape, 1, 1.5)};
    const Status status = gradcheck(f, types, inputs);
    EXPECT_TRUE(status.ok()) << status.message();
}

INSTANTIATE_TEST_SUITE_P(Each, Loss, testing::ValuesIn(kCases),
                         [](const auto& c) { return std::string(c.param.name); });

/// The loss of p and its gradient, with p in [n].
std::pair<double, std::vector<double>> loss_and_gradient(
    const std::vector<double>& values, const std::function<Tensor(const Tensor&)>& build) {
    Trace trace("loss");
    const Shape shape{static_cast<int64_t>(values.size())};
    const Tensor p = trace.constant(HostTensor::of(shape, values, DType::kF64));
    const Tensor loss = build(p);
    trace.output("loss", loss);
    trace.output("gradient", grad(loss, p));
    const auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    const auto results = evaluate(*graph, {});
    std::vector<double> gradient;
    for (int64_t i = 0; i < (*results)[1].element_count(); ++i)
        gradient.push_back((*results)[1].get(i));
    return {(*results)[0].get(0), gradient};
}

TEST(RelativeL2, DividesByThePredictionWithoutDifferentiatingTheDivisor) {
    const auto [loss, gradient] = loss_and_gradient({2, 0}, [](const Tensor& p) {
        return relative_l2_loss(
            p, p.trace()->constant(HostTensor::of({2}, std::vector<double>{1, 1}, DType::kF64)));
    });
    EXPECT_NEAR(loss, (1 / 4.01 + 1 / 0.01) / 2, 1e-12);
    EXPECT_NEAR(gradient[0], 2 / 4.01 / 2, 1e-12);
    EXPECT_NEAR(gradient[1], -2 / 0.01 / 2, 1e-12);
}

TEST(CategoricalEntropy, OfImpossibleOptionsIsFiniteWithAFiniteGradient) {
    const auto entropy = [](const Tensor& p) { return categorical_entropy(p); };
    const auto [loss, gradient] = loss_and_gradient({2, -INFINITY, 2, -INFINITY}, entropy);
    EXPECT_NEAR(loss, std::log(2.0), 1e-12);
    for (const double g : gradient) EXPECT_NEAR(g, 0, 1e-15);
    const auto [certain, slope] = loss_and_gradient({-INFINITY, 7}, entropy);
    EXPECT_EQ(certain, 0);
    EXPECT_EQ(slope, (std::vector<double>{0, 0}));
    // Where probabilities underflow.
    const auto [far, far_slope] = loss_and_gradient({0, -1e300}, entropy);
    EXPECT_EQ(far, 0);
    EXPECT_EQ(far_slope, (std::vector<double>{0, 0}));
}

TEST(CrossEntropy, OfIgnoredLabelsAloneIsZeroWithAZeroGradient) {
    const auto [loss, gradient] = loss_and_gradient({2, 0, -1, 3}, [](const Tensor& p) {
        const Tensor none =
            p.trace()->constant(HostTensor::of({2}, std::vector<double>{-1, -1}, DType::kI32));
        return cross_entropy(reshape(p, {2, 2}), none, {.ignore_index = -1});
    });
    EXPECT_EQ(loss, 0);
    EXPECT_EQ(gradient, (std::vector<double>{0, 0, 0, 0}));
}

TEST(CrossEntropy, WithoutReductionGivesOneNumberForEachSample) {
    Trace trace("t");
    const Tensor logits = trace.input("x", {kBatch, 3, 5});
    const Tensor target = trace.input("t", {kBatch, 3}, DType::kI32);
    const auto shape_of = [&](const CrossEntropyOptions& options) {
        return cross_entropy(logits, target, options).shape();
    };
    EXPECT_EQ(shape_of({.reduction = Reduction::kNone}), (Shape{kBatch, 3}));
    EXPECT_EQ(shape_of({.label_smoothing = 0.1, .ignore_index = 0, .reduction = Reduction::kNone}),
              (Shape{kBatch, 3}));
    EXPECT_EQ(shape_of({.ignore_index = 0}), Shape{});
    EXPECT_TRUE(trace.status().ok()) << trace.status().message();
}

TEST(CrossEntropy, NeedsAFixedNumberOfClasses) {
    Trace trace("t");
    cross_entropy(trace.input("x", {2, kBatch}), trace.input("t", {2}, DType::kI32));
    EXPECT_EQ(trace.status().message(),
              "nll_loss: the last extent must be the number of classes, found [2, batch]");
}

TEST(BceLoss, OfCertaintiesIsFinite) {
    const auto [loss, gradient] = loss_and_gradient({0, 1}, [](const Tensor& p) {
        return binary_cross_entropy(
            p, p.trace()->constant(HostTensor::of({2}, std::vector<double>{1, 1}, DType::kF64)));
    });
    EXPECT_EQ(loss, 50);
}

TEST(KlLoss, OfTargetsWithoutSomeClassIsFinite) {
    const auto [loss, gradient] = loss_and_gradient({std::log(0.5), -30}, [](const Tensor& p) {
        return kl_div(
            p, p.trace()->constant(HostTensor::of({2}, std::vector<double>{1, 0}, DType::kF64)));
    });
    EXPECT_NEAR(loss, std::log(2), 1e-12);
    EXPECT_EQ(gradient, (std::vector<double>{-1, 0}));
}

}  // namespace
}  // namespace hearth::test
