// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What ONNX's normalizations and recurrent operators compute where their attributes say otherwise
// than their defaults, against plain loops.

#include "compiler/interpreter/interpreter.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace hearth {
namespace {

using testing::OnnxBuilder;
using testing::set_float;
using testing::set_int;

HostTensor waves(const Shape& shape, double phase) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, std::sin(1.3 * static_cast<double>(i) + phase));
    return t;
}

std::vector<HostTensor> run(const OnnxBuilder& b, const std::vector<HostTensor>& inputs) {
    const Result<ImportedModel> model = import_onnx(b.bytes());
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    Result<std::vector<HostTensor>> outputs = evaluate(model->graph(), inputs, 1);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? std::move(*outputs) : std::vector<HostTensor>();
}

void add_texts(onnx::NodeProto& node, const std::string& name,
               std::initializer_list<const char*> texts) {
    onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(onnx::AttributeProto::STRINGS);
    for (const char* text : texts) attr.add_strings(text);
}

void add_floats(onnx::NodeProto& node, const std::string& name,
                std::initializer_list<float> values) {
    onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(onnx::AttributeProto::FLOATS);
    for (float value : values) attr.add_floats(value);
}

TEST(ImportBatchNormalization, TrainsOnItsBatchAndMovesTheStatisticsByMomentum) {
    OnnxBuilder b(15);
    b.input("x", {2, 3, 2}).input("s", {3}).input("b", {3}).input("m", {3}).input("v", {3});
    b.output("y").output("mean").output("variance");
    onnx::NodeProto& node =
        b.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y", "mean", "variance"});
    set_int(node, "training_mode", 1);
    set_float(node, "momentum", 0.75f);
    set_float(node, "epsilon", 0.01f);
    const HostTensor x = waves({2, 3, 2}, 0), s = waves({3}, 1), bias = waves({3}, 2),
                     m = waves({3}, 3), v = waves({3}, 4);
    const auto outputs = run(b, {x, s, bias, m, v});
    ASSERT_EQ(outputs.size(), 3u);
    for (int64_t c = 0; c < 3; ++c) {
        double mean = 0, variance = 0;
        const auto at = [&](int64_t n, int64_t i) { return (n * 3 + c) * 2 + i; };
        for (int64_t n = 0; n < 2; ++n)
            for (int64_t i = 0; i < 2; ++i) mean += x.get(at(n, i)) / 4;
        for (int64_t n = 0; n < 2; ++n)
            for (int64_t i = 0; i < 2; ++i) variance += std::pow(x.get(at(n, i)) - mean, 2) / 4;
        EXPECT_NEAR(outputs[1].get(c), 0.75 * m.get(c) + 0.25 * mean, 1e-6);
        EXPECT_NEAR(outputs[2].get(c), 0.75 * v.get(c) + 0.25 * variance, 1e-6);
        for (int64_t n = 0; n < 2; ++n)
            for (int64_t i = 0; i < 2; ++i)
                EXPECT_NEAR(
                    outputs[0].get(at(n, i)),
                    (x.get(at(n, i)) - mean) / std::sqrt(variance + 0.01) * s.get(c) + bias.get(c),
                    1e-5);
    }
}

TEST(ImportGroupNormalization, ScalesGroupsUpToVersion20AndChannelsSince) {
    for (const int64_t opset : {18, 21}) {
        OnnxBuilder b(opset);
        const int64_t params = opset < 21 ? 2 : 4;
        b.input("x", {1, 4, 3}).input("s", {params}).input("b", {params}).output("y");
        set_int(b.node("GroupNormalization", {"x", "s", "b"}, {"y"}), "num_groups", 2);
        const HostTensor x = waves({1, 4, 3}, 0), s = waves({params}, 1), bias = waves({params}, 2);
        const auto outputs = run(b, {x, s, bias});
        ASSERT_EQ(outputs.size(), 1u);
        for (int64_t i = 0; i < 12; ++i) {
            const int64_t group = i / 6, param = opset < 21 ? group : i / 3;
            double mean = 0, variance = 0;
            for (int64_t k = 0; k < 6; ++k) mean += x.get(group * 6 + k) / 6;
            for (int64_t k = 0; k < 6; ++k)
                variance += std::pow(x.get(group * 6 + k) - mean, 2) / 6;
            EXPECT_NEAR(
                outputs[0].get(i),
                (x.get(i) - mean) / std::sqrt(variance + 1e-5) * s.get(param) + bias.get(param),
                1e-5);
        }
    }
}

// One unit and one input: each product is a number.
TEST(ImportGru, ClipsResetsBeforeTheProductAndTakesItsActivations) {
    OnnxBuilder b(14);
    b.input("x", {3, 1, 1}).input("w", {1, 3, 1}).input("r", {1, 3, 1}).input("b", {1, 6});
    b.input("h", {1, 1, 1}).output("y").output("last");
    onnx::NodeProto& node = b.node("GRU", {"x", "w", "r", "b", "", "h"}, {"y", "last"});
    set_int(node, "hidden_size", 1);
    set_float(node, "clip", 0.4f);
    add_texts(node, "activations", {"HardSigmoid", "LeakyRelu"});
    add_floats(node, "activation_alpha", {0.3f, 0.1f});
    add_floats(node, "activation_beta", {0.45f});
    const HostTensor x = waves({3, 1, 1}, 0), w = waves({1, 3, 1}, 1), r = waves({1, 3, 1}, 2),
                     bias = waves({1, 6}, 3), h0 = waves({1, 1, 1}, 4);
    const auto outputs = run(b, {x, w, r, bias, h0});
    ASSERT_EQ(outputs.size(), 2u);
    const auto clip = [](double v) { return std::clamp(v, -0.4, 0.4); };
    const auto gate = [&](double v) { return std::clamp(0.3 * clip(v) + 0.45, 0.0, 1.0); };
    const auto candidate = [&](double v) { return clip(v) >= 0 ? clip(v) : 0.1 * clip(v); };
    double h = h0.get(0);
    for (int64_t t = 0; t < 3; ++t) {
        const auto from_x = [&](int64_t g) {
            return x.get(t) * w.get(g) + bias.get(g) + bias.get(3 + g);
        };
        const double update = gate(from_x(0) + h * r.get(0));
        const double reset = gate(from_x(1) + h * r.get(1));
        const double next = candidate(from_x(2) + reset * h * r.get(2));
        h = (1 - update) * next + update * h;
        EXPECT_NEAR(outputs[0].get(t), h, 1e-6) << t;
    }
    EXPECT_NEAR(outputs[1].get(0), h, 1e-6);
}

TEST(ImportLstm, CouplesItsGatesAndLooksThroughPeepholesBackwards) {
    OnnxBuilder b(14);
    b.input("x", {3, 1, 1}).input("w", {1, 4, 1}).input("r", {1, 4, 1}).input("p", {1, 3});
    b.output("y").output("c");
    onnx::NodeProto& node = b.node("LSTM", {"x", "w", "r", "", "", "", "", "p"}, {"y", "", "c"});
    set_int(node, "hidden_size", 1);
    set_int(node, "input_forget", 1);
    onnx::AttributeProto& direction = *node.add_attribute();
    direction.set_name("direction");
    direction.set_type(onnx::AttributeProto::STRING);
    direction.set_s("reverse");
    const HostTensor x = waves({3, 1, 1}, 0), w = waves({1, 4, 1}, 1), r = waves({1, 4, 1}, 2),
                     p = waves({1, 3}, 3);
    const auto outputs = run(b, {x, w, r, p});
    ASSERT_EQ(outputs.size(), 2u);
    const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
    double h = 0, c = 0;
    for (int64_t t = 2; t >= 0; --t) {
        // Stacked i, o, f, c; peepholes i, o, f.
        const auto sum = [&](int64_t g) { return x.get(t) * w.get(g) + h * r.get(g); };
        const double input = sigmoid(sum(0) + p.get(0) * c);
        const double next = (1 - input) * c + input * std::tanh(sum(3));
        const double output = sigmoid(sum(1) + p.get(1) * next);
        c = next;
        h = output * std::tanh(c);
        EXPECT_NEAR(outputs[0].get(t), h, 1e-6) << t;
    }
    EXPECT_NEAR(outputs[1].get(0), c, 1e-6);
}

// A crash that fuzzing found: the gates of a failed product were split.
TEST(ImportRecurrent, StatesThatDoNotFitAreErrors) {
    for (const auto& [op, gates] : {std::pair("LSTM", 4), std::pair("GRU", 3), std::pair("RNN", 1)})
        for (const bool is_wide : {false, true}) {
            OnnxBuilder b;
            b.input("x", {2, 1, 3}).input("w", {1, 2 * gates, 3}).input("r", {1, 2 * gates, 2});
            b.input("h", {1, 1, is_wide ? 5 : 2},
                    is_wide ? onnx::TensorProto::FLOAT : onnx::TensorProto::INT64);
            set_int(b.node(op, {"x", "w", "r", "", "", "h"}, {"y"}), "hidden_size", 2);
            b.output("y");
            EXPECT_FALSE(import_onnx(b.bytes()).ok()) << op << is_wide;
        }
}

TEST(ImportHardmax, TakesTheTrailingAxesAsOneUpToVersion12) {
    for (const int64_t opset : {11, 13}) {
        OnnxBuilder b(opset);
        b.input("x", {2, 2, 3}).output("y");
        set_int(b.node("Hardmax", {"x"}, {"y"}), "axis", 1);
        const HostTensor x = waves({2, 2, 3}, 0);
        const auto outputs = run(b, {x});
        ASSERT_EQ(outputs.size(), 1u);
        double ones = 0;
        for (int64_t i = 0; i < 12; ++i) ones += outputs[0].get(i);
        EXPECT_EQ(ones, opset < 13 ? 2 : 6);
    }
}

}  // namespace
}  // namespace hearth
