// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "cpu/interpreter.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

double largest_magnitude(const HostTensor& t) {
    double largest = 0;
    for (int64_t i = 0; i < t.element_count(); ++i) largest = std::max(largest, std::abs(t.get(i)));
    return largest;
}

TEST(Linear, DeclaresItsParamsOnceUnderItsName) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kRows, 5});
    nn::linear(trace, "fc", x, 3);
    const Tensor y = nn::linear(trace, "fc", x, 3);
    EXPECT_EQ(y.shape(), (Shape{kRows, 3}));
    ASSERT_EQ(trace.params().size(), 2u);
    const Graph& graph = trace.graph();
    EXPECT_EQ(graph.value(graph.find("fc.weight")).shape, (Shape{3, 5}));
    EXPECT_EQ(graph.value(graph.find("fc.bias")).shape, (Shape{3}));
    EXPECT_TRUE(trace.status().ok());
}

TEST(Linear, InitsStayWithinTheirBoundsAndNearlyReachThem) {
    const auto weights = [](nn::WeightInit init) {
        Trace trace("t");
        nn::linear(trace, "fc", trace.input("x", {24}), 48, {.init = init, .seed = 3});
        return initial_weights(trace.graph());
    };
    const auto check = [](const HostTensor& t, double bound) {
        EXPECT_LE(largest_magnitude(t), bound);
        EXPECT_GE(largest_magnitude(t), 0.9 * bound);
    };
    check(weights(nn::WeightInit::kFanIn).at("fc.weight"), std::sqrt(1.0 / 24));
    check(weights(nn::WeightInit::kFanIn).at("fc.bias"), std::sqrt(1.0 / 24));
    check(weights(nn::WeightInit::kKaiming).at("fc.weight"), std::sqrt(6.0 / 24));
    check(weights(nn::WeightInit::kXavier).at("fc.weight"), std::sqrt(6.0 / 72));
    EXPECT_EQ(largest_magnitude(weights(nn::WeightInit::kKaiming).at("fc.bias")), 0);
    EXPECT_EQ(largest_magnitude(weights(nn::WeightInit::kZeros).at("fc.weight")), 0);
}

TEST(Linear, NeedsAFixedNumberOfFeatures) {
    Trace trace("t");
    nn::linear(trace, "fc", trace.input("x", {2, kRows}), 3);
    EXPECT_EQ(trace.status().message(),
              "linear 'fc': from [2, rows] to 3 features: both numbers must be fixed and positive");
}

TEST(Mlp, LearnsExclusiveOr) {
    Trace trace("learn");
    const Tensor x = trace.input("x", {kRows, 2}), t = trace.input("t", {kRows, 1});
    const Tensor logits = nn::mlp(trace, "net", x, {8, 1}, tanh, {.seed = 1});
    const Tensor loss = bce_with_logits(logits, t);
    minimize(loss, trace.params(), AdamOptions{.learning_rate = 0.05});
    trace.output("loss", loss);
    const auto graph = trace.finish();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const NamedTensors inputs{
        {"x", HostTensor::of({4, 2}, std::vector<double>{0, 0, 0, 1, 1, 0, 1, 1})},
        {"t", HostTensor::of({4, 1}, std::vector<double>{0, 1, 1, 0})}};
    NamedTensors weights;
    double last = 0;
    for (int i = 0; i < 300; ++i) {
        const auto outputs = interpret(*graph, inputs, weights, 4);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        last = outputs->at("loss").get(0);
        if (i == 0) {
            EXPECT_GT(last, 0.5);
        }
    }
    EXPECT_LT(last, 0.05);
}

}  // namespace
}  // namespace hearth
