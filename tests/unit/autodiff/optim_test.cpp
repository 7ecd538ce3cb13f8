// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "cpu/interpreter.hpp"
#include "ops/op_cases.hpp"
#include "unit/autodiff/torch_cases.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace hearth::test {
namespace {

struct OptimizerCase {
    const char* name;
    void (*optimize)(const Tensor& loss, std::span<const Tensor> params);
};

using gradient_cases::f64_tensor;

class TorchOptimizer : public testing::TestWithParam<OptimizerCase> {};

// 25 steps of the tanh regression mean((tanh(x w) - t)^2).
TEST_P(TorchOptimizer, GivesTheStoredLossesAndWeights) {
    std::string why;
    const auto path = case_path("optim/" + std::string(GetParam().name) + ".json", why);
    if (!path) GTEST_SKIP() << why;
    const auto stored = gradient_cases::read_json(*path);
    ASSERT_TRUE(stored.ok()) << stored.status().message();
    Trace trace("learn");
    const Tensor x = trace.input("x", {8, 5}, DType::kF64);
    const Tensor t = trace.input("t", {8, 3}, DType::kF64);
    const Tensor w =
        trace.param("w", {5, 3}, Init::from(f64_tensor({5, 3}, stored->at("w0"))), DType::kF64);
    const Tensor loss = mse_loss(tanh(matmul(x, w)), t);
    GetParam().optimize(loss, trace.params());
    trace.output("loss", loss);
    const auto graph = trace.finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const NamedTensors inputs{{"x", f64_tensor({8, 5}, stored->at("x"))},
                              {"t", f64_tensor({8, 3}, stored->at("t"))}};
    NamedTensors weights;
    for (const double expected : stored->at("losses").get<std::vector<double>>()) {
        const auto outputs = interpret(*graph, inputs, weights);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        EXPECT_NEAR(outputs->at("loss").get(0), expected, 1e-12);
    }
    EXPECT_EQ(difference(weights.at("w"), f64_tensor({5, 3}, stored->at("w_after")), 1e-11), "");
}

constexpr OptimizerCase kOptimizers[] = {
    {"sgd",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, SgdOptions{.learning_rate = 0.1});
     }},
    {"sgd_momentum",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, SgdOptions{.learning_rate = 0.05, .momentum = 0.9});
     }},
    {"sgd_nesterov_wd",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(
             loss, params,
             SgdOptions{
                 .learning_rate = 0.05, .momentum = 0.9, .nesterov = true, .weight_decay = 0.01});
     }},
    {"adam",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, AdamOptions{.learning_rate = 0.01});
     }},
    {"adamw",
     [](const Tensor& loss, std::span<const Tensor> params) {
         minimize(loss, params, AdamOptions{.learning_rate = 0.01, .weight_decay = 0.1});
     }},
};

INSTANTIATE_TEST_SUITE_P(Each, TorchOptimizer, testing::ValuesIn(kOptimizers),
                         [](const auto& c) { return std::string(c.param.name); });

// Runs `optimize` for some steps on w with the gradient (3, -4) and returns w.
HostTensor after_steps(int steps, const std::function<void(Trace&, const Tensor&)>& optimize,
                       const NamedTensors& inputs = {}) {
    Trace trace("learn");
    const Tensor w = trace.param("w", {2});
    optimize(trace, w);
    const auto graph = trace.finish();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    NamedTensors weights;
    for (int i = 0; graph.ok() && i < steps; ++i)
        EXPECT_TRUE(interpret(*graph, inputs, weights).ok());
    return weights["w"];
}

Tensor gradient_of_3_and_minus_4(Trace& trace) {
    return trace.constant(HostTensor::of({2}, std::vector<double>{3, -4}));
}

TEST(Adam, FirstStepMovesByTheLearningRateWhateverTheGradient) {
    const HostTensor w = after_steps(1, [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        adam(std::span(&param, 1), std::span(&g, 1), {.learning_rate = 0.25});
    });
    EXPECT_NEAR(w.get(0), -0.25, 1e-6);
    EXPECT_NEAR(w.get(1), 0.25, 1e-6);
}

// In f32 the formula 1 - pow(beta2, step) is off by 5e-5 at first; the recursion is not.
TEST(Adam, BiasCorrectionIsAccurateInSinglePrecision) {
    const HostTensor w = after_steps(1000, [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        adam(std::span(&param, 1), std::span(&g, 1), {.learning_rate = 1e-3});
    });
    EXPECT_NEAR(w.get(0), -1, 2e-5);
    EXPECT_NEAR(w.get(1), 1, 2e-5);
}

TEST(Adam, TwoGroupsOfParamsNeedTwoNames) {
    const auto status_with = [](const char* second_name) {
        Trace trace("t");
        const Tensor a = trace.param("a", {2}), b = trace.param("b", {2});
        minimize(sum(a), std::span(&a, 1), AdamOptions{});
        minimize(sum(b), std::span(&b, 1), AdamOptions{.name = second_name});
        return trace.status().message();
    };
    EXPECT_EQ(status_with("critic"), "");
    EXPECT_EQ(status_with("adam"), "assign: 'adam.correction1' is assigned twice");
}

TEST(Sgd, LearningRateMayBeATensorThatTheHostBinds) {
    const auto optimize = [](Trace& trace, const Tensor& param) {
        const Tensor g = gradient_of_3_and_minus_4(trace);
        sgd(std::span(&param, 1), std::span(&g, 1), {.learning_rate = trace.input("rate", {})});
    };
    const HostTensor w = after_steps(2, optimize, {{"rate", HostTensor::scalar(0.5)}});
    EXPECT_EQ(w, HostTensor::of({2}, std::vector<double>{-3, 4}));
}

TEST(ClipByNorm, ScalesAllGradientsTogetherAndOnlyDown) {
    Trace trace("clip");
    const std::vector<Tensor> gradients{
        trace.constant(HostTensor::of({2}, std::vector<double>{3, 0}, DType::kF64)),
        trace.constant(HostTensor::of({1}, std::vector<double>{-4}, DType::kF64))};
    const auto tight = clip_by_norm(gradients, 1), wide = clip_by_norm(gradients, 10);
    for (const auto& list : {tight, wide})
        for (const Tensor& g : list)
            trace.output("g" + std::to_string(trace.graph().outputs.size()), g);
    const auto graph = trace.finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto results = evaluate(*graph, {});
    ASSERT_TRUE(results.ok());
    EXPECT_NEAR((*results)[0].get(0), 0.6, 1e-6);
    EXPECT_NEAR((*results)[1].get(0), -0.8, 1e-6);
    EXPECT_EQ((*results)[2].get(0), 3);
    EXPECT_EQ((*results)[3].get(0), -4);
}

TEST(Optimizer, RefusesWhatItCannotUpdate) {
    const auto error_of = [](const std::function<void(Trace&)>& build) {
        Trace trace("t");
        build(trace);
        return trace.status().message();
    };
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  sgd(std::span(&x, 1), std::span(&x, 1));
              }),
              "sgd: tensor 0 is no param");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor w = t.param("w", {2}), g = t.input("g", {3});
                  adam(std::span(&w, 1), std::span(&g, 1));
              }),
              "adam: param 'w' is [2], its gradient [3]");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor w = t.param("w", {2});
                  adam(std::span(&w, 1), {});
              }),
              "adam: 1 params, 0 gradients");
}

}  // namespace
}  // namespace hearth::test
