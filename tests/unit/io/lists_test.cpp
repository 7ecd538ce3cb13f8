// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Sequences of tensors, strings and packed integers, which exist only while a model is imported.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <map>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_int;

HostTensor ramp(const Shape& shape) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, static_cast<double>(i));
    return t;
}

/// The first output, as "[2] 0 1", or the message.
std::string run(const OnnxBuilder& b, const std::vector<HostTensor>& inputs) {
    const Result<ImportedModel> model = import_onnx(b.bytes());
    if (!model.ok()) return model.status().message();
    const Result<std::vector<HostTensor>> outputs = evaluate(model->graph(), inputs, 1);
    if (!outputs.ok()) return outputs.status().message();
    const HostTensor& y = outputs.value()[0];
    std::string text = to_string(y.shape());
    for (int64_t i = 0; i < y.element_count(); ++i)
        text += " " + std::to_string(static_cast<int64_t>(y.get(i)));
    return text;
}

void expect_in(const std::string& expected, const std::string& message) {
    EXPECT_NE(message.find(expected), std::string::npos) << expected << "\n" << message;
}

/// x [5] in parts of two elements: 0 1, 2 3, 4.
OnnxBuilder parts_of_two() {
    OnnxBuilder b;
    b.input("x", {5}).output("y");
    for (int64_t i = -4; i < 4; ++i) b.initializer(int_tensor(std::to_string(i), {}, {i}));
    b.node("SplitToSequence", {"x", "2"}, {"parts"});
    return b;
}

TEST(ImportLists, PartsOfASplitAreFoundByPosition) {
    for (const auto& [at, expected] : std::map<std::string, std::string>{
             {"0", "[2] 0 1"}, {"1", "[2] 2 3"}, {"2", "[1] 4"}, {"-1", "[1] 4"}}) {
        OnnxBuilder b = parts_of_two();
        b.node("SequenceAt", {"parts", at}, {"y"});
        EXPECT_EQ(run(b, {ramp({5})}), expected) << at;
    }
    for (const char* at : {"3", "-4"}) {
        OnnxBuilder b = parts_of_two();
        b.node("SequenceAt", {"parts", at}, {"y"});
        expect_in("position " + std::string(at) + " of a sequence of 3", run(b, {ramp({5})}));
    }
}

TEST(ImportLists, WithoutSizesThePartsHaveOneElement) {
    OnnxBuilder b;
    b.input("x", {2, 3}).output("y").initializer(int_tensor("one", {}, {1}));
    onnx::NodeProto& split = b.node("SplitToSequence", {"x"}, {"parts"});
    set_int(split, "axis", 1);
    set_int(split, "keepdims", 0);
    b.node("SequenceAt", {"parts", "one"}, {"y"});
    EXPECT_EQ(run(b, {ramp({2, 3})}), "[2] 1 4");
    set_int(split, "keepdims", 1);
    split.mutable_attribute(1)->set_i(1);
    EXPECT_EQ(run(b, {ramp({2, 3})}), "[2, 1] 1 4");
}

TEST(ImportLists, SequencesGrowShrinkAndAreJoined) {
    OnnxBuilder b = parts_of_two();
    b.node("SequenceErase", {"parts", "0"}, {"rest"});
    b.node("SequenceInsert", {"rest", "x", "1"}, {"more"});
    set_int(b.node("ConcatFromSequence", {"more"}, {"y"}), "axis", 0);
    EXPECT_EQ(run(b, {ramp({5})}), "[8] 2 3 0 1 2 3 4 4");

    OnnxBuilder length = parts_of_two();
    length.node("SequenceErase", {"parts"}, {"rest"});
    length.node("SequenceLength", {"rest"}, {"y"});
    EXPECT_EQ(run(length, {ramp({5})}), "[] 2");
}

TEST(ImportLists, OtherOperatorsRefuseSequencesByName) {
    OnnxBuilder b = parts_of_two();
    b.node("Relu", {"parts"}, {"y"});
    expect_in("Relu 'Relu_2': input 0 is a sequence of tensors", run(b, {ramp({5})}));
    OnnxBuilder out = parts_of_two();
    out.node("Relu", {"x"}, {"z"});
    out.graph().mutable_output(0)->set_name("parts");
    expect_in("output 'parts' is a sequence of tensors", run(out, {ramp({5})}));
    OnnxBuilder at = parts_of_two();
    at.input("i", {}, onnx::TensorProto::INT64);
    at.node("SequenceAt", {"parts", "i"}, {"y"});
    expect_in("the position must be known at import",
              run(at, {ramp({5}), HostTensor(DType::kI64, {})}));
}

// A crash that fuzzing found.
TEST(ImportLists, SequencesHoldTensorsOnly) {
    OnnxBuilder b = parts_of_two();
    b.node("SequenceConstruct", {"x", ""}, {"odd"});
    b.node("SequenceAt", {"odd", "1"}, {"y"});
    expect_in("expects tensors", run(b, {ramp({5})}));
}

TEST(ImportLists, MeansOfIntegersRoundTowardsZero) {
    OnnxBuilder b;
    b.input("x", {2, 3}, onnx::TensorProto::INT64).output("y");
    testing::set_ints(b.node("ReduceMean", {"x"}, {"y"}), "axes", {1});
    HostTensor x(DType::kI64, {2, 3});
    for (int64_t i = 0; i < 6; ++i) x.set_int(i, i < 3 ? i * i : -i);  // 0 1 4, -3 -4 -6
    x.set_int(5, -6);
    EXPECT_EQ(run(b, {x}), "[2, 1] 1 -4");
}

onnx::TensorProto packed(int32_t type, const std::vector<int64_t>& dims, const std::string& raw) {
    onnx::TensorProto t;
    t.set_name("q");
    t.set_data_type(type);
    for (int64_t d : dims) t.add_dims(d);
    t.set_raw_data(raw);
    return t;
}

TEST(ImportLists, IntegersOfFourBitsAreUnpackedLowBitsFirst) {
    constexpr int32_t kUint4 = 21, kInt4 = 22;
    const auto value_of = [](const onnx::TensorProto& tensor) {
        OnnxBuilder b;
        b.input("x", {1}).output("y").initializer(tensor).initializer(float_tensor("s", {}, {1}));
        b.node("DequantizeLinear", {"q", "s"}, {"y"});
        return run(b, {ramp({1})});
    };
    EXPECT_EQ(value_of(packed(kInt4, {3}, "\x8f\x07")), "[3] -1 -8 7");
    EXPECT_EQ(value_of(packed(kUint4, {3}, "\x8f\x07")), "[3] 15 8 7");
    onnx::TensorProto typed = packed(kInt4, {2}, "");
    typed.clear_raw_data();
    typed.add_int32_data(0x8f);
    EXPECT_EQ(value_of(typed), "[2] -1 -8");
    expect_in("[3] takes 2 bytes, the file has 1", value_of(packed(kInt4, {3}, "\x8f")));
    OnnxBuilder b;
    b.input("x", {3}).output("y").initializer(packed(kInt4, {}, std::string("\0", 1)));
    b.initializer(float_tensor("s", {}, {1}));
    b.node("QuantizeLinear", {"x", "s", "q"}, {"y"});
    expect_in("quantizes to 4 bits", run(b, {ramp({3})}));
}

OnnxBuilder with_names() {
    OnnxBuilder b;
    b.proto.add_opset_import()->set_domain("ai.onnx.ml");
    b.proto.mutable_opset_import(1)->set_version(3);
    onnx::TensorProto names;
    names.set_name("names");
    names.set_data_type(onnx::TensorProto::STRING);
    names.add_dims(3);
    for (const char* text : {"idle", "flee", "idle"}) names.add_string_data(text);
    b.input("x", {2}, onnx::TensorProto::INT64).output("y").initializer(names);
    return b;
}

TEST(ImportLists, StringsArePositionsInTheModelsList) {
    OnnxBuilder b = with_names();
    b.node("Gather", {"names", "x"}, {"y"});
    const Result<ImportedModel> model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(std::vector(model->strings().begin(), model->strings().end()),
              (std::vector<std::string>{"idle", "flee"}));
    HostTensor x(DType::kI64, {2});
    x.set_int(0, 1);
    x.set_int(1, 2);
    EXPECT_EQ(run(b, {x}), "[2] 1 0");
}

TEST(ImportLists, OperatorsThatWouldComputeWithStringsAreRefused) {
    OnnxBuilder b = with_names();
    b.node("Gather", {"names", "x"}, {"taken"});
    set_int(b.node("Cast", {"taken"}, {"y"}), "to", onnx::TensorProto::FLOAT);
    expect_in("Cast 'Cast_2' reads 'taken', which holds strings", run(b, {}));
}

TEST(ImportLists, ForestsThatAreNoTreesAreRefused) {
    const auto forest = [](const std::vector<int64_t>& yes, const std::vector<int64_t>& no) {
        OnnxBuilder b = with_names();
        b.graph().clear_input();
        b.input("x", {2, 1});
        onnx::NodeProto& node = b.node("TreeEnsembleRegressor", {"x"}, {"y"});
        node.set_domain("ai.onnx.ml");
        testing::set_ints(node, "nodes_treeids", {0, 0, 0});
        testing::set_ints(node, "nodes_nodeids", {0, 1, 2});
        testing::set_ints(node, "nodes_featureids", {0, 0, 0});
        testing::set_ints(node, "nodes_truenodeids", yes);
        testing::set_ints(node, "nodes_falsenodeids", no);
        onnx::AttributeProto& values =
            testing::attribute(node, "nodes_values", onnx::AttributeProto::FLOATS);
        onnx::AttributeProto& modes =
            testing::attribute(node, "nodes_modes", onnx::AttributeProto::STRINGS);
        for (int i = 0; i < 3; ++i) {
            values.add_floats(0.5f);
            modes.add_strings(yes[static_cast<size_t>(i)] < 0 ? "LEAF" : "BRANCH_LEQ");
        }
        testing::set_ints(node, "target_treeids", {0});
        testing::set_ints(node, "target_nodeids", {2});
        testing::set_ints(node, "target_ids", {0});
        testing::attribute(node, "target_weights", onnx::AttributeProto::FLOATS).add_floats(3);
        return run(b, {ramp({2, 1})});
    };
    EXPECT_EQ(forest({1, -1, -1}, {2, -1, -1}), "[2, 1] 0 3");
    expect_in("a node is below itself", forest({1, 1, -1}, {2, 2, -1}));
    expect_in("has no root", forest({1, 0, -1}, {2, 2, -1}));
    expect_in("has a child that is not there", forest({7, -1, -1}, {2, -1, -1}));
    expect_in("a node that is no leaf", forest({1, -1, 1}, {2, -1, 1}));
}

/// A regressor of complete trees of this depth on 8 features: node i of a tree has the children
/// 2 i + 1 and 2 i + 2, and leaf i adds i to the result.
OnnxBuilder forest_of(int64_t trees, int64_t depth) {
    OnnxBuilder b;
    b.proto.add_opset_import()->set_domain("ai.onnx.ml");
    b.proto.mutable_opset_import(1)->set_version(3);
    b.input("x", {"batch", 8}).output("y");
    onnx::NodeProto& node = b.node("TreeEnsembleRegressor", {"x"}, {"y"});
    node.set_domain("ai.onnx.ml");
    const int64_t inner = (int64_t{1} << depth) - 1, count = 2 * inner + 1;
    std::vector<int64_t> tree_ids, ids, features, yes, no, leaf_trees, leaf_ids, targets;
    onnx::AttributeProto &values =
                             testing::attribute(node, "nodes_values", onnx::AttributeProto::FLOATS),
                         &modes =
                             testing::attribute(node, "nodes_modes", onnx::AttributeProto::STRINGS),
                         &weights = testing::attribute(node, "target_weights",
                                                       onnx::AttributeProto::FLOATS);
    for (int64_t t = 0; t < trees; ++t)
        for (int64_t i = 0; i < count; ++i) {
            const bool is_leaf = i >= inner;
            tree_ids.push_back(t);
            ids.push_back(i);
            features.push_back((t + i) % 8);
            yes.push_back(is_leaf ? 0 : 2 * i + 1);
            no.push_back(is_leaf ? 0 : 2 * i + 2);
            values.add_floats(static_cast<float>((t * 7 + i * 3) % 11) / 11);
            modes.add_strings(is_leaf ? "LEAF" : "BRANCH_LEQ");
            if (!is_leaf) continue;
            leaf_trees.push_back(t);
            leaf_ids.push_back(i);
            targets.push_back(0);
            weights.add_floats(static_cast<float>(i));
        }
    testing::set_ints(node, "nodes_treeids", tree_ids);
    testing::set_ints(node, "nodes_nodeids", ids);
    testing::set_ints(node, "nodes_featureids", features);
    testing::set_ints(node, "nodes_truenodeids", yes);
    testing::set_ints(node, "nodes_falsenodeids", no);
    testing::set_ints(node, "target_treeids", leaf_trees);
    testing::set_ints(node, "target_nodeids", leaf_ids);
    testing::set_ints(node, "target_ids", targets);
    return b;
}

TEST(ImportLists, KernelsDoNotGrowWithTheForest) {
    constexpr int64_t kTrees = 1000, kDepth = 5, kRows = 3;
    const Result<ImportedModel> model = import_onnx(forest_of(kTrees, kDepth).bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    HostTensor x(DType::kF32, {kRows, 8});
    for (int64_t i = 0; i < x.element_count(); ++i) x.set(i, static_cast<double>(i % 10) / 10);
    const std::vector<HostTensor> inputs{x};
    const Result<std::vector<HostTensor>> y = evaluate(model->graph(), inputs, kRows);
    ASSERT_TRUE(y.ok()) << y.status().message();
    for (int64_t row = 0; row < kRows; ++row) {
        double expected = 0;
        for (int64_t t = 0; t < kTrees; ++t) {
            int64_t node = 0;
            for (int64_t step = 0; step < kDepth; ++step) {
                const double value = x.get(row * 8 + (t + node) % 8);
                const bool passes = value <= static_cast<float>((t * 7 + node * 3) % 11) / 11;
                node = 2 * node + (passes ? 1 : 2);
            }
            expected += static_cast<double>(node);
        }
        EXPECT_EQ((*y)[0].get(row), expected);
    }
    const auto sources = [](const OnnxBuilder& forest) {
        const Result<ImportedModel> imported = import_onnx(forest.bytes());
        const Result<CompiledProgram> compiled =
            compile_graphs({imported.value().graph()}, {.keep_source = true});
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        size_t bytes = 0;
        for (const Kernel& kernel : compiled->program.kernels) bytes += kernel.source.size();
        return std::pair(compiled->program.kernels.size(), bytes);
    };
    const auto [few_kernels, few_bytes] = sources(forest_of(10, kDepth));
    const auto [kernels, bytes] = sources(forest_of(kTrees, kDepth));
    EXPECT_LE(kernels, few_kernels + 1);  // sums of many trees have two stages
    EXPECT_LE(bytes, 2 * few_bytes);
}

}  // namespace
}  // namespace hearth
