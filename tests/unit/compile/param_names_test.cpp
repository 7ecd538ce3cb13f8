// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A misspelt name makes a second layer, which acts untrained: compile() reports it.

#include <hearth/compile.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

/// The error of a program that acts with the layer `acting` and trains the layer `learning`.
std::string error_of(const char* acting, const char* learning, int64_t acting_width = 3) {
    Trace act("act"), learn("learn");
    act.output("y", nn::linear(act, acting, act.input("x", {kBatch, 4}), acting_width));
    const Tensor y = nn::linear(learn, learning, learn.input("x", {kBatch, 4}), 3);
    minimize(mean(square(y)), learn.params(), SgdOptions{});
    return compile({&act, &learn}, {}).status().message();
}

TEST(ParamNames, AMisspeltLayerIsReportedWithBothNames) {
    for (const auto& [acting, learning] : {std::pair("guard", "gaurd"),
                                           {"brain.body", "brain.bodi"},
                                           {"network", "netwrok"},
                                           {"policy", "polciy"}}) {
        const std::string error = error_of(acting, learning);
        EXPECT_NE(error.find("is one of them misspelt?"), std::string::npos) << acting << error;
        EXPECT_NE(error.find(std::string("'") + acting), std::string::npos) << error;
        EXPECT_NE(error.find(std::string("'") + learning), std::string::npos) << error;
    }
}

TEST(ParamNames, NamesThatDifferOnPurposeAreAccepted) {
    EXPECT_EQ(error_of("guard", "guard"), "");
    EXPECT_EQ(error_of("actor", "critic"), "");
    EXPECT_EQ(error_of("q1", "q2"), "") << "numbered";
    EXPECT_EQ(error_of("layer1", "layer2"), "");
    EXPECT_EQ(error_of("up", "ub"), "") << "too short to tell";
    EXPECT_EQ(error_of("guard", "gaurd", 5), "") << "another shape";
}

TEST(ParamNames, LayersThatAreTrainedOrReadElsewhereAreAccepted) {
    Trace act("act"), learn("learn");
    const auto near_and_rear = [](Trace& trace) {
        const Tensor x = trace.input("x", {kBatch, 4});
        return nn::linear(trace, "near", x, 3) + nn::linear(trace, "rear", x, 3);
    };
    act.output("y", near_and_rear(act));
    const Tensor loss = mean(square(near_and_rear(learn)));
    minimize(loss, nn::parameters_with_prefix(learn, {"near"}), SgdOptions{});
    EXPECT_EQ(compile({&act, &learn}, {}).status().message(), "");
}

}  // namespace
}  // namespace hearth
