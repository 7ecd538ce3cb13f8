// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/passes/fold_weights.hpp"

#include "compiler/interpreter/interpreter.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hearth::test {
namespace {

HostTensor ramp(const Shape& shape) {
    HostTensor t(DType::kF32, shape);
    for (int64_t i = 0; i < t.element_count(); ++i) t.set(i, 0.01 * static_cast<double>(i % 97));
    return t;
}

std::set<std::string> names_of_params(const Graph& graph) {
    std::set<std::string> names;
    for (const Value& v : graph.values)
        if (v.kind == ValueKind::kParam) names.insert(v.name);
    return names;
}

/// x w, with the first and the second half of the rows of w exchanged.
Tensor product_of_exchanged(const Tensor& x, const Tensor& w) {
    return matmul(x, concat({slice(w, 0, 64, 128), slice(w, 0, 0, 64)}, 0));
}

TEST(FoldWeights, WhatIsReorderedAtEachRunIsReorderedOnce) {
    Trace trace("main");
    const Tensor w = trace.param("w", {128, 32}, Init::from(ramp({128, 32})));
    trace.output("y", product_of_exchanged(trace.input("x", {kBatch, 128}), w));
    const Graph graph = trace.build().value();
    const Result<Graph> folded = fold_weights(graph);
    ASSERT_TRUE(folded.ok()) << folded.status().message();
    EXPECT_EQ(folded->nodes.size(), 1u) << print(*folded);
    EXPECT_EQ(names_of_params(*folded), std::set<std::string>{"w.folded"});
    const std::vector<HostTensor> inputs{ramp({3, 128})};
    EXPECT_EQ(evaluate(*folded, inputs, 3).value(), evaluate(graph, inputs, 3).value());
}

TEST(FoldWeights, SeveralResultsOfOneWeightHaveNamesOfTheirOwn) {
    Trace trace("main");
    const Tensor x = trace.input("x", {kBatch, 64});
    const Tensor w = trace.param("w", {128, 32}, Init::from(ramp({128, 32})));
    trace.output("y", matmul(x, neg(slice(w, 0, 0, 64))) + matmul(x, neg(slice(w, 0, 64, 128))));
    const Result<Graph> folded = fold_weights(trace.build().value());
    ASSERT_TRUE(folded.ok()) << folded.status().message();
    EXPECT_EQ(names_of_params(*folded), (std::set<std::string>{"w.folded", "w.folded2"}));
}

TEST(FoldWeights, WeightsThatAreReadElsewhereOrWouldGrowStayAsTheyAre) {
    Trace trace("main");
    const Tensor x = trace.input("x", {kBatch, 128});
    const Tensor twice = trace.param("twice", {128, 32}, Init::from(ramp({128, 32})));
    const Tensor column = trace.param("column", {128, 1}, Init::from(ramp({128, 1})));
    trace.output("a", product_of_exchanged(x, twice) + matmul(x, twice));
    trace.output("b", matmul(x, concat({expand(column, {128, 64}), expand(column, {128, 64})}, 1)));
    const Graph graph = trace.build().value();
    const Result<Graph> folded = fold_weights(graph);
    ASSERT_TRUE(folded.ok()) << folded.status().message();
    EXPECT_EQ(print(*folded), print(graph));
}

TEST(FoldWeights, AGraphThatLearnsStaysAsItIs) {
    Trace trace("main");
    const Tensor w = trace.param("w", {128, 32}, Init::from(ramp({128, 32})));
    trace.output("y", product_of_exchanged(trace.input("x", {kBatch, 128}), w));
    trace.assign(w, w * 0.5);
    const Graph graph = trace.build().value();
    EXPECT_EQ(print(fold_weights(graph).value()), print(graph));
}

}  // namespace
}  // namespace hearth::test
