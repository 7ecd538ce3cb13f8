// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Branches, loops and functions in ONNX models.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/grad.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_graph;
using testing::set_int;
using testing::set_ints;

HostTensor floats(const Shape& shape, const std::vector<float>& values) {
    return HostTensor::of(shape, values);
}

std::string message_of(const OnnxBuilder& b, const ImportOptions& options = {}) {
    const Result<ImportedModel> model = import_onnx(b.bytes(), options);
    return model.ok() ? "(no error)" : model.status().message();
}

std::vector<HostTensor> run(const OnnxBuilder& b, const std::vector<HostTensor>& inputs) {
    const Result<ImportedModel> model = import_onnx(b.bytes());
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return std::vector<HostTensor>(4);
    const auto outputs = evaluate(model->graph(), inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? *outputs : std::vector<HostTensor>(4);
}

onnx::TensorProto bool_tensor(const std::string& name, bool value) {
    onnx::TensorProto t;
    t.set_name(name);
    t.set_data_type(onnx::TensorProto::BOOL);
    t.add_int32_data(value);
    return t;
}

/// A graph of one node on names from outside.
onnx::GraphProto branch(const std::string& op, const std::vector<std::string>& inputs,
                        const std::string& output) {
    OnnxBuilder b;
    b.node(op, inputs, {output});
    b.output(output);
    return b.graph();
}

OnnxBuilder conditional(const std::string& then_op, const std::string& else_op) {
    OnnxBuilder b;
    b.input("x", {3}).output("y");
    onnx::NodeProto& node = b.node("If", {"flag"}, {"y"});
    set_graph(node, "then_branch", branch(then_op, {"x"}, "a"));
    set_graph(node, "else_branch", branch(else_op, {"x"}, "b"));
    return b;
}

TEST(OnnxControl, AKnownConditionLeavesOneBranch) {
    for (const bool flag : {true, false}) {
        OnnxBuilder b = conditional("Neg", "Abs");
        b.initializer(bool_tensor("flag", flag));
        const Result<ImportedModel> model = import_onnx(b.bytes());
        ASSERT_TRUE(model.ok()) << model.status().message();
        EXPECT_EQ(model->graph().nodes.size(), 1u);
        EXPECT_EQ(run(b, {floats({3}, {1, -2, 3})})[0].get(1), 2);
        EXPECT_EQ(run(b, {floats({3}, {1, -2, 3})})[0].get(0), flag ? -1 : 1);
    }
}

TEST(OnnxControl, AConditionThatDependsOnDataChoosesWhenItRuns) {
    OnnxBuilder b = conditional("Neg", "Abs");
    b.input("flag", {1}, onnx::TensorProto::BOOL);
    const HostTensor x = floats({3}, {1, -2, 3});
    EXPECT_EQ(run(b, {x, HostTensor::of({1}, std::vector<double>{1}, DType::kBool)})[0],
              floats({3}, {-1, 2, -3}));
    EXPECT_EQ(run(b, {x, HostTensor::of({1}, std::vector<double>{0}, DType::kBool)})[0],
              floats({3}, {1, 2, 3}));
}

TEST(OnnxControl, BranchesOfDifferentShapesNeedAKnownCondition) {
    OnnxBuilder b;
    b.input("x", {3}).input("flag", {}, onnx::TensorProto::BOOL).output("y");
    b.initializer(int_tensor("axes", {1}, {0}));
    onnx::NodeProto& node = b.node("If", {"flag"}, {"y"});
    set_graph(node, "then_branch", branch("Unsqueeze", {"x", "axes"}, "a"));
    set_graph(node, "else_branch", branch("Neg", {"x"}, "b"));
    EXPECT_NE(message_of(b).find("its branches give f32[1, 3] and f32[3]"), std::string::npos)
        << message_of(b);
}

// Voice activity models choose a network by the sampling rate, and the other one does not fit the
// shapes given.
TEST(OnnxControl, ABranchThatCannotBeImportedNamesTheInputThatChoosesIt) {
    OnnxBuilder b;
    b.input("x", {3}).input("rate", {}, onnx::TensorProto::INT64).output("y");
    b.initializer(int_tensor("fast", {}, {16000})).initializer(int_tensor("four", {1}, {4}));
    b.node("Equal", {"rate", "fast"}, {"is_fast"});
    onnx::NodeProto& node = b.node("If", {"is_fast"}, {"y"});
    set_graph(node, "then_branch", branch("Neg", {"x"}, "a"));
    set_graph(node, "else_branch", branch("Reshape", {"x", "four"}, "b"));
    EXPECT_NE(message_of(b, {.value_flag_name = "--value"})
                  .find("; this branch is taken depending on 'rate'; to leave it out, give its "
                        "value, --value NAME=..."),
              std::string::npos)
        << message_of(b, {.value_flag_name = "--value"});
    // What it says works.
    const ImportOptions given = {
        .constant_inputs = {{"rate", HostTensor::scalar(16000, DType::kI64)}}};
    EXPECT_TRUE(import_onnx(b.bytes(), given).ok());
}

TEST(OnnxControl, OperatorsMissingInABranchThatIsNotTakenDoNotMatter) {
    OnnxBuilder taken = conditional("NoSuchOp", "Abs"), not_taken = taken;
    not_taken.initializer(bool_tensor("flag", false));
    EXPECT_EQ(message_of(not_taken), "(no error)");
    taken.initializer(bool_tensor("flag", true));
    EXPECT_NE(message_of(taken).find("not supported: operator NoSuchOp (1 node"), std::string::npos)
        << message_of(taken);
}

/// turns of: sum' = sum + x; collects sum' * number of the turn
OnnxBuilder counting_loop(bool with_condition) {
    OnnxBuilder body;
    body.input("turn", {}, onnx::TensorProto::INT64).input("go", {}, onnx::TensorProto::BOOL);
    body.input("sum", {2});
    if (with_condition) {
        body.initializer(int_tensor("limit", {}, {2}));
        body.node("Less", {"turn", "limit"}, {"goes_on"});
    } else {
        body.node("Identity", {"go"}, {"goes_on"});
    }
    body.node("Add", {"sum", "x"}, {"next"});
    set_int(body.node("Cast", {"turn"}, {"factor"}), "to", onnx::TensorProto::FLOAT);
    body.node("Mul", {"next", "factor"}, {"noted"});
    body.output("goes_on").output("next").output("noted");
    OnnxBuilder b;
    b.input("x", {2}).input("start", {2}).output("sum_at_end").output("notes");
    b.initializer(int_tensor("turns", {}, {4})).initializer(bool_tensor("yes", true));
    set_graph(b.node("Loop", {"turns", "yes", "start"}, {"sum_at_end", "notes"}), "body",
              body.graph());
    return b;
}

TEST(OnnxControl, LoopsOfAKnownNumberOfTurnsAreUnrolled) {
    const auto y = run(counting_loop(false), {floats({2}, {1, 10}), floats({2}, {0, 5})});
    EXPECT_EQ(y[0], floats({2}, {4, 45}));
    EXPECT_EQ(y[1], floats({4, 2}, {0, 0, 2, 25, 6, 70, 12, 135}));
}

TEST(OnnxControl, LoopsEndWhenTheirKnownConditionSaysSo) {
    // After turn 2 the condition is false.
    const auto y = run(counting_loop(true), {floats({2}, {1, 10}), floats({2}, {0, 5})});
    EXPECT_EQ(y[0], floats({2}, {3, 35}));
    EXPECT_EQ(y[1].shape(), (Shape{3, 2}));
}

TEST(OnnxControl, LoopsThatMayRunOnAreRefused) {
    OnnxBuilder unknown = counting_loop(false);
    unknown.graph().mutable_initializer()->DeleteSubrange(0, 1);
    unknown.input("turns", {}, onnx::TensorProto::INT64);
    EXPECT_NE(message_of(unknown).find("its number of iterations depends on data; bound it, bounds "
                                       "Loop_1=N; it depends on 'turns'"),
              std::string::npos)
        << message_of(unknown);

    OnnxBuilder endless = counting_loop(false);
    endless.graph().mutable_node(0)->set_input(0, "");
    EXPECT_NE(message_of(endless).find("more than 1024 turns"), std::string::npos)
        << message_of(endless);
}

TEST(OnnxControl, ALoopWithoutTurnsCollectsNothing) {
    OnnxBuilder b = counting_loop(false);
    b.graph().mutable_initializer(0)->set_int64_data(0, 0);
    EXPECT_NE(message_of(b).find("the shape of 'noted' is not told"), std::string::npos);
    onnx::GraphProto& body = *b.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
    onnx::TypeProto::Tensor& type = *body.mutable_output(2)->mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    type.mutable_shape()->add_dim()->set_dim_value(2);
    const auto y = run(b, {floats({2}, {1, 10}), floats({2}, {0, 5})});
    EXPECT_EQ(y[0], floats({2}, {0, 5}));
    EXPECT_EQ(y[1].shape(), (Shape{0, 2}));
}

TEST(OnnxControl, LoopsInLoopsStopAtALimitOfNodes) {
    OnnxBuilder innermost;
    innermost.input("i", {}, onnx::TensorProto::INT64).input("c", {}, onnx::TensorProto::BOOL);
    innermost.input("v", {1});
    innermost.node("Neg", {"v"}, {"w"});
    innermost.output("c").output("w");
    onnx::GraphProto body = innermost.graph();
    for (int depth = 0; depth < 4; ++depth) {
        OnnxBuilder outer;
        const std::string n = std::to_string(depth);
        outer.input("i" + n, {}, onnx::TensorProto::INT64)
            .input("c" + n, {}, onnx::TensorProto::BOOL);
        outer.input("v" + n, {1});
        set_graph(outer.node("Loop", {"turns", "", "v" + n}, {"w" + n}), "body", body);
        outer.output("c" + n).output("w" + n);
        body = outer.graph();
    }
    OnnxBuilder b;
    b.input("x", {1}).output("y").initializer(int_tensor("turns", {}, {1000}));
    set_graph(b.node("Loop", {"turns", "", "x"}, {"y"}), "body", body);
    EXPECT_NE(message_of(b).find("values, the limit for"), std::string::npos) << message_of(b);
}

TEST(OnnxControl, ScansReadAndWriteAlongAnyAxisInAnyDirection) {
    OnnxBuilder body;
    body.input("sum", {2}).input("slice", {2});
    body.node("Add", {"sum", "slice"}, {"next"});
    body.node("Identity", {"next"}, {"seen"});
    body.output("next").output("seen");
    OnnxBuilder b;
    b.input("start", {2}).input("x", {2, 3}).output("end").output("all");
    onnx::NodeProto& scan = b.node("Scan", {"start", "x"}, {"end", "all"});
    set_graph(scan, "body", body.graph());
    set_int(scan, "num_scan_inputs", 1);
    set_ints(scan, "scan_input_axes", {1});
    set_ints(scan, "scan_input_directions", {1});
    set_ints(scan, "scan_output_axes", {-1});
    set_ints(scan, "scan_output_directions", {1});
    const auto y = run(b, {floats({2}, {0, 100}), floats({2, 3}, {1, 2, 3, 4, 5, 6})});
    EXPECT_EQ(y[0], floats({2}, {6, 115}));
    // Read from the back: 3, 2, 1; written from the back.
    EXPECT_EQ(y[1], floats({2, 3}, {6, 5, 3, 115, 111, 106}));
}

TEST(OnnxControl, ScansOfVersion8TreatEachSequenceOfABatchAlone) {
    OnnxBuilder body(8);
    body.input("sum", {2}).input("slice", {2});
    body.node("Add", {"sum", "slice"}, {"next"});
    body.node("Identity", {"next"}, {"seen"});
    body.output("next").output("seen");
    const auto scan_model = [&](bool has_lengths) {
        OnnxBuilder b(8);
        if (has_lengths) b.initializer(int_tensor("lengths", {2}, {1, 2}));
        b.input("start", {2, 2}).input("x", {2, 2, 2}).output("end").output("all");
        onnx::NodeProto& scan =
            b.node("Scan", {has_lengths ? "lengths" : "", "start", "x"}, {"end", "all"});
        set_graph(scan, "body", body.graph());
        set_int(scan, "num_scan_inputs", 1);
        set_ints(scan, "directions", {1});
        return b;
    };
    OnnxBuilder whole = scan_model(false), uneven = scan_model(true);
    const auto y =
        run(whole, {floats({2, 2}, {0, 100, 0, 0}), floats({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})});
    EXPECT_EQ(y[0], floats({2, 2}, {4, 106, 12, 14}));
    EXPECT_EQ(y[1], floats({2, 2, 2}, {3, 104, 4, 106, 7, 8, 12, 14}));
    EXPECT_NE(message_of(uneven).find("several lengths"), std::string::npos) << message_of(uneven);
}

// What a file says of branches and loops is checked before they are followed.

TEST(OnnxControl, AnIfNeedsOneConditionAndBothBranches) {
    const auto with = [](const std::function<void(onnx::NodeProto&)>& damage) {
        OnnxBuilder b = conditional("Neg", "Abs");
        b.input("flag", {}, onnx::TensorProto::BOOL);
        damage(*b.graph().mutable_node(0));
        return message_of(b);
    };
    const std::string expected = "needs a condition and two branches";
    EXPECT_EQ(with([](onnx::NodeProto&) {}), "(no error)");
    EXPECT_NE(with([](auto& n) { n.clear_input(); }).find(expected), std::string::npos);
    EXPECT_NE(with([](auto& n) { n.add_input("flag"); }).find(expected), std::string::npos);
    EXPECT_NE(with([](auto& n) { n.set_input(0, ""); }).find(expected), std::string::npos);
    for (const int branch : {0, 1})
        EXPECT_NE(with([branch](auto& n) {
                      n.mutable_attribute()->DeleteSubrange(branch, 1);
                  }).find(expected),
                  std::string::npos)
            << branch;
}

TEST(OnnxControl, AConditionIsOneBool) {
    const auto with_flag = [](const std::vector<testing::PortDim>& dims, int32_t type) {
        OnnxBuilder b = conditional("Neg", "Abs");
        b.input("flag", dims, type);
        return message_of(b);
    };
    EXPECT_EQ(with_flag({1, 1}, onnx::TensorProto::BOOL), "(no error)");
    EXPECT_NE(
        with_flag({2}, onnx::TensorProto::BOOL).find("its condition is bool[2], expected one bool"),
        std::string::npos);
    EXPECT_NE(with_flag({"n"}, onnx::TensorProto::BOOL)
                  .find("its condition is bool[batch], expected one bool"),
              std::string::npos);
    EXPECT_NE(
        with_flag({}, onnx::TensorProto::INT32).find("its condition is i32[], expected one bool"),
        std::string::npos);
}

TEST(OnnxControl, BranchesGiveAsManyOutputs) {
    OnnxBuilder b = conditional("Neg", "Abs");
    b.input("flag", {}, onnx::TensorProto::BOOL);
    b.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->add_output()->set_name("x");
    EXPECT_NE(message_of(b).find("If"), std::string::npos) << message_of(b);
}

TEST(OnnxControl, ALoopsBodyTakesAndGivesWhatIsCarried) {
    const auto with = [](const std::function<void(onnx::NodeProto&)>& damage) {
        OnnxBuilder b = counting_loop(false);
        damage(*b.graph().mutable_node(0));
        return message_of(b);
    };
    EXPECT_NE(with([](auto& n) { n.clear_attribute(); }).find("needs two inputs and a body"),
              std::string::npos);
    EXPECT_NE(with([](auto& n) {
                  n.mutable_input()->DeleteSubrange(1, 2);
              }).find("needs two inputs and a body"),
              std::string::npos);
    const auto body = [](onnx::NodeProto& n) { return n.mutable_attribute(0)->mutable_g(); };
    EXPECT_NE(
        with([&](auto& n) { body(n)->mutable_input()->DeleteSubrange(2, 1); }).find("its body"),
        std::string::npos)
        << with([&](auto& n) { body(n)->mutable_input()->DeleteSubrange(2, 1); });
    EXPECT_NE(
        with([&](auto& n) { body(n)->mutable_output()->DeleteSubrange(1, 2); }).find("its body"),
        std::string::npos);
}

/// Reads `read` inputs slice by slice, carries the others, gives the last one's slices.
OnnxBuilder scan_of(const std::vector<std::string>& inputs, int64_t read, int opset = 17) {
    OnnxBuilder body(opset), b(opset);
    const size_t first = opset < 9 ? 1 : 0;
    for (size_t i = first; i < inputs.size(); ++i) body.input("in" + std::to_string(i), {2});
    const size_t carried = inputs.size() - std::min(inputs.size(), static_cast<size_t>(read));
    for (size_t i = first; i < carried; ++i) body.output("in" + std::to_string(i));
    body.node("Neg", {"in" + std::to_string(inputs.size() - 1)}, {"seen"});
    body.output("seen");
    std::vector<std::string> outputs;
    for (size_t i = first; i < carried; ++i) outputs.push_back("end" + std::to_string(i));
    outputs.emplace_back("all");
    onnx::NodeProto& scan = b.node("Scan", inputs, outputs);
    set_graph(scan, "body", body.graph());
    set_int(scan, "num_scan_inputs", read);
    b.output("all");
    return b;
}

TEST(OnnxControl, AScanMayCarryNothing) {
    OnnxBuilder b = scan_of({"x"}, 1);
    b.input("x", {3, 2});
    EXPECT_EQ(run(b, {floats({3, 2}, {1, 2, 3, 4, 5, 6})})[0],
              floats({3, 2}, {-1, -2, -3, -4, -5, -6}));
}

TEST(OnnxControl, AScanReadsAtLeastOneAndNoMoreThanItsInputs) {
    for (const int64_t read : {-1, 0, 3}) {
        OnnxBuilder b = scan_of({"start", "x"}, read);
        b.input("start", {2}).input("x", {3, 2});
        EXPECT_NE(message_of(b).find("needs a body and num_scan_inputs"), std::string::npos)
            << read << ": " << message_of(b);
    }
    // The first input of version 8 is none that is read.
    OnnxBuilder old = scan_of({"", "x"}, 2, 8);
    old.input("x", {1, 3, 2});
    EXPECT_NE(message_of(old).find("has too few inputs"), std::string::npos) << message_of(old);
}

TEST(OnnxControl, AScansSlicesAreAsManyAndNoRows) {
    OnnxBuilder uneven = scan_of({"x", "y"}, 2);
    uneven.input("x", {3, 2}).input("y", {4, 2});
    EXPECT_NE(message_of(uneven).find("reads 3 and 4 slices"), std::string::npos)
        << message_of(uneven);
    OnnxBuilder along_rows = scan_of({"x"}, 1);
    along_rows.input("x", {"n", 2});
    EXPECT_NE(message_of(along_rows).find("runs along the batch axis"), std::string::npos)
        << message_of(along_rows);
    OnnxBuilder of_rows = scan_of({"size"}, 1);
    of_rows.input("x", {"n", 2}).node("Shape", {"x"}, {"size"});
    of_rows.graph().mutable_node()->SwapElements(0, 1);
    EXPECT_NE(message_of(of_rows).find(
                  "reads a value that depends on the batch size; import with fixed input shapes"),
              std::string::npos)
        << message_of(of_rows);
}

TEST(OnnxControl, AScanRunsNoMoreTurnsThanALoop) {
    OnnxBuilder fits = scan_of({"x"}, 1), longer = scan_of({"x"}, 1);
    fits.input("x", {1024, 2});
    longer.input("x", {1025, 2});
    EXPECT_EQ(message_of(fits), "(no error)");
    EXPECT_NE(message_of(longer).find("runs more than 1024 turns"), std::string::npos)
        << message_of(longer);
}

TEST(OnnxControl, SequencesOfVersion8AreAFixedNumber) {
    const auto with_input = [](const std::vector<testing::PortDim>& dims) {
        OnnxBuilder b = scan_of({"", "x"}, 1, 8);
        b.input("x", dims);
        return message_of(b);
    };
    EXPECT_EQ(with_input({2, 3, 2}), "(no error)");
    EXPECT_NE(with_input({"n", 3, 2}).find("where a fixed number of sequences is expected"),
              std::string::npos);
    EXPECT_NE(with_input({}).find("where a fixed number of sequences is expected"),
              std::string::npos);
    EXPECT_NE(with_input({0, 3, 2}).find("no sequences"), std::string::npos);
}

TEST(OnnxControl, GradientsFlowThroughLoops) {
    const Result<ImportedModel> model = import_onnx(counting_loop(false).bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    Trace trace("t");
    const Tensor x = trace.input("x", {2}), start = trace.input("start", {2});
    const std::vector<Tensor> y = model->call(trace, {x, start});
    trace.output("dx", grad(sum(y[0]) + sum(y[1]), x));
    const Result<Graph> graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto dx = evaluate(*graph, std::vector{floats({2}, {1, 10}), floats({2}, {0, 5})});
    ASSERT_TRUE(dx.ok());
    EXPECT_EQ((*dx)[0], floats({2}, {4 + 0 + 2 + 6 + 12, 4 + 0 + 2 + 6 + 12}));
}

/// Adds to a model the function scaled(x, w) = Gain(x) * w, where Gain comes from an attribute.
onnx::FunctionProto& add_function(OnnxBuilder& b, const std::string& domain) {
    onnx::FunctionProto& f = *b.proto.add_functions();
    f.set_name("Scaled");
    f.set_domain(domain);
    f.add_opset_import()->set_version(17);
    f.add_input("a");
    f.add_input("w");
    f.add_output("r");
    f.add_attribute("slope");
    onnx::NodeProto& leaky = *f.add_node();
    leaky.set_op_type("LeakyRelu");
    leaky.add_input("a");
    leaky.add_output("l");
    onnx::AttributeProto& alpha = *leaky.add_attribute();
    alpha.set_name("alpha");
    alpha.set_type(onnx::AttributeProto::FLOAT);
    alpha.set_ref_attr_name("slope");
    onnx::NodeProto& mul = *f.add_node();
    mul.set_op_type("Mul");
    mul.add_input("l");
    mul.add_input("w");
    mul.add_output("r");
    b.proto.add_opset_import()->set_domain(domain);
    return f;
}

TEST(OnnxControl, TheModelsOwnFunctionsAreExpanded) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    b.initializer(float_tensor("weight", {2}, {2, 3}));
    add_function(b, "game.nets");
    onnx::NodeProto& first = b.node("Scaled", {"x", "weight"}, {"h"});
    first.set_domain("game.nets");
    testing::set_float(first, "slope", 0.5f);
    // Without the attribute LeakyRelu's own default holds.
    b.node("Scaled", {"h", "weight"}, {"y"}).set_domain("game.nets");
    EXPECT_EQ(run(b, {floats({2}, {-1, 1})})[0], floats({2}, {-0.02f, 9}));
    const Result<ImportedModel> model = import_onnx(b.bytes());
    Trace trace("t");
    model->call(trace, {trace.input("x", {2})});
    EXPECT_EQ(trace.params().size(), 1u);
}

TEST(OnnxControl, DefaultAttributesOfFunctionsAreUsed) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    b.initializer(float_tensor("weight", {2}, {1, 1}));
    onnx::FunctionProto& f = add_function(b, "game.nets");
    // Field 11, attribute_proto, came after the schema that is built against.
    onnx::AttributeProto slope;
    slope.set_name("slope");
    slope.set_type(onnx::AttributeProto::FLOAT);
    slope.set_f(0.25f);
    f.GetReflection()->MutableUnknownFields(&f)->AddLengthDelimited(11, slope.SerializeAsString());
    b.node("Scaled", {"x", "weight"}, {"y"}).set_domain("game.nets");
    EXPECT_EQ(run(b, {floats({2}, {-1, 1})})[0], floats({2}, {-0.25f, 1}));
}

TEST(OnnxControl, WhatFunctionsMissIsNamedToo) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    onnx::FunctionProto& f = add_function(b, "game.nets");
    f.mutable_node(0)->set_op_type("Leakier");
    b.node("Scaled", {"x", "x"}, {"h"}).set_domain("game.nets");
    b.node("NoSuchOp", {"h"}, {"y"});
    const std::string text = message_of(b);
    EXPECT_NE(text.find("operator Leakier (1 node), operator NoSuchOp"), std::string::npos) << text;
}

TEST(OnnxControl, FunctionsThatCallThemselvesAreRefused) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    onnx::FunctionProto& f = add_function(b, "game.nets");
    f.mutable_node(0)->set_op_type("Scaled");
    f.mutable_node(0)->set_domain("game.nets");
    f.mutable_node(0)->add_input("w");
    f.mutable_node(0)->clear_attribute();
    b.node("Scaled", {"x", "x"}, {"y"}).set_domain("game.nets");
    EXPECT_NE(message_of(b).find("nested graphs and functions"), std::string::npos)
        << message_of(b);
}

TEST(OnnxControl, SequencesAndOptionalsAreRefusedWithTheReason) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    onnx::ValueInfoProto& sequence = *b.graph().add_input();
    sequence.set_name("list");
    sequence.mutable_type()->mutable_sequence_type()->mutable_elem_type();
    onnx::ValueInfoProto& optional = *b.graph().add_input();
    optional.set_name("maybe");
    optional.mutable_type()->mutable_optional_type()->mutable_elem_type();
    b.node("Neg", {"x"}, {"y"});
    const std::string text = message_of(b);
    EXPECT_NE(text.find("input 'list' is a sequence; expected a tensor"), std::string::npos)
        << text;
    EXPECT_NE(text.find("input 'maybe' is an optional"), std::string::npos) << text;
}

}  // namespace
}  // namespace hearth
