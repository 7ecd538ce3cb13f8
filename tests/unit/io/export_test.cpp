// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whole models written as ONNX; tests/ops/op_export_test.cpp has the operators one by one.

#include "cpu/interpreter.hpp"
#include "ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

HostTensor ramp(const Shape& shape) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, 0.25 * static_cast<double>(i) - 1);
    return t;
}

/// observation [rows, 4] -> action [rows, 2], value [rows]
Graph policy() {
    Trace trace("policy");
    const Tensor x = trace.input("observation", {kRows, 4});
    const Tensor h = nn::mlp(trace, "body", x, {8, 8}, tanh);
    const Tensor scale = trace.state("scale", {2}, Init::constant(0.5));
    trace.output("action", softmax(nn::linear(trace, "actor", h, 2)) * scale);
    trace.output("value", squeeze(nn::linear(trace, "critic", h, 1), {1}) / sum(mean(x, {0})));
    trace.output("seen", x);
    return trace.finish().value();
}

TEST(ExportOnnx, APolicyComesBackBitForBit) {
    const Graph graph = policy();
    const auto bytes = export_onnx(graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<ImportedModel> model = import_onnx(*bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->inputs()[0].shape, (Shape{kRows, 4}));
    EXPECT_EQ(model->outputs()[1].shape, Shape{kRows});
    for (const int64_t rows : {1, 3, 7}) {
        const std::vector<HostTensor> inputs{ramp({rows, 4})};
        const auto expected = evaluate(graph, inputs, rows);
        const auto found = evaluate(model->graph(), inputs, rows);
        ASSERT_TRUE(expected.ok() && found.ok());
        EXPECT_EQ(*found, *expected);
    }
}

TEST(ExportOnnx, WritingWhatWasReadChangesNothingMore) {
    const auto once = export_onnx(policy());
    ASSERT_TRUE(once.ok()) << once.status().message();
    const Result<ImportedModel> model = import_onnx(*once);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto twice = export_onnx(model->graph());
    ASSERT_TRUE(twice.ok()) << twice.status().message();
    const Result<ImportedModel> again = import_onnx(*twice);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_EQ(content_hash(again->graph()), content_hash(model->graph()));
}

TEST(ExportOnnx, WeightsLearnedSinceAreWrittenInPlaceOfTheFirst) {
    const Graph graph = policy();
    NamedTensors weights = initial_weights(graph);
    for (auto& [name, tensor] : weights)
        for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.set(i, tensor.get(i) + 1);
    const auto bytes = export_onnx(graph, weights);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<ImportedModel> model = import_onnx(*bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(initial_weights(model->graph()), weights);

    const auto other = export_onnx(graph, {{"scale", ramp({3})}});
    EXPECT_EQ(other.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(other.status().message().find("'scale' is f32[2], the weights have f32[3]"),
              std::string::npos)
        << other.status().message();
}

TEST(ExportOnnx, ConstantsAreNoWeights) {
    Trace trace("t");
    const Tensor x = trace.input("x", {2});
    trace.output("y", x * trace.constant(ramp({2})) + trace.param("w", {2}));
    const auto bytes = export_onnx(trace);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<ImportedModel> model = import_onnx(*bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(initial_weights(model->graph()).size(), 1u);
}

TEST(ExportOnnx, AllThatOnnxLacksIsNamedInOneMessage) {
    Trace trace("t");
    const Tensor x = trace.input("x", {2}), counter = trace.input("n", {}, DType::kU32);
    trace.output(
        "y", atan2(x, x + 1.0) + random_uniform(counter, 1, {2}) + random_uniform(counter, 2, {2}));
    const auto bytes = export_onnx(trace);
    EXPECT_EQ(bytes.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(
        bytes.status().message().find("operator atan2 (1 node), operator random_uniform (2 nodes)"),
        std::string::npos)
        << bytes.status().message();
}

TEST(ExportOnnx, EntriesThatLearnAreRefused) {
    Trace trace("learn");
    const Tensor w = trace.param("w", {2});
    minimize(sum(square(w)), std::vector{w}, SgdOptions{});
    const auto bytes = export_onnx(trace);
    EXPECT_EQ(bytes.status().code(), StatusCode::kUnsupported);
    EXPECT_NE(bytes.status().message().find("'w' is assigned"), std::string::npos)
        << bytes.status().message();
}

TEST(ExportOnnx, ANameMeansOneThing) {
    Trace trace("t");
    trace.output("x", neg(trace.input("x", {2})));
    EXPECT_EQ(export_onnx(trace).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace hearth
