// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ir/graph.hpp"

#include "compiler/ops/op_table.hpp"
#include "support/build_graphs.hpp"

#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

#include <gtest/gtest.h>

namespace hearth {
namespace {

using test::graph_of;

Graph example() {
    return graph_of([](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 3});
        const Tensor w = t.param("w", {2, 3});
        const Tensor count = t.state("count", {});
        t.output("y", sum(relu(linear(x, w)), {1}));
        t.assign(count, count + 1.0);
    });
}

TEST(PrintGraph, ShowsLeavesNodesOutputsAndUpdates) {
    EXPECT_EQ(print(example()),
              "graph entry\n"
              "  input @x : f32[batch, 3]\n"
              "  param @w : f32[2, 3]\n"
              "  state @count : f32[]\n"
              "  constant %7 : f32[] = 1\n"
              "  %2 : f32[batch, 2] = matmul(@x, @w) {transpose_a=0 transpose_b=1 wide=0}\n"
              "  %3 : f32[batch, 2] = relu(%2)\n"
              "  %4 : f32[batch, 1] = reduce_sum(%3) {axes=(1)}\n"
              "  %5 : f32[batch] = reshape(%4) {shape=[batch]}\n"
              "  %8 : f32[] = add(@count, %7)\n"
              "  output y = %5\n"
              "  update @count := %8\n");
}

TEST(Canonical, DropsWhatNothingNeedsAndKeepsInputs) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {2});
        t.input("unused", {3});
        t.param("unused too", {3});
        exp(x);
        t.output("y", sin(x));
    });
    EXPECT_EQ(graph.nodes.size(), 1u);
    EXPECT_EQ(graph.inputs.size(), 2u);
    EXPECT_EQ(graph.find("unused too"), kInvalidId);
}

TEST(Canonical, EqualComputationsInAnotherOrderHashEqual) {
    const Graph one = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {2});
        const Tensor a = sin(x), b = cos(x);
        t.output("y", a * b);
    });
    const Graph other = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {2});
        const Tensor b = cos(x);
        exp(b);
        const Tensor a = sin(x);
        t.output("y", a * b);
    });
    EXPECT_EQ(content_hash(one), content_hash(other));
    EXPECT_EQ(print(one), print(other));
}

TEST(Canonical, OfACanonicalGraphIsTheSame) {
    const Graph graph = example();
    EXPECT_EQ(print(canonical(graph)), print(graph));
    EXPECT_EQ(content_hash(canonical(graph)), content_hash(graph));
}

TEST(Canonical, LongChainsDoNotOverflowTheStack) {
    Trace trace("deep");
    Tensor x = trace.input("x", {1});
    for (int i = 0; i < 200000; ++i) x = neg(x);
    trace.output("y", x);
    EXPECT_EQ(canonical(trace.graph()).nodes.size(), 200000u);
}

TEST(ContentHash, SeesEverythingButFirstContentsOfParams) {
    const auto hash = [](double constant, double first, const Shape& shape, const char* name,
                         int64_t axis) {
        return content_hash(graph_of([&](Trace& t) {
            const Tensor w = t.param("w", {3}, Init::constant(first));
            t.output(name, softmax(t.input("x", shape) * w + constant, axis));
        }));
    };
    const uint64_t base = hash(1, 1, {3, 3}, "y", 1);
    EXPECT_EQ(base, hash(1, 2, {3, 3}, "y", 1));
    EXPECT_NE(base, hash(2, 1, {3, 3}, "y", 1));
    EXPECT_NE(base, hash(1, 1, {kBatch, 3}, "y", 1));
    EXPECT_NE(base, hash(1, 1, {3, 3}, "z", 1));
    EXPECT_NE(base, hash(1, 1, {3, 3}, "y", 0));
}

TEST(ReadersOf, CountsANodeOnceHoweverOftenItReads) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {2});
        t.output("y", x * x + x);
    });
    const auto readers = readers_of(graph);
    EXPECT_EQ(readers[graph.find("x")], (std::vector<NodeId>{0, 1}));
    EXPECT_EQ(leaves_graph(graph)[graph.outputs[0].value], true);
    EXPECT_EQ(leaves_graph(graph)[graph.find("x")], false);
}

// Each way of breaking a graph, and what verify says.
struct Damage {
    const char* name;
    void (*apply)(Graph&);
    const char* message;
};

class VerifyGraph : public testing::TestWithParam<Damage> {};

TEST_P(VerifyGraph, FindsTheDamage) {
    Graph graph = example();
    ASSERT_TRUE(verify(graph).ok());
    GetParam().apply(graph);
    const Status status = verify(graph);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find(GetParam().message), std::string::npos) << status.message();
}

constexpr Damage kDamages[] = {
    {"AShapeThatNoRuleGives",
     [](Graph& g) {
         g.values[3].shape = Shape{kBatch, 9};
     },
     "output is f32[batch, 9], its rule says f32[batch, 2]"},
    {"ATypeThatNoRuleGives", [](Graph& g) { g.values[3].dtype = DType::kI32; }, "its rule says"},
    {"AReadOfAMissingValue", [](Graph& g) { g.nodes[0].inputs[0] = 99; }, "reads a missing value"},
    {"AReadBeforeItIsComputed",
     [](Graph& g) { std::swap(g.nodes[0].inputs[0], g.nodes[1].inputs[0]); },
     "before it is computed"},
    {"TwoProducers", [](Graph& g) { g.nodes[2].outputs[0] = g.nodes[1].outputs[0]; },
     "is not an output of its producer"},
    {"AProducerThatIsNotThere", [](Graph& g) { g.values[2].node = 99; }, "has no producer"},
    {"AnInputWithoutName", [](Graph& g) { g.values[0].name.clear(); }, "without name"},
    {"AConstantWithoutData", [](Graph& g) { g.values[7].data = nullptr; },
     "is a constant without data"},
    {"DataOfAnotherShape",
     [](Graph& g) { g.values[7].data = std::make_shared<const HostTensor>(DType::kF32, Shape{2}); },
     "but its data is f32[2]"},
    {"TwoSymbolicExtents",
     [](Graph& g) {
         g.values[0].shape = Shape{kBatch, kBatch};
     },
     "more than one symbolic extent"},
    {"ANegativeExtent",
     [](Graph& g) {
         g.values[0].shape = Shape{kBatch, -3};
     },
     "negative extent"},
    {"AnOutputThatIsNotThere", [](Graph& g) { g.outputs[0].value = 99; }, "names a missing value"},
    {"AnOutputBehindTheLastValue",
     [](Graph& g) { g.outputs[0].value = static_cast<ValueId>(g.values.size()); },
     "names a missing value"},
    {"MoreNamesThanElements",
     [](Graph& g) {
         g.outputs[0].scalars = {"a", "b"};
     },
     "has 2 names for [batch]"},
    {"AnUpdateByAValueBehindTheLast",
     [](Graph& g) { g.updates[0].value = static_cast<ValueId>(g.values.size()); },
     "an update names a missing value"},
    {"AnUpdateOfAValueBehindTheLast",
     [](Graph& g) { g.updates[0].target = static_cast<ValueId>(g.values.size()); },
     "an update names a missing value"},
    {"AnUpdateOfAnotherType",
     [](Graph& g) {
         Value v = g.values[7];
         v.dtype = DType::kI32;
         v.data = std::make_shared<const HostTensor>(DType::kI32, Shape{});
         g.updates[0].value = static_cast<ValueId>(g.values.size());
         g.values.push_back(v);
     },
     "is i32[], the target is f32[]"},
    {"AnUpdateOfAConstant", [](Graph& g) { g.updates[0].target = 7; },
     "must be a param, state or input"},
    {"AnUpdateOfAnotherShape", [](Graph& g) { g.updates[0].value = 3; }, "the target is f32[]"},
    {"AMissingAttribute", [](Graph& g) { g.nodes[2].attrs = Attrs(); },
     "needs the attribute 'axes'"},
    {"AnAxisOutOfRange", [](Graph& g) { g.nodes[2].attrs.set("axes", std::vector<int64_t>{2}); },
     "axis 2 of a tensor of rank 2"},
};

INSTANTIATE_TEST_SUITE_P(Each, VerifyGraph, testing::ValuesIn(kDamages),
                         [](const auto& damage) { return std::string(damage.param.name); });

TEST(FindValue, IsByNameOfLeavesAlone) {
    Graph graph = graph_of([](Trace& t) { t.output("y", exp(t.input("x", {2}))); });
    EXPECT_EQ(graph.find("x"), graph.inputs[0]);
    EXPECT_EQ(graph.find("y"), kInvalidId);
    EXPECT_EQ(graph.find(""), kInvalidId);
}

TEST(OpTable, FindsRecordsByNameOnly) {
    ASSERT_NE(find_op("relu"), nullptr);
    EXPECT_EQ(find_op("relu")->name, "relu");
    EXPECT_EQ(find_op("no such operator"), nullptr);
}

}  // namespace
}  // namespace hearth
