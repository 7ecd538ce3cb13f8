// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "support/onnx_builder.hpp"

#include <hearth/grad.hpp>
#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace hearth {
namespace {

using testing::float_tensor;
using testing::int_tensor;
using testing::OnnxBuilder;
using testing::set_float;
using testing::set_int;
using testing::set_ints;

HostTensor ramp(const Shape& shape, double first = 0.25, double step = 0.5) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, first + step * static_cast<double>(i));
    return t;
}

std::string message_of(const OnnxBuilder& b, const ImportOptions& options = {}) {
    const Result<ImportedModel> model = import_onnx(b.bytes(), options);
    return model.ok() ? "(no error)" : model.status().message();
}

StatusCode code_of(const OnnxBuilder& b, const ImportOptions& options = {}) {
    return import_onnx(b.bytes(), options).status().code();
}

/// Imports and runs on the CPU; the first output.
HostTensor run(const OnnxBuilder& b, const std::vector<HostTensor>& inputs, int64_t rows = 1) {
    const Result<ImportedModel> model = import_onnx(b.bytes());
    EXPECT_TRUE(model.ok()) << model.status().message();
    if (!model.ok()) return {};
    const Result<std::vector<HostTensor>> outputs = evaluate(model->graph(), inputs, rows);
    EXPECT_TRUE(outputs.ok()) << outputs.status().message();
    return outputs.ok() ? outputs.value()[0] : HostTensor();
}

TEST(ImportOnnx, GemmComputesWhatItsAttributesSay) {
    OnnxBuilder b;
    b.input("a", {3, 2}).input("b", {4, 3}).input("c", {4}).output("y");
    onnx::NodeProto& gemm = b.node("Gemm", {"a", "b", "c"}, {"y"});
    set_int(gemm, "transA", 1);
    set_int(gemm, "transB", 1);
    set_float(gemm, "alpha", 0.5f);
    set_float(gemm, "beta", 2);
    const HostTensor a = ramp({3, 2}), w = ramp({4, 3}), c = ramp({4});
    const HostTensor y = run(b, {a, w, c});
    ASSERT_EQ(y.shape(), (Shape{2, 4}));
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j) {
            double sum = 0;
            for (int k = 0; k < 3; ++k) sum += a.get(k * 2 + i) * w.get(j * 3 + k);
            EXPECT_FLOAT_EQ(static_cast<float>(y.get(i * 4 + j)),
                            static_cast<float>(0.5 * sum + 2 * c.get(j)));
        }
}

TEST(ImportOnnx, AnOpenLeadingExtentBecomesRows) {
    const Result<ImportedModel> model = import_onnx(testing::small_policy().bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->inputs()[0].shape, (Shape{kBatch, 6}));
    EXPECT_EQ(model->outputs()[0].shape, (Shape{kBatch, 2}));
    EXPECT_EQ(model->outputs()[1].shape, (Shape{kBatch}));
    EXPECT_EQ(model->outputs()[1].name, "state_outs");
}

TEST(ImportOnnx, RowsAndFixedShapesGiveTheSameBits) {
    const std::vector<std::byte> bytes = testing::small_policy().bytes();
    const Result<ImportedModel> open = import_onnx(bytes);
    const Result<ImportedModel> fixed =
        import_onnx(bytes, {.input_shapes = {{"obs", Shape{3, 6}}, {"state_ins", Shape{3}}}});
    ASSERT_TRUE(open.ok()) << open.status().message();
    ASSERT_TRUE(fixed.ok()) << fixed.status().message();
    EXPECT_FALSE(fixed->outputs()[0].shape.has_batch());
    const std::vector<HostTensor> inputs{ramp({3, 6}, -2, 0.2), ramp({3})};
    const auto a = evaluate(open->graph(), inputs, 3), b = evaluate(fixed->graph(), inputs);
    ASSERT_TRUE(a.ok() && b.ok());
    EXPECT_EQ(a.value()[0], b.value()[0]);
    EXPECT_EQ(a.value()[1], inputs[1]);
    EXPECT_NE(a.value()[0].get(0), a.value()[0].get(1));
}

// Once it was divided by one: the number of rows was taken for a constant.
TEST(ImportOnnx, AMeanOverRowsIsDividedByTheirNumber) {
    OnnxBuilder b(13);
    b.input("x", {"n", 2}).output("y");
    set_ints(b.node("ReduceMean", {"x"}, {"y"}), "axes", {0});
    const Result<ImportedModel> model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const std::vector<HostTensor> x{
        HostTensor::of({4, 2}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8})};
    const auto y = evaluate(model->graph(), x, 4);
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ((*y)[0], HostTensor::of({1, 2}, std::vector<double>{4, 5}));
}

TEST(ImportOnnx, ShapeArithmeticLeavesNoNodes) {
    const Result<ImportedModel> model = import_onnx(
        testing::small_policy().bytes(), {.input_shapes = {{"obs", Shape{3, 6}}, {"", Shape{3}}}});
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const Node& n : model->graph().nodes)
        for (ValueId v : n.inputs) EXPECT_TRUE(is_floating(model->graph().values[v].dtype));
}

TEST(ImportOnnx, WeightsBecomeParamsThatTrain) {
    const Result<ImportedModel> model =
        import_onnx(testing::small_policy().bytes(), {.prefix = "policy/"});
    ASSERT_TRUE(model.ok()) << model.status().message();
    Trace trace("learn");
    const Tensor obs = trace.input("observation", {kBatch, 6});
    const Tensor state = trace.input("state", {kBatch});
    const std::vector<Tensor> first = model->call(trace, {obs, state});
    const std::vector<Tensor> second = model->call(trace, {obs, state});
    ASSERT_TRUE(trace.status().ok()) << trace.status().message();
    ASSERT_EQ(trace.params().size(), 3u) << "two applications share their weights";
    EXPECT_EQ(trace.graph().values[trace.params()[0].value()].name.substr(0, 7), "policy/");
    const Tensor loss = mean(square(first[0] - second[0] * 0.5));
    const std::vector<Tensor> gradients = grad(loss, trace.params());
    ASSERT_TRUE(trace.status().ok()) << trace.status().message();
    trace.output("loss", loss);
    trace.output("gradient", gradients[0]);
    const Result<Graph> graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    const auto out = evaluate(*graph, std::vector{ramp({2, 6}), ramp({2})}, 2);
    ASSERT_TRUE(out.ok()) << out.status().message();
    EXPECT_GT(out.value()[0].get(0), 0);
    EXPECT_NE(out.value()[1].get(0), 0);
}

TEST(ImportOnnx, WeightsCanStayConstants) {
    const Result<ImportedModel> model =
        import_onnx(testing::small_policy().bytes(), {.trainable = false});
    ASSERT_TRUE(model.ok()) << model.status().message();
    for (const Value& v : model->graph().values) EXPECT_NE(v.kind, ValueKind::kParam);
}

TEST(ImportOnnx, ApplyRefusesOtherShapesAndNumbersOfInputs) {
    const Result<ImportedModel> model = import_onnx(testing::small_policy().bytes());
    ASSERT_TRUE(model.ok());
    Trace wrong_shape("a");
    const Tensor x = wrong_shape.input("x", {kBatch, 7}), s = wrong_shape.input("s", {kBatch});
    model->call(wrong_shape, {x, s});
    EXPECT_NE(wrong_shape.status().message().find("'obs' is f32[batch, 6], found f32[batch, 7]"),
              std::string::npos)
        << wrong_shape.status().message();
    Trace too_few("b");
    model->call(too_few, {too_few.input("x", {kBatch, 6})});
    EXPECT_NE(too_few.status().message().find("takes 2 inputs, found 1"), std::string::npos);
}

TEST(ImportOnnx, AllThatIsMissingIsNamedInOneMessage) {
    OnnxBuilder b;
    b.input("x", {4}).input("s", {4}, onnx::TensorProto::COMPLEX64).output("y");
    b.node("SequenceMap", {"x"}, {"a"}).set_name("pick");
    b.node("NoSuchOp", {"a"}, {"b"}).set_name("odd");
    b.node("FancyGelu", {"b", "s"}, {"y"}).set_domain("com.example");
    EXPECT_EQ(code_of(b), StatusCode::kUnsupported);
    const std::string text = message_of(b);
    for (const char* part : {"SequenceMap (1 node: 'pick')", "NoSuchOp (1 node: 'odd')",
                             "com.example.FancyGelu", "input 's' has element type complex64"})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
}

TEST(ImportOnnx, NodesThatNoOutputNeedsDoNotMatter) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    b.node("Loop", {"x"}, {"unused"});
    b.node("Relu", {"x"}, {"y"});
    EXPECT_EQ(run(b, {ramp({2}, -1, 3)}).get(0), 0);
}

TEST(ImportOnnx, OutputsMayBeInputsConstantsAndEachOther) {
    OnnxBuilder b;
    b.input("x", {2}).output("x").output("w").output("y").output("z");
    b.initializer(float_tensor("w", {2}, {5, 6}));
    b.node("Identity", {"x"}, {"y"});
    b.node("Identity", {"y"}, {"z"});
    const Result<ImportedModel> model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    const auto out = evaluate(model->graph(), std::vector{ramp({2})});
    ASSERT_TRUE(out.ok()) << out.status().message();
    ASSERT_EQ(out.value().size(), 4u);
    EXPECT_EQ(out.value()[0], ramp({2}));
    EXPECT_EQ(out.value()[1].get(1), 6);
    EXPECT_EQ(out.value()[3], ramp({2}));
    std::vector<ValueId> values;
    for (const GraphOutput& o : model->graph().outputs) values.push_back(o.value);
    std::sort(values.begin(), values.end());
    EXPECT_EQ(std::unique(values.begin(), values.end()), values.end());
}

TEST(ImportOnnx, InitializersThatAreAlsoInputsAreWeights) {
    OnnxBuilder b(9);
    b.input("x", {2}).input("w", {2}).output("y");
    b.initializer(float_tensor("w", {2}, {5, 6}));
    b.node("Add", {"x", "w"}, {"y"});
    const Result<ImportedModel> model = import_onnx(b.bytes());
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->inputs().size(), 1u);
}

TEST(ImportOnnx, OptionalInputsMayHaveEmptyNames) {
    OnnxBuilder b;
    b.input("x", {3}).output("y");
    b.initializer(float_tensor("high", {}, {1}));
    b.node("Clip", {"x", "", "high"}, {"y"});
    const HostTensor y = run(b, {ramp({3}, -1, 1.5)});
    EXPECT_EQ(y.get(0), -1);
    EXPECT_EQ(y.get(2), 1);
}

TEST(ImportOnnx, VersionsOfOneOperatorAreToldApart) {
    // Up to version 12 softmax joins the axes from `axis` on, and axes are attributes.
    for (int64_t opset : {12, 13}) {
        OnnxBuilder b(opset);
        b.input("x", {2, 2, 3}).output("y");
        set_int(b.node("Softmax", {"x"}, {"y"}), "axis", 1);
        const HostTensor y = run(b, {ramp({2, 2, 3})});
        double first = 0;
        for (int64_t i = 0; i < 6; ++i) first += y.get(i);
        EXPECT_NEAR(first, opset == 12 ? 1 : 3, 1e-6) << opset;
    }
    OnnxBuilder old(11), recent(13);
    old.input("x", {2, 3}).output("y");
    set_ints(old.node("Unsqueeze", {"x"}, {"y"}), "axes", {1});
    recent.input("x", {2, 3}).output("y").initializer(int_tensor("axes", {1}, {1}));
    recent.node("Unsqueeze", {"x", "axes"}, {"y"});
    EXPECT_EQ(run(old, {ramp({2, 3})}).shape(), (Shape{2, 1, 3}));
    EXPECT_EQ(run(recent, {ramp({2, 3})}).shape(), (Shape{2, 1, 3}));
}

TEST(ImportOnnx, OperatorSetsOutsideTheKnownAreRefused) {
    for (int64_t opset : {0, 29}) {
        OnnxBuilder b(opset);
        b.input("x", {2}).output("y");
        b.node("Relu", {"x"}, {"y"});
        EXPECT_EQ(code_of(b), StatusCode::kUnsupported);
        EXPECT_NE(message_of(b).find("operator set " + std::to_string(opset)), std::string::npos);
    }
}

TEST(ImportOnnx, TheOldestAndTheNewestOperatorSetAreKnown) {
    for (int64_t opset : {1, 28}) {
        OnnxBuilder b(opset);
        b.input("x", {2}).output("y");
        b.node("Identity", {"x"}, {"y"});
        EXPECT_EQ(message_of(b), "(no error)");
    }
}

TEST(ImportOnnx, ConstantsOfEachAttributeAreRead) {
    const auto constant = [](const std::function<void(onnx::NodeProto&)>& set) {
        OnnxBuilder b;
        b.output("y");
        set(b.node("Constant", {}, {"y"}));
        return b;
    };
    EXPECT_EQ(run(constant([](auto& n) { set_int(n, "value_int", 7); }), {}),
              HostTensor::scalar(7, DType::kI64));
    EXPECT_EQ(run(constant([](auto& n) { set_float(n, "value_float", 0.5f); }), {}),
              HostTensor::scalar(0.5));
    EXPECT_EQ(run(constant([](auto& n) {
                      set_ints(n, "value_ints", {3, -4});
                  }),
                  {}),
              HostTensor::of({2}, std::vector<double>{3, -4}, DType::kI64));
    const OnnxBuilder floats = constant([](auto& n) {
        onnx::AttributeProto& a =
            testing::attribute(n, "value_floats", onnx::AttributeProto::FLOATS);
        a.add_floats(0.5f);
        a.add_floats(2);
    });
    EXPECT_EQ(run(floats, {}), HostTensor::of({2}, std::vector<float>{0.5f, 2}));
    for (const OnnxBuilder& other :
         {constant([](auto& n) { set_int(n, "other", 7); }),
          constant([](auto& n) { set_float(n, "other", 7); }),
          constant([](auto& n) { set_ints(n, "other", {7}); }), constant([](auto&) {})})
        EXPECT_NE(message_of(other).find("this kind of constant"), std::string::npos)
            << message_of(other);
}

TEST(ImportOnnx, ElementTypesThatAreNoneAreRefused) {
    for (const int64_t type : {-1, 8, 27, 1000}) {  // 8 is string
        OnnxBuilder b(26);
        b.input("x", {2}).output("y");
        set_int(b.node("BitCast", {"x"}, {"y"}), "to", type);
        EXPECT_NE(message_of(b).find("element type "), std::string::npos)
            << type << ": " << message_of(b);
    }
}

// What is computed from the number of rows is followed as far as it is whole numbers of shapes.

/// x [batch, 6] in the shape that `nodes` make of "shape", the list [batch, 6], and call "target".
OnnxBuilder reshaped(const std::function<void(OnnxBuilder&)>& nodes, int64_t opset = 17) {
    OnnxBuilder b(opset);
    b.input("x", {"n", 6}).output("y");
    for (const int64_t n : {-3, -1, 0, 1, 2, 4, 6}) {
        b.initializer(int_tensor("#" + std::to_string(n), {1}, {n}));
        b.initializer(int_tensor("@" + std::to_string(n), {}, {n}));
    }
    b.node("Shape", {"x"}, {"shape"});
    b.node("Gather", {"shape", "#0"}, {"rows"});
    nodes(b);
    b.node("Reshape", {"x", "target"}, {"y"});
    return b;
}

/// The shape of the result, or the error.
std::string shape_of(const std::function<void(OnnxBuilder&)>& nodes, int64_t opset = 17) {
    const Result<ImportedModel> model = import_onnx(reshaped(nodes, opset).bytes());
    return model.ok() ? to_string(model->outputs()[0].shape) : model.status().message();
}

TEST(ImportExtents, ArithmeticOfRowsIsExact) {
    const auto of_two = [](const char* op, const char* a, const char* b) {
        return shape_of([=](OnnxBuilder& m) { m.node(op, {a, b}, {"target"}); });
    };
    EXPECT_EQ(of_two("Mul", "rows", "#6"), "[6*batch]");
    EXPECT_EQ(of_two("Mul", "#6", "rows"), "[6*batch]");
    EXPECT_EQ(shape_of([](OnnxBuilder& m) {
                  m.node("Mul", {"shape", "#2"}, {"twice"});
                  m.node("Div", {"twice", "#2"}, {"target"});
              }),
              "[batch, 6]");
    EXPECT_EQ(shape_of([](OnnxBuilder& m) {
                  m.node("Mul", {"rows", "#4"}, {"four"});
                  m.node("Add", {"four", "rows"}, {"five"});
                  m.node("Add", {"five", "rows"}, {"target"});
              }),
              "[6*batch]");
    EXPECT_EQ(shape_of([](OnnxBuilder& m) {
                  m.node("Mul", {"shape", "#6"}, {"more"});
                  m.node("Sub", {"more", "shape"}, {"five"});
                  m.node("Sub", {"more", "five"}, {"target"});
              }),
              "[batch, 6]");
}

TEST(ImportExtents, RowsOfRowsCancel) {
    // (4 rows) / rows = 4, so x [rows, 6] is read as [4 / 2 * rows, 3].
    EXPECT_EQ(shape_of([](OnnxBuilder& m) {
                  m.node("Mul", {"rows", "#4"}, {"four"});
                  m.node("Div", {"four", "rows"}, {"four_alone"});
                  m.node("Div", {"four_alone", "#2"}, {"two"});
                  m.node("Mul", {"rows", "two"}, {"more_rows"});
                  set_int(m.node("Concat", {"more_rows", "#-1"}, {"target"}), "axis", 0);
              }),
              "[2*batch, 3]");
}

TEST(ImportExtents, WhatIsNoWholeNumberOfRowsIsRefused) {
    const auto refused = [](const char* op, const char* a, const char* b) {
        const std::string text = shape_of([=](OnnxBuilder& m) { m.node(op, {a, b}, {"target"}); });
        EXPECT_NE(text.find("is computed from the batch size"), std::string::npos)
            << op << " " << a << " " << b << ": " << text;
    };
    refused("Mul", "rows", "rows");
    refused("Add", "rows", "#1");
    refused("Sub", "#1", "rows");
    refused("Div", "rows", "#2");
    refused("Div", "rows", "#0");
    refused("Div", "rows", "#-1");
    refused("Div", "#6", "rows");
    const std::string by_no_rows = shape_of([](OnnxBuilder& m) {
        m.node("Mul", {"rows", "#0"}, {"none"});
        m.node("Div", {"rows", "none"}, {"target"});
    });
    EXPECT_NE(by_no_rows.find("is computed from the batch size"), std::string::npos) << by_no_rows;
}

TEST(ImportExtents, ListsOfDifferentLengthsDoNotMeet) {
    for (const char* op : {"Add", "Mul"})
        for (const bool swapped : {false, true}) {
            const std::string text = shape_of([&](OnnxBuilder& m) {
                set_int(m.node("Concat", {"shape", "rows"}, {"three"}), "axis", 0);
                const std::vector<std::string> operands =
                    swapped ? std::vector<std::string>{"three", "shape"}
                            : std::vector<std::string>{"shape", "three"};
                m.node(op, operands, {"target"});
            });
            EXPECT_NE(text.find("is computed from the batch size"), std::string::npos) << text;
        }
}

TEST(ImportExtents, IndicesCountFromBothEndsAndStayInside) {
    const auto gathered = [](const std::string& index) {
        return shape_of([&](OnnxBuilder& m) {
            m.node("Gather", {"shape", index}, {"one"});
            set_int(m.node("Concat", {"one", "#-1"}, {"target"}), "axis", 0);
        });
    };
    EXPECT_EQ(gathered("#0"), "[batch, 6]");
    EXPECT_EQ(gathered("#1"), "[6, batch]");
    EXPECT_EQ(gathered("#-1"), "[6, batch]");
    for (const char* outside : {"#2", "#-3"})
        EXPECT_NE(gathered(outside).find("Gather"), std::string::npos) << gathered(outside);
}

TEST(ImportExtents, SlicesOfOldOperatorSetsHaveOneStartAndOneEnd) {
    const auto sliced = [](const std::vector<int64_t>& starts, const std::vector<int64_t>& ends) {
        return shape_of(
            [&](OnnxBuilder& m) {
                onnx::NodeProto& slice = m.node("Slice", {"shape"}, {"target"});
                set_ints(slice, "starts", starts);
                set_ints(slice, "ends", ends);
            },
            9);
    };
    EXPECT_EQ(sliced({0}, {2}), "[batch, 6]");
    EXPECT_EQ(sliced({-2}, {INT64_MAX}), "[batch, 6]");
    for (const std::vector<int64_t>& list : {std::vector<int64_t>{}, {0, 1}}) {
        EXPECT_NE(sliced(list, {2}).find("Slice"), std::string::npos) << sliced(list, {2});
        EXPECT_NE(sliced({0}, list).find("Slice"), std::string::npos) << sliced({0}, list);
    }
}

TEST(ImportExtents, OnlyASingleNumberOfRowsBecomesAFloat) {
    const auto cast = [](const char* from, const char* to_what) {
        OnnxBuilder b;
        b.input("x", {"n", 6}).output("y").initializer(int_tensor("0", {}, {0}));
        b.node("Shape", {"x"}, {"shape"});
        b.node("Gather", {"shape", "0"}, {"rows"});
        set_int(b.node("Cast", {from}, {"number"}), "to", onnx::TensorProto::FLOAT);
        b.node("Mul", {"x", "number"}, {to_what});
        return b;
    };
    EXPECT_EQ(run(cast("rows", "y"), {ramp({2, 6}, 1, 0)}, 2), ramp({2, 6}, 2, 0));
    const std::string text = message_of(cast("shape", "y"));
    EXPECT_NE(text.find("is computed from the batch size"), std::string::npos) << text;
}

TEST(ImportOnnx, InputShapesMustFitTheModel) {
    const OnnxBuilder b = testing::small_policy();
    const std::string text = message_of(b, {.input_shapes = {{"obs", Shape{3, 7}}}});
    EXPECT_NE(text.find("'obs' is [batch, 6] in the model, input_shapes has [3, 7]"),
              std::string::npos)
        << text;
    EXPECT_EQ(code_of(b, {.input_shapes = {{"nothing", Shape{3}}}}), StatusCode::kNotFound);
}

TEST(ImportOnnx, OpenExtentsThatAreNotOneNumberOfRowsNeedShapes) {
    OnnxBuilder inner;
    inner.input("x", {2, "length"}).output("y");
    inner.node("Relu", {"x"}, {"y"});
    EXPECT_NE(message_of(inner).find("'x' is [2, length] in the model; only the first extent"),
              std::string::npos)
        << message_of(inner);
    OnnxBuilder two;
    two.input("x", {"a"}).input("z", {"b"}).output("y");
    two.node("Add", {"x", "z"}, {"y"});
    EXPECT_NE(message_of(two).find("leading extent 'b', another input has 'a'"), std::string::npos)
        << message_of(two);
}

TEST(ImportOnnx, MessagesAboutOpenExtentsHaveAReadyExampleOfEveryShape) {
    OnnxBuilder b;
    b.input("x", {"batch", 3, "height", "width"}).input("mask", {"batch", "width"}).output("y");
    b.input("k", {4});
    b.node("ReduceSum", {"x"}, {"a"});
    b.node("ReduceSum", {"mask"}, {"b"});
    b.node("Add", {"a", "b"}, {"y"});
    EXPECT_NE(message_of(b, {.shape_flag_name = "--shape"})
                  .find("give --shape x=1,3,160,160 --shape mask=1,160"),
              std::string::npos)
        << message_of(b, {.shape_flag_name = "--shape"});
    // What it says works.
    const ImportOptions given = {
        .input_shapes = {{"x", Shape{1, 3, 160, 160}}, {"mask", Shape{1, 160}}}};
    EXPECT_TRUE(import_onnx(b.bytes(), given).ok());
    // Once x is given, the rest is asked for alone.
    const std::string rest = message_of(b, {.input_shapes = {{"x", Shape{1, 3, 160, 160}}}});
    EXPECT_NE(rest.find("give input_shapes mask=1,512"), std::string::npos) << rest;
    EXPECT_EQ(rest.find("x="), std::string::npos) << rest;
}

TEST(ImportOnnx, ExamplesOfShapesFitTheWeights) {
    // A reader of lines: five channels, and a height that a pooling window reduces to one row.
    OnnxBuilder b;
    b.input("x", {"batch", "channels", "height", "width"}).output("y");
    b.initializer(float_tensor("w", {4, 5, 1, 1}, std::vector<float>(20, 0.5f)));
    b.node("Conv", {"x", "w"}, {"a"});
    onnx::NodeProto& pool = b.node("AveragePool", {"a"}, {"b"});
    set_ints(pool, "kernel_shape", {48, 1});
    set_ints(pool, "strides", {48, 1});
    b.initializer(int_tensor("two", {1}, {2}));
    b.node("Squeeze", {"b", "two"}, {"y"});
    EXPECT_NE(message_of(b).find("give input_shapes x=1,5,48,160"), std::string::npos)
        << message_of(b);

    OnnxBuilder matmul;
    matmul.input("x", {"batch", "length", "features"}).output("y");
    matmul.initializer(float_tensor("w", {7, 2}, std::vector<float>(14, 0.5f)));
    matmul.node("MatMul", {"x", "w"}, {"y"});
    EXPECT_NE(message_of(matmul).find("give input_shapes x=1,512,7"), std::string::npos)
        << message_of(matmul);
}

TEST(ImportOnnx, RowsCanBeFixedWhereTheyAreOpen) {
    const Result<ImportedModel> model =
        import_onnx(testing::small_policy().bytes(), {.batch_size = 3});
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->inputs()[0].shape, (Shape{3, 6}));
    EXPECT_EQ(model->inputs()[1].shape, (Shape{3}));
    EXPECT_EQ(code_of(testing::small_policy(), {.batch_size = -1}), StatusCode::kOutOfRange);
}

/// y = x[start:end] along the rows; `end` may be the number of rows itself.
OnnxBuilder slice_of_rows(int64_t start, std::optional<int64_t> end, int64_t step = 1) {
    OnnxBuilder b;
    b.input("x", {"batch", 2}).output("y");
    b.initializer(int_tensor("start", {1}, {start})).initializer(int_tensor("axes", {1}, {0}));
    b.initializer(int_tensor("step", {1}, {step})).initializer(int_tensor("zero", {1}, {0}));
    if (end) {
        b.initializer(int_tensor("end", {1}, {*end}));
    } else {
        b.node("Shape", {"x"}, {"shape"});
        b.node("Gather", {"shape", "zero"}, {"end"});
    }
    b.node("Slice", {"x", "start", "end", "axes", "step"}, {"y"});
    return b;
}

TEST(ImportOnnx, AWholeSliceAlongTheRowsIsNoCut) {
    const std::vector<HostTensor> x = {ramp({5, 2})};
    EXPECT_EQ(run(slice_of_rows(0, INT64_MAX), x, 5), x[0]);
    EXPECT_EQ(run(slice_of_rows(0, INT32_MAX), x, 5), x[0]);
    EXPECT_EQ(run(slice_of_rows(0, std::nullopt), x, 5), x[0]);
    EXPECT_EQ(run(slice_of_rows(INT64_MIN, std::nullopt), x, 5), x[0]);
    // These are cuts, whatever the number of rows.
    for (const OnnxBuilder& b : {slice_of_rows(1, INT64_MAX), slice_of_rows(0, 3),
                                 slice_of_rows(0, INT64_MAX, 2), slice_of_rows(1, std::nullopt)})
        EXPECT_NE(message_of(b), "(no error)");
}

TEST(ImportOnnx, OtherDomainsHaveOperatorsOfTheirOwn) {
    OnnxBuilder b;
    b.input("x", {4}).output("y");
    b.node("QuickGelu", {"x"}, {"y"}).set_domain("com.microsoft");
    const HostTensor x = ramp({4});
    const HostTensor y = run(b, {x});
    for (int64_t i = 0; i < 4; ++i)
        EXPECT_NEAR(y.get(i), x.get(i) / (1 + std::exp(-1.702 * x.get(i))), 1e-6);
    // Neither is the one's name known in the other.
    OnnxBuilder own;
    own.input("x", {4}).output("y");
    own.node("QuickGelu", {"x"}, {"y"});
    EXPECT_NE(message_of(own).find("operator QuickGelu"), std::string::npos) << message_of(own);
    OnnxBuilder foreign;
    foreign.input("x", {4}).output("y");
    foreign.node("Relu", {"x"}, {"y"}).set_domain("com.microsoft");
    EXPECT_NE(message_of(foreign).find("operator com.microsoft.Relu"), std::string::npos)
        << message_of(foreign);
}

TEST(ImportOnnx, ShapesGivenAsDataAreUsedWhenTheirContentsAreGiven) {
    OnnxBuilder b;
    b.input("x", {2, 3}).input("shape", {2}, onnx::TensorProto::INT64).output("y");
    b.node("Reshape", {"x", "shape"}, {"y"});
    EXPECT_NE(message_of(b).find("input 1 must be constant"), std::string::npos) << message_of(b);
    const HostTensor shape = HostTensor::of({2}, std::vector<double>{3, -1}, DType::kI64);
    const Result<ImportedModel> model =
        import_onnx(b.bytes(), {.constant_inputs = {{"shape", shape}}});
    ASSERT_TRUE(model.ok()) << model.status().message();
    EXPECT_EQ(model->outputs()[0].shape, (Shape{3, 2}));
    EXPECT_EQ(model->inputs().size(), 2u);
}

TEST(ImportOnnx, IntegersBeyond32BitsAreForTheCpuAlone) {
    OnnxBuilder b;
    b.input("x", {1}, onnx::TensorProto::INT64).output("y");
    b.initializer(int_tensor("big", {1}, {int64_t{1} << 40}));
    b.node("Add", {"x", "big"}, {"y"});
    const HostTensor one = HostTensor::of({1}, std::vector<double>{1}, DType::kI64);
    EXPECT_EQ(run(b, {one}).get_int(0), (int64_t{1} << 40) + 1);
}

TEST(ImportOnnx, ErrorsNameTheNode) {
    OnnxBuilder b;
    b.input("x", {2, 3}).input("z", {2, 4}).output("y");
    b.node("MatMul", {"x", "z"}, {"y"}).set_name("head");
    EXPECT_NE(message_of(b).find("MatMul 'head': matmul:"), std::string::npos) << message_of(b);
    EXPECT_EQ(code_of(b), StatusCode::kInvalidArgument);
}

TEST(ImportOnnx, GraphsThatAreNoGraphsAreRefused) {
    OnnxBuilder later;
    later.input("x", {2}).output("y");
    later.node("Relu", {"h"}, {"y"});
    later.node("Relu", {"x"}, {"h"});
    EXPECT_NE(message_of(later).find("'h', which no earlier node computes"), std::string::npos);

    OnnxBuilder twice;
    twice.input("x", {2}).output("y");
    twice.node("Relu", {"x"}, {"y"});
    twice.node("Tanh", {"x"}, {"y"});
    EXPECT_NE(message_of(twice).find("which another node also computes"), std::string::npos);

    OnnxBuilder input;
    input.input("x", {2}).output("y");
    input.node("Relu", {"x"}, {"x"});
    input.node("Relu", {"x"}, {"y"});
    EXPECT_EQ(code_of(input), StatusCode::kInvalidArgument);

    OnnxBuilder loop;
    loop.input("x", {2}).output("y");
    loop.node("Add", {"x", "y"}, {"y"});
    EXPECT_EQ(code_of(loop), StatusCode::kInvalidArgument);

    OnnxBuilder nothing;
    nothing.input("x", {2}).output("y");
    EXPECT_NE(message_of(nothing).find("'y' is not computed by any node"), std::string::npos);
    EXPECT_EQ(code_of(OnnxBuilder()), StatusCode::kCorruptData);
}

TEST(ImportOnnx, UnknownAttributesAreNotIgnored) {
    OnnxBuilder b;
    b.input("x", {2}).output("y");
    set_int(b.node("Relu", {"x"}, {"y"}), "secret_mode", 1);
    EXPECT_NE(message_of(b).find("'secret_mode'"), std::string::npos) << message_of(b);
}

}  // namespace
}  // namespace hearth
