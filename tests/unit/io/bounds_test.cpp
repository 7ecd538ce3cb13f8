// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Extents and trip counts of ONNX models that depend on data.  ONNX Runtime's results for whole
// models are in tests/data/bounds.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/io.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_graph;
using testing::set_int;

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
    return HostTensor::of(shape, values);
}

HostTensor integers(const Shape& shape, const std::vector<double>& values) {
    return HostTensor::of(shape, values, DType::kI64);
}

std::string message_of(const OnnxBuilder& b, const ImportOptions& options = {}) {
    const Result<ImportedModel> model = import_onnx(b.bytes(), options);
    return model.ok() ? "(no error)" : model.status().message();
}

void expect_in(const std::string& part, const std::string& text) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

struct Ran {
    std::vector<TensorSpec> specs;
    std::vector<HostTensor> outputs;
};

Ran run(const OnnxBuilder& b, const std::vector<HostTensor>& inputs,
        const ImportOptions& options = {}) {
    const Result<ImportedModel> model = import_onnx(b.bytes(), options);
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {std::vector<TensorSpec>(4), std::vector<HostTensor>(4)};
    const auto outputs = evaluate(model->graph(), inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return {{model->outputs().begin(), model->outputs().end()},
            outputs.ok() ? *outputs : std::vector<HostTensor>(4)};
}

/// The rows of x [5, 2] whose flag is set.
OnnxBuilder selected_rows() {
    OnnxBuilder b;
    b.input("x", {5, 2}).input("flags", {5}, onnx::TensorProto::BOOL);
    set_int(b.node("Compress", {"x", "flags"}, {"taken"}), "axis", 0);
    b.initializer(int_tensor("first", {1}, {0})).initializer(int_tensor("front", {}, {0}));
    return b;
}

const HostTensor kRows = floats({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
const HostTensor kFlags = HostTensor::of({5}, std::vector<double>{0, 1, 0, 1, 0}, DType::kBool);

TEST(OnnxBounds, NonZeroHasItsLargestExtentAndACount) {
    OnnxBuilder b;
    b.input("x", {2, 3}).output("places").node("NonZero", {"x"}, {"places"});
    const Ran ran = run(b, {floats({2, 3}, {0, 5, 0, 1, 0, 2})});
    ASSERT_EQ(ran.outputs.size(), 2u);
    EXPECT_EQ(ran.outputs[0], integers({2, 6}, {0, 1, 1, -1, -1, -1, 1, 0, 2, -1, -1, -1}));
    EXPECT_EQ(ran.specs[1].name, "places_count");
    EXPECT_EQ(ran.outputs[1], integers({}, {3}));
    ASSERT_EQ(ran.specs[0].counts.size(), 1u);
    EXPECT_EQ(ran.specs[0].counts[0].axis, 1);
    EXPECT_EQ(ran.specs[0].counts[0].output, "places_count");
}

TEST(OnnxBounds, ResultsBeyondTheBoundAreDroppedAndNotCounted) {
    OnnxBuilder b;
    b.input("x", {2, 3}).output("places").node("NonZero", {"x"}, {"places"});
    for (const char* name : {"NonZero_1", "places"}) {
        const Ran ran = run(b, {floats({2, 3}, {0, 5, 0, 1, 0, 2})}, {.bounds = {{name, 2}}});
        EXPECT_EQ(ran.outputs[0], integers({2, 2}, {0, 1, 1, 0}));
        EXPECT_EQ(ran.outputs[1], integers({}, {2}));
    }
}

TEST(OnnxBounds, ALargeExtentNeedsABoundAndTheMessageShowsIt) {
    OnnxBuilder b;
    b.input("x", {300, 300}).output("places").node("NonZero", {"x"}, {"places"});
    const std::string message = message_of(b, {.bound_flag_name = "--bound"});
    expect_in("may be 90000; bound it, --bound NonZero_1=N", message);
    EXPECT_EQ(message_of(b, {.bounds = {{"NonZero_1", 100}}}), "(no error)");
}

TEST(OnnxBounds, ABoundOfNothingNamesWhatTakesOne) {
    OnnxBuilder b;
    b.input("x", {2, 3}).output("places").node("NonZero", {"x"}, {"places"});
    expect_in("bounds names 'x'; expected a node or an output of one of: 'NonZero_1'",
              message_of(b, {.bounds = {{"x", 4}}}));
    expect_in("expected 1 to", message_of(b, {.bounds = {{"NonZero_1", 0}}}));
    OnnxBuilder none;
    none.input("x", {2}).output("y").node("Neg", {"x"}, {"y"});
    expect_in("no extent depends on data", message_of(none, {.bounds = {{"Neg_1", 4}}}));
}

TEST(OnnxBounds, ContentsGivenAtImportNeedNoBound) {
    OnnxBuilder b;
    b.input("x", {2, 3}).output("places").node("NonZero", {"x"}, {"places"});
    const HostTensor x = floats({2, 3}, {0, 5, 0, 1, 0, 2});
    const Ran ran = run(b, {x}, {.constant_inputs = {{"x", x}}});
    ASSERT_EQ(ran.outputs.size(), 1u);
    EXPECT_EQ(ran.outputs[0].shape(), (Shape{2, 3}));
}

TEST(OnnxBounds, PaddingOfOutputsIsZero) {
    OnnxBuilder b = selected_rows();
    b.output("y").node("Exp", {"taken"}, {"y"});
    const Ran ran = run(b, {floats({5, 2}, std::vector<float>(10, 0)), kFlags});
    EXPECT_EQ(ran.outputs[0], floats({5, 2}, {1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(ran.outputs[1], integers({}, {2}));
}

TEST(OnnxBounds, TheNameOfACountIsUnused) {
    OnnxBuilder b = selected_rows();
    b.output("taken").output("taken_count").node("Neg", {"x"}, {"taken_count"});
    const Ran ran = run(b, {kRows, kFlags});
    ASSERT_EQ(ran.specs.size(), 3u);
    EXPECT_EQ(ran.specs[2].name, "taken_count_");
    EXPECT_EQ(ran.specs[0].counts[0].output, "taken_count_");
}

TEST(OnnxBounds, MeansAreOfTheElementsInUse) {
    OnnxBuilder b = selected_rows();
    set_int(b.node("ReduceMean", {"taken"}, {"mean"}), "keepdims", 0);
    testing::set_ints(*b.graph().mutable_node(1), "axes", {0});
    b.output("mean");
    const HostTensor mean = run(b, {kRows, kFlags}).outputs[0];
    EXPECT_NEAR(mean.get(0), 5, 1e-6);  // the mean of the padded extent is scaled, which rounds
    EXPECT_NEAR(mean.get(1), 6, 1e-6);
}

TEST(OnnxBounds, TheShapeOfAPaddedValueIsItsCount) {
    OnnxBuilder b = selected_rows();
    b.node("Shape", {"taken"}, {"shape"});
    b.node("Gather", {"shape", "front"}, {"count"});
    set_int(b.node("Cast", {"count"}, {"y"}), "to", onnx::TensorProto::FLOAT);
    b.output("shape").output("y");
    const Ran ran = run(b, {kRows, kFlags});
    EXPECT_EQ(ran.outputs[0], integers({2}, {2, 2}));
    EXPECT_EQ(ran.outputs[1], floats({}, {2}));
}

TEST(OnnxBounds, OperatorsThatMixInPaddingAreRefusedWithARemedy) {
    OnnxBuilder b = selected_rows();
    b.output("y").node("Unique", {"taken"}, {"y"});
    const std::string message = message_of(b);
    expect_in("depends on data (at most 5)", message);
    expect_in("end the model at this operand", message);
    OnnxBuilder of_windows = selected_rows();
    of_windows.output("y").node("Unsqueeze", {"taken", "first"}, {"image"});
    testing::set_ints(of_windows.node("MaxPool", {"image"}, {"y"}), "kernel_shape", {2});
    expect_in("depends on data (at most 5)", message_of(of_windows));
}

// These are expanded by the importer itself, beside the rules of operators.
TEST(OnnxBounds, SequencesOfSlicesOfPaddingAreRefused) {
    OnnxBuilder b = selected_rows();
    b.output("y").node("SplitToSequence", {"taken"}, {"rows"});
    set_int(b.node("ConcatFromSequence", {"rows"}, {"y"}), "axis", 0);
    expect_in("depends on data (at most 5), and split would mix in the padding", message_of(b));
    OnnxBuilder joined = selected_rows();
    joined.output("y").node("SequenceConstruct", {"taken", "taken"}, {"both"});
    set_int(joined.node("ConcatFromSequence", {"both"}, {"y"}), "axis", 1);
    const Ran ran = run(joined, {kRows, kFlags});
    EXPECT_EQ(ran.outputs[0].shape(), (Shape{5, 4}));
    EXPECT_EQ(ran.outputs[1], integers({}, {2}));
}

TEST(OnnxBounds, ASliceThatBeginsWhereDataSaysIsRefused) {
    OnnxBuilder b = selected_rows();
    b.node("Shape", {"taken"}, {"shape"});
    b.node("Slice", {"shape", "first", "one"}, {"count"});
    b.initializer(int_tensor("one", {1}, {1})).initializer(int_tensor("all", {1}, {5}));
    b.output("y").node("Slice", {"x", "count", "all"}, {"y"});
    expect_in("its starts depend on data", message_of(b));
}

TEST(OnnxBounds, ANumberOfWhichContentsAreRequiredNamesItsInput) {
    OnnxBuilder b;
    b.input("x", {4}).input("times", {1}, onnx::TensorProto::INT64).output("y");
    b.node("Tile", {"x", "times"}, {"y"});
    expect_in("input 1 must be constant; it depends on 'times': give the value by --value",
              message_of(b, {.value_flag_name = "--value"}));
}

/// while v < limit, at most `most` times: v' = 2 v; collects v
OnnxBuilder doubling(bool has_trip_count) {
    OnnxBuilder body;
    body.input("turn", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    body.input("v", {});
    body.node("Add", {"v", "v"}, {"w"});
    body.node("Less", {"w", "limit"}, {"goes_on"});
    body.node("Identity", {"w"}, {"noted"});
    body.output("goes_on").output("w").output("noted");
    OnnxBuilder b;
    b.input("x", {}).input("limit", {}).output("end").output("seen");
    if (has_trip_count) b.input("most", {}, onnx::TensorProto::INT64);
    b.node("Less", {"x", "limit"}, {"may"});
    set_graph(b.node("Loop", {has_trip_count ? "most" : "", "may", "x"}, {"end", "seen"}), "body",
              body.graph());
    return b;
}

TEST(OnnxBounds, ALoopStopsWhereItsConditionFalls) {
    const ImportOptions options = {.bounds = {{"Loop_2", 5}}};
    const auto with = [&](float limit) {
        return run(doubling(false), {floats({}, {1}), floats({}, {limit})}, options);
    };
    const Ran some = with(6);
    EXPECT_EQ(some.outputs[0], floats({}, {8}));
    EXPECT_EQ(some.outputs[1], floats({5}, {2, 4, 8, 0, 0}));
    EXPECT_EQ(some.specs[2].name, "seen_count");
    EXPECT_EQ(some.outputs[2], integers({}, {3}));
    const Ran none = with(0.5f);
    EXPECT_EQ(none.outputs[0], floats({}, {1}));
    EXPECT_EQ(none.outputs[2], integers({}, {0}));
    const Ran all = with(1e9f);
    EXPECT_EQ(all.outputs[0], floats({}, {32}));
    EXPECT_EQ(all.outputs[2], integers({}, {5}));
}

TEST(OnnxBounds, ALoopsTripCountMayDependOnData) {
    const ImportOptions options = {.bounds = {{"seen", 8}}};
    for (const double most : {0, 2, 9}) {
        const Ran ran = run(doubling(true),
                            {floats({}, {1}), floats({}, {100}), integers({}, {most})}, options);
        const double taken = std::min(most, 7.0);  // 2^7 is not less than 100
        EXPECT_EQ(ran.outputs[0], floats({}, {static_cast<float>(std::exp2(taken))})) << most;
        EXPECT_EQ(ran.outputs[2], integers({}, {taken})) << most;
    }
}

TEST(OnnxBounds, ALoopThatDependsOnDataNeedsABound) {
    const std::string message =
        message_of(doubling(false), {.bound_flag_name = "--bound", .value_flag_name = "--value"});
    expect_in("its number of iterations depends on data; bound it, --bound Loop_2=N", message);
    expect_in("'x', 'limit'", message);
    expect_in("its bound is 5000 iterations; expected at most 1024",
              message_of(doubling(false), {.bounds = {{"Loop_2", 5000}}}));
}

TEST(OnnxBounds, ALoopMayLengthenAListUntilItStops) {
    OnnxBuilder body;
    body.input("turn", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    body.input("v", {"n"});
    set_int(body.node("Concat", {"v", "x"}, {"w"}), "axis", 0);
    body.node("ReduceSum", {"w"}, {"total"});
    set_int(*body.graph().mutable_node(1), "keepdims", 0);
    body.node("Less", {"total", "limit"}, {"goes_on"});
    body.output("goes_on").output("w");
    OnnxBuilder b;
    b.input("x", {1}).input("limit", {}).output("list");
    set_graph(b.node("Loop", {"", "", "x"}, {"list"}), "body", body.graph());
    const Ran ran = run(b, {floats({1}, {2}), floats({}, {7})}, {.bounds = {{"list", 6}}});
    EXPECT_EQ(ran.outputs[0], floats({7}, {2, 2, 2, 2, 0, 0, 0}));
    EXPECT_EQ(ran.outputs[1], integers({}, {4}));
}

TEST(OnnxBounds, BranchesOfDifferentExtentsArePadded) {
    const auto branch = [](const std::string& op, const std::vector<std::string>& inputs) {
        OnnxBuilder b;
        set_int(b.node(op, inputs, {"r"}), "axis", 0);
        b.output("r");
        return b.graph();
    };
    OnnxBuilder b;
    b.input("x", {2}).input("flag", {}, onnx::TensorProto::BOOL).output("y");
    onnx::NodeProto& node = b.node("If", {"flag"}, {"y"});
    set_graph(node, "then_branch", branch("Concat", {"x", "x"}));
    set_graph(node, "else_branch", branch("Concat", {"x"}));
    for (const bool flag : {true, false}) {
        const Ran ran =
            run(b, {floats({2}, {1, 2}),
                    HostTensor::of({}, std::vector<double>{flag ? 1. : 0.}, DType::kBool)});
        EXPECT_EQ(ran.outputs[0], flag ? floats({4}, {1, 2, 1, 2}) : floats({4}, {1, 2, 0, 0}));
        EXPECT_EQ(ran.outputs[1], integers({}, {flag ? 4. : 2.}));
    }
}

}  // namespace
}  // namespace hearth
