// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/interpreter/interpreter.hpp"

#include "compiler/ops/op_table.hpp"
#include "support/build_graphs.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <cmath>

namespace hearth {
namespace {

using test::graph_of;

HostTensor f32(const Shape& shape, std::vector<double> values) {
    return HostTensor::of(shape, values);
}

TEST(Interpret, UpdatesShowInTheNextRunOnly) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor count = t.state("count", {});
        t.output("before", count);
        t.assign(count, count + 1.0);
    });
    NamedTensors weights;
    for (int i = 0; i < 3; ++i) {
        const auto outputs = interpret(graph, {}, weights);
        ASSERT_TRUE(outputs.ok());
        EXPECT_EQ(outputs->at("before").get(0), i);
        EXPECT_EQ(weights.at("count").get(0), i + 1);
    }
}

TEST(Interpret, TwoStatesThatSwapBothGetTheOthersOldContents) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor a = t.state("a", {}, Init::constant(1)),
                     b = t.state("b", {}, Init::constant(2));
        t.assign(a, b);
        t.assign(b, a);
    });
    NamedTensors weights;
    ASSERT_TRUE(interpret(graph, {}, weights).ok());
    EXPECT_EQ(weights.at("a").get(0), 2);
    EXPECT_EQ(weights.at("b").get(0), 1);
}

TEST(Interpret, GivenWeightsWinOverFirstContents) {
    const Graph graph =
        graph_of([](Trace& t) { t.output("y", t.param("w", {2}, Init::constant(1)) * 10.0); });
    NamedTensors weights{{"w", f32({2}, {3, 4})}};
    const auto outputs = interpret(graph, {}, weights);
    ASSERT_TRUE(outputs.ok());
    EXPECT_EQ(outputs->at("y"), f32({2}, {30, 40}));
}

TEST(Interpret, OneGraphServesAnyNumberOfRows) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 2});
        t.output("mean", mean(x, {0}));
        t.output("flat", flatten(x));
    });
    for (const int64_t rows : {1, 2, 7}) {
        HostTensor x(DType::kF32, {rows, 2});
        for (int64_t i = 0; i < 2 * rows; ++i) x.set(i, static_cast<double>(i));
        NamedTensors weights;
        const auto outputs = interpret(graph, {{"x", x}}, weights, rows);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        EXPECT_EQ(outputs->at("mean"),
                  f32({2}, {static_cast<double>(rows - 1), static_cast<double>(rows)}));
        EXPECT_EQ(outputs->at("flat").shape(), (Shape{2 * rows}));
    }
}

TEST(Interpret, NoRowsGiveEmptyResults) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {kBatch, 2});
        t.output("y", relu(x));
        t.output("sum", sum(x, {0}));
    });
    NamedTensors weights;
    const auto outputs = interpret(graph, {{"x", HostTensor(DType::kF32, {0, 2})}}, weights, 0);
    ASSERT_TRUE(outputs.ok()) << outputs.status().message();
    EXPECT_EQ(outputs->at("y").element_count(), 0);
    EXPECT_EQ(outputs->at("sum"), f32({2}, {0, 0}));
}

TEST(Interpret, ErrorsNameTheTensorAndBothTypes) {
    const Graph graph = graph_of([](Trace& t) {
        t.output("y", t.input("x", {kBatch, 2}) * t.param("w", {2}));
    });
    NamedTensors weights;
    EXPECT_EQ(interpret(graph, {}, weights).status().message(), "input 'x' is missing");
    EXPECT_EQ(interpret(graph, {{"x", f32({2, 2}, {1, 2, 3, 4})}}, weights, 3).status().message(),
              "'x' is f32[batch, 2] with 3 rows, found f32[2, 2]");
    NamedTensors wrong{{"w", HostTensor(DType::kF32, {3})}};
    EXPECT_EQ(interpret(graph, {{"x", f32({1, 2}, {1, 2})}}, wrong).status().message(),
              "'w' is f32[2] with 1 rows, found f32[3]");
    EXPECT_EQ(
        interpret(graph, {{"x", HostTensor(DType::kI32, {3, 2})}}, weights, 3).status().message(),
        "'x' is f32[batch, 2] with 3 rows, found i32[3, 2]");
    EXPECT_EQ(evaluate(graph, {}).status().message(), "the graph has 1 inputs, found 0");
}

TEST(Interpret, RoundsEveryResultToItsType) {
    const Graph graph = graph_of([](Trace& t) {
        // 16777217 is no f32; in double the sum of both would be 1.
        const Tensor x = t.input("x", {});
        t.output("y", (x + 1.0) - x);
    });
    const std::vector<HostTensor> inputs{HostTensor::scalar(16777216)};
    EXPECT_EQ((*evaluate(graph, inputs))[0].get(0), 0);
}

TEST(Interpret, SumsInDoubleAndRoundsOnce) {
    HostTensor x(DType::kF32, {10000});
    for (int64_t i = 0; i < x.element_count(); ++i) x.set(i, 0.1f);
    const Graph graph = graph_of([](Trace& t) { t.output("y", sum(t.input("x", {10000}))); });
    const std::vector<HostTensor> inputs{x};
    EXPECT_EQ((*evaluate(graph, inputs))[0].get(0),
              static_cast<double>(static_cast<float>(10000 * static_cast<double>(0.1f))));
}

TEST(Interpret, KeepsLargeIntegersExact) {
    const Graph graph = graph_of([](Trace& t) {
        const Tensor x = t.input("x", {2}, DType::kI64);
        t.output("y", max(x) - 1.0);
    });
    HostTensor x(DType::kI64, {2});
    x.set_int(0, (int64_t{1} << 60) + 1);
    const std::vector<HostTensor> inputs{x};
    EXPECT_EQ((*evaluate(graph, inputs))[0].get_int(0), int64_t{1} << 60);
}

TEST(EvaluateNode, RefusesInputsThatTheOperatorDoesNotTake) {
    const std::vector<HostTensor> inputs{HostTensor(DType::kF32, {2, 3})};
    const auto result =
        evaluate_node(op("reshape"), {{"shape", Shape{4}}}, std::span<const HostTensor>(inputs));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.status().message(), "reshape: cannot make [4] of [2, 3]: 6 elements, not 4");
}

TEST(EvaluateNode, ResolvesRowsInAttributes) {
    const std::vector<HostTensor> inputs{HostTensor::scalar(2)};
    const auto result = evaluate_node(op("expand"), {{"shape", Shape{kBatch, 2}}},
                                      std::span<const HostTensor>(inputs), 3);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ((*result)[0], f32({3, 2}, {2, 2, 2, 2, 2, 2}));
}

}  // namespace
}  // namespace hearth
