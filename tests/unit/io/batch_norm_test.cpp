// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::OnnxBuilder;
using testing::set_int;

/// Gemm, with or without a bias, then BatchNormalization, then Relu.
OnnxBuilder normalized(bool with_bias) {
    OnnxBuilder b;
    b.input("x", {"n", 2}).output("y");
    b.initializer(float_tensor("w", {3, 2}, {1, -2, 0.5f, 3, -1, 0.25f}));
    b.initializer(float_tensor("b", {3}, {0.1f, 0.2f, -0.3f}));
    b.initializer(float_tensor("scale", {3}, {2, 0.5f, -1}));
    b.initializer(float_tensor("bias", {3}, {0.5f, 0, 1}));
    b.initializer(float_tensor("mean", {3}, {0.3f, -0.2f, 0.7f}));
    b.initializer(float_tensor("variance", {3}, {0.5f, 2, 1.5f}));
    set_int(b.node("Gemm",
                   with_bias ? std::vector<std::string>{"x", "w", "b"}
                             : std::vector<std::string>{"x", "w"},
                   {"z"}),
            "transB", 1);
    b.node("BatchNormalization", {"z", "scale", "bias", "mean", "variance"}, {"n"});
    b.node("Relu", {"n"}, {"y"});
    return b;
}

std::vector<std::string> param_names(const ImportedModel& model) {
    std::vector<std::string> names;
    for (const Value& v : model.graph().values)
        if (v.kind == ValueKind::kParam) names.push_back(v.name);
    std::sort(names.begin(), names.end());
    return names;
}

ImportedModel import(const OnnxBuilder& b, BatchNormImport mode) {
    Result<ImportedModel> model = import_onnx(b.bytes(), {.batch_norm = mode});
    EXPECT_TRUE(model.ok()) << model.status().message();
    return *model;
}

HostTensor run(const ImportedModel& model) {
    const HostTensor x = HostTensor::of({2, 2}, std::vector<float>{1, -1, 0.5f, 2});
    const auto y = evaluate(model.graph(), std::vector{x}, 2);
    EXPECT_TRUE(y.ok()) << y.status().message();
    return (*y)[0];
}

TEST(OnnxBatchNorm, ItsStatisticsAreNoParams) {
    using Names = std::vector<std::string>;
    const OnnxBuilder b = normalized(true);
    EXPECT_EQ(param_names(import(b, BatchNormImport::kTrainable)),
              (Names{"b", "bias", "scale", "w"}));
    EXPECT_EQ(param_names(import(b, BatchNormImport::kFrozen)), (Names{"b", "w"}));
    EXPECT_EQ(param_names(import(b, BatchNormImport::kFolded)), (Names{"b", "w"}));
    EXPECT_EQ(param_names(import(normalized(false), BatchNormImport::kFolded)),
              (Names{"w", "w.folded_bias"}));
}

TEST(OnnxBatchNorm, FoldingChangesNoResult) {
    for (const bool with_bias : {true, false}) {
        const OnnxBuilder b = normalized(with_bias);
        const ImportedModel folded = import(b, BatchNormImport::kFolded);
        const HostTensor expected = run(import(b, BatchNormImport::kFrozen)), found = run(folded);
        for (int64_t i = 0; i < expected.element_count(); ++i)
            EXPECT_NEAR(found.get(i), expected.get(i), 1e-5) << i;  // f32 rounds in other places
        EXPECT_LT(folded.graph().nodes.size(),
                  import(b, BatchNormImport::kFrozen).graph().nodes.size());
    }
}

TEST(OnnxBatchNorm, WhatOthersReadIsNotFolded) {
    OnnxBuilder b = normalized(true);
    b.output("z");  // the convolution's own result is asked for
    const ImportedModel model = import(b, BatchNormImport::kFolded);
    const HostTensor plain = run(import(b, BatchNormImport::kTrainable));
    EXPECT_EQ(run(model), plain);

    OnnxBuilder shared = normalized(true);
    shared.node("Mul", {"y", "b"}, {"last"});
    shared.output("last");
    const ImportedModel kept = import(shared, BatchNormImport::kFolded);
    EXPECT_EQ(run(kept), run(import(shared, BatchNormImport::kTrainable)));
}

// What is known only when it runs cannot be multiplied at import.
TEST(OnnxBatchNorm, WhatIsNoInitializerIsNotFolded) {
    for (const int which : {0, 2, 3}) {  // w, scale, bias
        OnnxBuilder b = normalized(true);
        onnx::TensorProto given = b.graph().initializer(which);
        b.graph().mutable_initializer()->DeleteSubrange(which, 1);
        given.set_name("first_" + given.name());
        b.initializer(given);
        const std::string name = given.name().substr(6);
        onnx::NodeProto& copy = b.node("Neg", {given.name()}, {name});
        copy.set_name("copy");
        for (int i = b.graph().node_size() - 1; i > 0; --i)
            b.graph().mutable_node()->SwapElements(i, i - 1);
        EXPECT_EQ(run(import(b, BatchNormImport::kFolded)),
                  run(import(b, BatchNormImport::kTrainable)))
            << name;
    }
}

}  // namespace
}  // namespace hearth
