// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/ir/rewrite.hpp"

#include <hearth/op/onnx_call.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

// The error of a trace that `build` makes, or "" if there is none.
template <class F>
std::string error_of(F build) {
    Trace trace("t");
    build(trace);
    const auto graph = trace.build();
    return graph.ok() ? "" : graph.status().message();
}

TEST(TraceError, NamesOperatorExpectationAndShapes) {
    const std::string message = error_of([](Trace& t) {
        t.output("y", matmul(t.input("x", {4, 3}), t.input("w", {5, 2})));
    });
    EXPECT_EQ(message,
              "trace 't': matmul: inner sizes differ: a [4, 3], b [5, 2] "
              "(inputs f32[4, 3], f32[5, 2])");
}

TEST(TraceError, TheFirstIsKeptAndLaterCallsPassItOn) {
    const std::string message = error_of([](Trace& t) {
        const Tensor bad = t.input("a", {2}) + t.input("b", {3});
        EXPECT_FALSE(bad.ok());
        const Tensor worse = matmul(bad, softmax(sum(bad, {7}), 9));
        EXPECT_FALSE(worse.ok());
        t.output("y", worse + t.input("a", {2}));
    });
    EXPECT_EQ(message,
              "trace 't': add: shapes [2] and [3] do not broadcast: 2 against 3 "
              "(inputs f32[2], f32[3])");
}

TEST(TraceError, OfEachKindSaysWhatWasFound) {
    const auto says = [](const std::string& message, std::string_view part) {
        EXPECT_NE(message.find(part), std::string::npos) << message;
    };
    says(error_of([](Trace& t) { exp(t.input("x", {2}, DType::kI32)); }),
         "exp: x must be floating-point, found i32");
    says(error_of([](Trace& t) { t.input("a", {2}) * t.input("b", {2}, DType::kI32); }),
         "mul: element types differ: f32 and i32");
    says(error_of([](Trace& t) {
             sum(t.input("x", {2, 3}), {2});
         }),
         "reduce_sum: axis 2 of a tensor of rank 2");
    says(error_of([](Trace& t) {
             sum(t.input("x", {2, 3}), {0, -2});
         }),
         "reduce_sum: axis -2 is given twice");
    says(error_of([](Trace& t) {
             reshape(t.input("x", {2, 3}), {4, 2});
         }),
         "reshape: cannot make [4, 2] of [2, 3]: 6 elements, not 8");
    says(error_of([](Trace& t) {
             reshape(t.input("x", {kBatch, 3}), {2, -1, 2});
         }),
         "reshape: [batch, 3] does not divide into");
    says(error_of([](Trace& t) {
             squeeze(t.input("x", {2, 3}), {0});
         }),
         "squeeze: axis 0 of [2, 3] is not 1");
    says(error_of([](Trace& t) {
             slice(t.input("x", {kBatch, 3}), 0, 0, 1);
         }),
         "slice: axis 0 of [batch, 3] is symbolic");
    says(error_of([](Trace& t) {
             transpose(t.input("x", {2, 3}), {0, 0});
         }),
         "transpose: (0, 0) is no permutation of 2 axes");
    says(error_of([](Trace& t) {
             t.input("x", {kBatch, 2}) + t.input("y", {kBatch, 1, 2});
         }),
         "more than one symbolic extent");
    says(error_of([](Trace& t) {
             split(t.input("x", {5}), {2, 2}, 0);
         }),
         "split: the pieces hold 4 elements, axis 0 of [5] holds 5");
    says(error_of([](Trace& t) { where(t.input("c", {2}), t.input("x", {2}), 0.0); }),
         "where: condition must be bool, found f32");
    says(error_of([](Trace& t) {
             take(t.input("x", {0, 2}), t.input("i", {1}, DType::kI32));
         }),
         "gather: the axis to read from is empty");
    says(error_of([](Trace& t) {
             argmax(t.input("x", {0, 2}), 0);
         }),
         "argmax: axis 0 of [0, 2] has no elements to choose from");
    says(error_of([](Trace& t) { random_uniform(t.input("c", {2}, DType::kU32), 1, {3}); }),
         "random_uniform: counter must be a scalar, found [2]");
    says(error_of([](Trace& t) {
             prelu(t.input("x", {3}), t.input("s", {2, 3}));
         }),
         "prelu: slope [2, 3] does not broadcast to x [3]");
}

TEST(TraceError, OfDeclarationsNamesTheTensor) {
    EXPECT_EQ(error_of([](Trace& t) { t.input("x", {1}), t.input("x", {1}); }),
              "trace 't': input 'x' is declared twice; choose another name");
    EXPECT_EQ(error_of([](Trace& t) { t.param("w", {2}), t.param("w", {3}); }),
              "trace 't': param 'w' f32[3] is already declared with f32[2]");
    EXPECT_EQ(error_of([](Trace& t) { t.param("w", {2}), t.param("w", {2}, {}, DType::kF16); }),
              "trace 't': param 'w' f16[2] is already declared with f32[2]");
    EXPECT_EQ(error_of([](Trace& t) { t.param("w", {2}), t.state("w", {2}); }),
              "trace 't': state 'w' f32[2] is already declared with f32[2], as param");
    EXPECT_EQ(error_of([](Trace& t) { t.state("s", {kBatch}); }),
              "trace 't': state 's' has [batch]; persistent state needs a fixed shape");
    EXPECT_EQ(error_of([](Trace& t) {
                  t.input("x", {kBatch, kBatch});
              }),
              "trace 't': input 'x' has [batch, batch]: at most one extent may be symbolic");
    EXPECT_EQ(
        error_of([](Trace& t) { t.param("w", {2}, Init::from(HostTensor(DType::kF32, {3}))); }),
        "trace 't': param 'w' is f32[2], its data is f32[3]");
    EXPECT_EQ(error_of([](Trace& t) {
                  t.output("y", t.input("x", {1}));
                  t.output("y", t.constant(1));
              }),
              "trace 't': output 'y' is named twice");
}

// A negative extent ended in std::length_error, 2^60 elements in std::bad_alloc.
TEST(TraceError, ShapesThatNoTensorHasAreErrors) {
    const std::string expected = "; expected extents of 0 or more, and at most 2^40 elements";
    EXPECT_EQ(error_of([](Trace& t) {
                  t.input("x", {kBatch, -1});
              }),
              "trace 't': 'x' has the shape [batch, -1]" + expected);
    EXPECT_EQ(error_of([](Trace& t) {
                  t.param("w", {-2, 3}, Init::normal(0, 1));
              }),
              "trace 't': 'w' has the shape [-2, 3]" + expected);
    constexpr int64_t kLarge = int64_t{1} << 30;
    EXPECT_EQ(error_of([](Trace& t) {
                  t.state("s", {kLarge, kLarge}, Init::constant(1));
              }),
              "trace 't': 's' has the shape [1073741824, 1073741824]" + expected);
    EXPECT_EQ(error_of([](Trace& t) { t.input("x", {0, kLarge, kLarge}); }), "");
}

TEST(TraceError, OfMirrorsNamesThePrefixes) {
    EXPECT_EQ(error_of([](Trace& t) { t.target_copy("", "net"); }),
              "trace 't': target_copy: '' of 'net': expected two prefixes");
    EXPECT_EQ(error_of([](Trace& t) { t.target_copy("target", ""); }),
              "trace 't': target_copy: 'target' of '': expected two prefixes");
    EXPECT_EQ(error_of([](Trace& t) { t.target_copy("net", "net"); }),
              "trace 't': target_copy: 'net' of 'net': expected two prefixes");
    EXPECT_EQ(error_of([](Trace& t) {
                  t.param("target.w", {2});
                  t.target_copy("target", "net");
              }),
              "trace 't': target_copy: param 'target.w' is already declared; call target_copy "
              "before it is");
    EXPECT_EQ(error_of([](Trace& t) {
                  t.target_copy("target", "net");
                  t.target_copy("target", "net");
                  t.target_copy("target", "other");
              }),
              "trace 't': target_copy: 'target' is already a target copy of 'net'");
}

TEST(TraceError, AfterItNothingIsDeclared) {
    Trace trace("t");
    trace.fail(invalid_argument("stop"));
    EXPECT_FALSE(trace.input("x", {2}).ok());
    EXPECT_FALSE(trace.param("w", {2}).ok());
    EXPECT_FALSE(trace.constant(HostTensor(DType::kF32, {2})).ok());
    EXPECT_TRUE(trace.graph().inputs.empty());
    EXPECT_TRUE(trace.graph().values.empty());
    EXPECT_EQ(trace.build().status().message(), "trace 't': stop");
}

TEST(Trace, AMirrorIsAStateThatBeginsAsItsOriginal) {
    Trace trace("t");
    trace.target_copy("target", "net");
    const Tensor w = trace.param("net.w", {4}, Init::normal(0, 1));
    const Tensor mirror = trace.param("target.w", {4}, Init::normal(0, 1));
    const Tensor other = trace.param("targets.w", {4}, Init::normal(0, 1));
    const std::vector<Value>& values = trace.graph().values;
    EXPECT_EQ(values[mirror.value()].kind, ValueKind::kState);
    EXPECT_EQ(*values[mirror.value()].data, *values[w.value()].data);
    EXPECT_EQ(values[other.value()].kind, ValueKind::kParam);
    EXPECT_NE(*values[other.value()].data, *values[w.value()].data);
}

TEST(OnnxTypes, EndWithTheLastOfTheTable) {
    EXPECT_EQ(dtype_from_onnx(1), DType::kF32);
    EXPECT_EQ(onnx_type_name(26), "int2");
    for (const int64_t number : {int64_t{-1}, int64_t{27}, INT64_MAX, INT64_MIN}) {
        EXPECT_FALSE(dtype_from_onnx(number)) << number;
        EXPECT_EQ(onnx_type_name(number), "element type " + std::to_string(number));
    }
}

TEST(TraceError, OfAssignmentsNamesTheTarget) {
    EXPECT_EQ(error_of([](Trace& t) { t.assign(t.constant(0), t.constant(1)); }),
              "trace 't': assign: the target must be a param, state or input");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  t.assign(x, neg(x));
                  t.assign(x, x);
              }),
              "trace 't': assign: 'x' is assigned twice");
    EXPECT_EQ(error_of([](Trace& t) {
                  const Tensor x = t.input("x", {2});
                  t.output("x", neg(x));
                  t.assign(x, x);
              }),
              "trace 't': assign: there is an output named 'x', like the input; rename it");
    EXPECT_EQ(error_of([](Trace& t) { t.assign(t.state("s", {2}), t.constant(1)); }),
              "trace 't': assign: 's' is f32[2], the value is f32[]");
    EXPECT_EQ(error_of([](Trace& t) {
                  t.assign(t.state("s", {}), t.constant(1));
                  t.assign(t.state("s", {}), t.constant(2));
              }),
              "trace 't': assign: 's' is assigned twice");
}

TEST(TraceError, TensorsOfTwoTracesDoNotMix) {
    Trace other("other");
    const Tensor theirs = other.input("x", {1});
    EXPECT_EQ(error_of([&](Trace& t) { t.input("x", {1}) + theirs; }),
              "trace 't': add: the inputs come from different traces, 't' and 'other'");
}

TEST(TraceError, AttributesAreChecked) {
    const auto apply_leaky = [](Attrs attrs) {
        return error_of([&](Trace& t) {
            const Tensor y = leaky_relu(t.input("x", {1}));
            apply_one(*t.graph().producer(y.value())->op, {y}, attrs);
        });
    };
    EXPECT_EQ(apply_leaky({}), "");  // alpha has a default
    EXPECT_NE(apply_leaky({{"beta", 1.0}}).find("has no attribute 'beta'"), std::string::npos);
    EXPECT_NE(apply_leaky({{"alpha", int64_t{1}}}).find("'alpha' has the wrong type"),
              std::string::npos);
}

TEST(Trace, DefaultConstructedTensorsFailQuietly) {
    const Tensor nothing;
    EXPECT_FALSE(nothing.ok());
    EXPECT_FALSE((nothing + nothing).ok());
    EXPECT_FALSE(sum(nothing).ok());
    EXPECT_FALSE(concat({nothing, nothing}, 0).ok());
    EXPECT_EQ(nothing.shape(), Shape{});
}

TEST(Trace, ScalarConstantsAreShared) {
    Trace trace("t");
    const Tensor x = trace.input("x", {2});
    const size_t before = trace.graph().values.size();
    (x * 2.0) + 2.0;
    EXPECT_EQ(trace.graph().values.size(), before + 3);  // the 2 and two results
}

TEST(Trace, RandomContentsDependOnNameAndSeedAndNotOnOrder) {
    const auto contents = [](std::initializer_list<const char*> names, uint64_t seed) {
        Trace trace("t");
        for (const char* name : names) trace.param(name, {4}, Init::normal(0, 1, seed));
        const Graph& graph = trace.graph();
        return *graph.value(graph.find("b")).data;
    };
    EXPECT_EQ(contents({"a", "b"}, 1), contents({"b", "a"}, 1));
    EXPECT_NE(contents({"b"}, 1), contents({"b"}, 2));
    Trace trace("t");
    trace.param("a", {4}, Init::normal(0, 1, 1));
    EXPECT_NE(*trace.graph().value(0).data, contents({"b"}, 1));
}

TEST(Trace, ExtentsOfRowsMultiply) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 4, 3});
    EXPECT_EQ(flatten(x, 0, 1).shape(), (Shape{Dim(4, true), 3}));
    EXPECT_EQ(reshape(x, {-1, 6}).shape(), (Shape{Dim(2, true), 6}));
    EXPECT_EQ(concat({x, x}, 0).shape(), (Shape{Dim(2, true), 4, 3}));
    EXPECT_EQ(sum(x, {0}).shape(), (Shape{4, 3}));
    EXPECT_EQ(matmul(x, trace.input("w", {3, 5})).shape(), (Shape{kBatch, 4, 5}));
}

TEST(ReplayOptions, MakesTheSameGraphInAnotherTrace) {
    Trace trace("t");
    const Tensor x = trace.input("x", {kBatch, 3});
    const Tensor w = trace.param("w", {2, 3}, Init::uniform(-1, 1));
    trace.output("y", tanh(linear(x, w)) * 0.5);
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    Trace other("t");
    const std::vector<Tensor> inputs{other.input("x", {kBatch, 3})};
    const std::vector<Tensor> values = replay(*graph, other, inputs);
    other.output("y", values[graph->outputs[0].value]);
    const auto copy = other.build();
    ASSERT_TRUE(copy.ok()) << copy.status().message();
    EXPECT_EQ(content_hash(*copy), content_hash(*graph));
    EXPECT_EQ(print(*copy), print(*graph));
}

// clang-format off
Result<int> sum_of_two(const Result<int>& a, const Result<int>& b) {
    HEARTH_ASSIGN(const int x, Result<int>(a)); HEARTH_ASSIGN(const int y, Result<int>(b));
    return x + y;
}
// clang-format on

TEST(HearthAssign, MayStandTwiceOnALine) {
    EXPECT_EQ(*sum_of_two(1, 2), 3);
    EXPECT_EQ(sum_of_two(1, not_found("b")).status().message(), "b");
}

// They were taken by number: another value, or none at all.
TEST(TraceError, OutputsAndUpdatesMustBeTensorsOfTheTrace) {
    Trace act("act"), learn("learn");
    const Tensor state = learn.state("s", {2}), foreign = act.input("x", {2});
    learn.assign(state, foreign);
    EXPECT_EQ(learn.status().message(),
              "assign: the value for 's' is a tensor of trace 'act', not of 'learn'");
    Trace second("second");
    second.output("y", foreign);
    EXPECT_EQ(second.status().message(), "output 'y' is a tensor of trace 'act', not of 'second'");
    Trace third("third");
    third.assign(state, third.input("x", {2}));
    EXPECT_EQ(third.status().message(),
              "assign: the target is a tensor of trace 'learn', not of 'third'");
}

TEST(Trace, TransientStatesAreDeclaredAsSuchEverywhere) {
    Trace trace("t");
    const Tensor ring = trace.non_persistent_state("ring", {4});
    trace.assign(ring, ring + 1.0);
    EXPECT_EQ(trace.non_persistent_state("ring", {4}).value(), ring.value());
    const Result<Graph> graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_FALSE(graph->value(graph->updates[0].target).is_persistent);
    EXPECT_NE(print(*graph).find("transient @ring"), std::string::npos) << print(*graph);
    (void)trace.state("ring", {4});
    EXPECT_EQ(trace.status().message(),
              "state 'ring' f32[4] is already declared with f32[4], as non-persistent state");
}

}  // namespace
}  // namespace hearth
