// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whole models written as ONNX; tests/ops/op_export_test.cpp has the operators one by one.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/io.hpp>
#include <hearth/nn.hpp>
#include <hearth/op/at.hpp>
#include <hearth/op/onnx_export.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>
#include <hearth/weights.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace hearth {
namespace {

HostTensor ramp(const Shape& shape) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, 0.25 * static_cast<double>(i) - 1);
    return t;
}

/// Contents of params and states that are no special numbers; between 0.5 and 1.5.
NamedTensors random_weights(const Graph& graph) {
    NamedTensors weights = initial_weights(graph);
    for (auto& [name, tensor] : weights)
        for (int64_t i = 0; i < tensor.element_count(); ++i)
            tensor.set(i, 0.5 + uniform_from_bits(philox_bits(7, 0, static_cast<uint32_t>(i))));
    return weights;
}

Graph with_random_weights(Graph graph) {
    for (auto& [name, tensor] : random_weights(graph))
        graph.values[graph.find(name)].data = std::make_shared<const HostTensor>(tensor);
    return graph;
}

/// observation [rows, 4] -> action [rows, 2], value [rows]
Graph policy() {
    Trace trace("policy");
    const Tensor x = trace.input("observation", {kBatch, 4});
    const Tensor h = nn::mlp(trace, "body", x, {8, 8}, tanh);
    const Tensor scale = trace.state("scale", {2}, Init::constant(0.5));
    trace.output("action", softmax(nn::linear(trace, "actor", h, 2)) * scale);
    trace.output("value", squeeze(nn::linear(trace, "critic", h, 1), {1}) / sum(mean(x, {0})));
    trace.output("seen", x);
    return trace.build().value();
}

TEST(ExportOnnx, APolicyComesBackBitForBit) {
    const Graph graph = policy();
    const auto bytes = export_onnx(graph);
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    const Result<ImportedModel> model = import_onnx(*bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->inputs()[0].shape, (Shape{kBatch, 4}));
    EXPECT_EQ(model->outputs()[1].shape, Shape{kBatch});
    for (const int64_t rows : {1, 3, 7}) {
        const std::vector<HostTensor> inputs{ramp({rows, 4})};
        const auto expected = evaluate(graph, inputs, rows);
        const auto found = evaluate(model->graph(), inputs, rows);
        ASSERT_TRUE(expected.ok() && found.ok());
        EXPECT_EQ(*found, *expected) << print(model->graph());
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

/// How often each operator is in the file, but for constants.
std::map<std::string, int> operators_in(std::span<const std::byte> bytes) {
    onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    std::map<std::string, int> counts;
    for (const onnx::NodeProto& node : model.graph().node())
        if (node.op_type() != "Constant") ++counts[node.op_type()];
    return counts;
}

// An application's operator: 2 x, which ONNX has as a sum.
constinit const OpDef kTwice = {
    .name = "test_twice",
    .summary = "2 x",
    .inputs = {{"x"}},
    .infer = [](InferContext& call) { return call.one(call.dtype(0), call.shape(0)); },
    .compute = compute_float([](auto& c) { return c.x(0) + c.x(0); }),
    .onnx_export =
        [](OnnxExportCall& c) {
            if (c.shape(0).rank() != 2) return false;
            c.write("Add", {c.in(0), c.in(0)});
            return true;
        },
};

TEST(ExportOnnx, AnApplicationsOperatorIsWrittenByTheRuleOfItsRecord) {
    const auto exported = [](const Shape& shape) {
        Trace trace("main");
        trace.output("y", apply_one(kTwice, {trace.input("x", shape)}));
        return export_onnx(trace.build().value());
    };
    const auto bytes = exported({kBatch, 3});
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ(operators_in(*bytes), (std::map<std::string, int>{{"Add", 1}}));
    const auto refused = exported({3});
    EXPECT_NE(refused.status().message().find("test_twice"), std::string::npos)
        << refused.status().message();
}

/// Writes the trace, expects these operators and no others, and that it computes the same when
/// read again.
void expect_operators(Trace& trace, const std::map<std::string, int>& expected) {
    const Graph graph = trace.build().value();
    const auto bytes = export_onnx(graph, random_weights(graph));
    ASSERT_TRUE(bytes.ok()) << bytes.status().message();
    EXPECT_EQ(operators_in(*bytes), expected);
    const Result<ImportedModel> model = import_onnx(*bytes);
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto second = export_onnx(model->graph());
    ASSERT_TRUE(second.ok()) << second.status().message();
    EXPECT_EQ(operators_in(*second), expected) << "written again";
    Shape shape = graph.values[graph.inputs[0]].shape;
    const int64_t rows = 3;
    for (int i = 0; i < shape.rank(); ++i)
        if (shape[i].is_batch) shape[i] = Dim(shape[i].count * rows);
    const std::vector<HostTensor> inputs{ramp(shape)};
    const auto a = evaluate(with_random_weights(graph), inputs, rows),
               b = evaluate(model->graph(), inputs, rows);
    ASSERT_TRUE(a.ok() && b.ok());
    // Epsilons are 32-bit floats in ONNX.
    for (int64_t i = 0; i < (*a)[0].element_count(); ++i)
        ASSERT_NEAR((*b)[0].get(i), (*a)[0].get(i), 1e-6 + 1e-6 * std::abs((*a)[0].get(i))) << i;
}

TEST(ExportOnnx, AConvolutionalNetworkHasTheOperatorsItWasMadeOf) {
    Trace trace("cnn");
    Tensor x = trace.input("x", {kBatch, 3, 8, 8});
    x = nn::conv2d(trace, "first", x, 4, {3}, {.window = {.pad_begin = {1}, .pad_end = {1}}});
    x = relu(nn::batch_norm(trace, "norm", x, {.training = false}));
    x = avg_pool(x, {2, 2}, {.strides = {2, 2}});
    x = relu(nn::instance_norm(trace, "instance", nn::conv2d(trace, "second", x, 5, {3})));
    x = nn::conv_transpose2d(trace, "up", x, 6, {2});
    trace.output("y", nn::linear(trace, "head", mean(x, {2, 3}), 4));
    expect_operators(trace, {{"Conv", 2},
                             {"BatchNormalization", 1},
                             {"Relu", 2},
                             {"AveragePool", 1},
                             {"InstanceNormalization", 1},
                             {"ConvTranspose", 1},
                             {"ReduceMean", 1},
                             {"Gemm", 1}});
}

TEST(ExportOnnx, WeightsMayBeConstants) {
    Trace trace("cnn");
    const Tensor x = trace.input("x", {kBatch, 2, 5, 5});
    const Tensor w = trace.constant(ramp({3, 2, 2, 2})), b = trace.constant(ramp({3}));
    const Tensor y = mean(conv(x, w, b), {2, 3});
    trace.output("y", linear(y, trace.constant(ramp({4, 3})), trace.constant(ramp({4}))));
    expect_operators(trace, {{"Conv", 1}, {"ReduceMean", 1}, {"Gemm", 1}});
}

TEST(ExportOnnx, NormalizationsOfFeaturesAreOneOperatorWithOrWithoutScaleAndBias) {
    Trace trace("mlp");
    Tensor x = nn::linear(trace, "first", trace.input("x", {kBatch, 6}), 8);
    x = nn::layer_norm(trace, "both", x);
    x = nn::layer_norm(trace, "scale", nn::batch_norm(trace, "batch", x, {.training = false}),
                       {.bias = false});
    x = nn::batch_norm(trace, "plain", x, {.scale = false, .bias = false, .training = false});
    trace.output("y", standardize(x, {-1}) * 3.0);
    expect_operators(
        trace, {{"Gemm", 1}, {"LayerNormalization", 3}, {"BatchNormalization", 2}, {"Mul", 1}});
}

TEST(ExportOnnx, AttentionIsASoftmaxBetweenTwoProducts) {
    for (const bool causal : {false, true}) {
        Trace trace("block");
        const Tensor x = trace.input("x", {kBatch, 4, 8});
        const nn::TransformerOptions options{
            .num_heads = 2, .dim_feedforward = 16, .causal = causal, .activation = gelu};
        trace.output("y", nn::transformer_encoder_layer(trace, "block", x, options));
        const Graph graph = trace.build().value();
        const auto bytes = export_onnx(graph, random_weights(graph));
        ASSERT_TRUE(bytes.ok()) << bytes.status().message();
        const std::map<std::string, int> found = operators_in(*bytes);
        EXPECT_EQ(found.at("Softmax"), 1);
        EXPECT_EQ(found.at("LayerNormalization"), 2);
        EXPECT_EQ(found.at("Gelu"), 1);
        for (const char* part : {"Exp", "IsInf", "Equal", "ReduceMax", "ReduceSum", "Log"})
            EXPECT_FALSE(found.contains(part)) << part;
        const Result<ImportedModel> model = import_onnx(*bytes);
        ASSERT_TRUE(model.ok()) << model.status().message();
        const std::vector<HostTensor> inputs{ramp({2, 4, 8})};
        const auto a = evaluate(with_random_weights(graph), inputs, 2),
                   b = evaluate(model->graph(), inputs, 2);
        ASSERT_TRUE(a.ok() && b.ok());
        for (int64_t i = 0; i < (*a)[0].element_count(); ++i)
            ASSERT_NEAR((*b)[0].get(i), (*a)[0].get(i), 1e-5) << i;
    }
}

TEST(ExportOnnx, WhatIsReadElsewhereTooIsNoPartOfAGroup) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 6});
    const Tensor product = linear(x, trace.param("w", {4, 6}));
    const Tensor normal = standardize(product, {-1});
    trace.output("y", normal * trace.param("scale", {4}) + trace.param("bias", {4}));
    trace.output("z", product + trace.param("other", {4}));
    trace.output("normal", normal);
    expect_operators(trace, {{"Gemm", 1}, {"Add", 2}, {"LayerNormalization", 1}, {"Mul", 1}});
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

/// The operators of the file that `build` becomes, after a check that it computes the same.
std::map<std::string, int> written(const std::function<Tensor(Trace&)>& build,
                                   const std::vector<HostTensor>& inputs, int64_t rows = 1) {
    Trace trace("t");
    trace.output("y", build(trace));
    const Graph graph = trace.build().value();
    const auto bytes = export_onnx(graph);
    EXPECT_TRUE(bytes.ok()) << bytes.status().message();
    if (!bytes.ok()) return {};
    const Result<ImportedModel> model = import_onnx(*bytes);
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    const auto expected = evaluate(graph, inputs, rows);
    const auto found = evaluate(model->graph(), inputs, rows);
    EXPECT_TRUE(expected.ok()) << expected.status().message();
    EXPECT_TRUE(found.ok()) << found.status().message();
    if (!expected.ok() || !found.ok()) return {};
    EXPECT_EQ(*found, *expected) << print(model->graph());
    return operators_in(*bytes);
}

// Groups that look like an operator, and are none.

TEST(ExportOnnx, AMeanKeepsItsShape) {
    const HostTensor x = ramp({2, 4, 3});
    const auto mean_of = [&](const Shape& shape, double count) {
        return written(
            [&](Trace& t) {
                const Tensor total = sum(t.input("x", {2, 4, 3}), {1}, true);
                return reshape(total, shape) / count;
            },
            {x});
    };
    EXPECT_EQ(mean_of({2, 3}, 4).count("ReduceMean"), 1u);
    EXPECT_EQ(mean_of({3, 2}, 4).count("ReduceMean"), 0u);
    EXPECT_EQ(mean_of({2, 3}, 5).count("ReduceMean"), 0u);
}

TEST(ExportOnnx, AMeanOverRowsIsDividedByTheirNumber) {
    const auto divided = written(
        [](Trace& t) {
            const Tensor x = t.input("x", {kBatch, 3}), scale = t.input("scale", {});
            return sum(x, {0}) / exp(scale);
        },
        {ramp({4, 3}), HostTensor::scalar(0.5)}, 4);
    EXPECT_EQ(divided.count("ReduceMean"), 0u);
    const auto mean_of_rows = written(
        [](Trace& t) {
            return mean(t.input("x", {kBatch, 3}), {0});
        },
        {ramp({4, 3})}, 4);
    EXPECT_EQ(mean_of_rows.count("ReduceMean"), 1u);
}

TEST(ExportOnnx, NumbersOfRowsAreNoData) {
    Trace trace("t");
    trace.output("y", arange(trace, {kBatch}));
    EXPECT_NE(export_onnx(trace).status().message().find("operator iota (1 node)"),
              std::string::npos)
        << export_onnx(trace).status().message();
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
