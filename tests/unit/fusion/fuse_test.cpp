// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which nodes become one kernel, and which values are computed again by each reader.

#include "compiler/fusion/fuse.hpp"

#include "compiler/passes/pass.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <set>

namespace hearth::test {
namespace {

/// Without composites, as fuse() wants it.
Graph graph_of(Trace& trace) {
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    auto plain = decompose(*graph);
    EXPECT_TRUE(plain.ok()) << plain.status().message();
    return std::move(plain).value();
}

/// "exp+mul" of a group's nodes.
std::string names_of(const Graph& graph, const Group& group) {
    std::string names;
    for (const NodeId n : group.nodes)
        names += (names.empty() ? "" : "+") + std::string(graph.nodes[n].op->name);
    return names;
}

/// What holds for every plan: each node is in one group or computed again by its readers, and
/// groups read what leaves or earlier groups have stored.
void expect_sound(const Graph& graph, const FusionPlan& plan) {
    std::vector<int> homes(graph.nodes.size(), 0);
    std::set<ValueId> stored;
    for (const Group& group : plan.groups) {
        EXPECT_TRUE(std::ranges::is_sorted(group.nodes));
        for (const NodeId n : group.nodes) ++homes[n];
        for (const ValueId v : loads_of(graph, group, plan.inlined))
            EXPECT_TRUE(graph.value(v).kind != ValueKind::kNode || stored.contains(v))
                << names_of(graph, group) << " reads value " << v << " before it is stored";
        stored.insert(group.stores.begin(), group.stores.end());
    }
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        EXPECT_TRUE(homes[n] == 1 || (homes[n] == 0 && plan.inlined[n]))
            << graph.nodes[n].op->name << " is in " << homes[n] << " groups";
    for (const GraphOutput& output : graph.outputs)
        EXPECT_TRUE(graph.value(output.value).kind != ValueKind::kNode ||
                    stored.contains(output.value));
}

FusionPlan fused(const Graph& graph, const FusionOptions& options = {}) {
    FusionPlan plan = fuse(graph, options);
    expect_sound(graph, plan);
    return plan;
}

TEST(Fuse, AChainOfArithmeticIsOneElementwiseGroup) {
    Trace t("act");
    t.output("y", tanh(exp(t.input("x", {kBatch, 5})) * 2) + 1);
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph);
    ASSERT_EQ(plan.groups.size(), 1u);
    EXPECT_EQ(plan.groups[0].kind, GroupKind::kElementwise);
    EXPECT_EQ(plan.groups[0].space, (Shape{kBatch, 5}));
    EXPECT_EQ(plan.groups[0].stores, std::vector<ValueId>{graph.outputs[0].value});
}

TEST(Fuse, SoftmaxIsOneReduction) {
    Trace t("act");
    t.output("p", softmax(t.input("x", {kBatch, 10}), -1));
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph);
    ASSERT_EQ(plan.groups.size(), 1u);
    EXPECT_EQ(plan.groups[0].kind, GroupKind::kReduction);
    EXPECT_EQ(plan.groups[0].axes, std::vector<int64_t>{1});
    EXPECT_EQ(plan.groups[0].stores.size(), 1u) << "maximum and sum stay in the kernel";
}

TEST(Fuse, SoftmaxOfLongRowsIsReadAgainByEachPhase) {
    Trace t("act");
    t.output("p", softmax(t.input("x", {2, 10000}), -1));
    EXPECT_GT(fused(graph_of(t)).groups.size(), 1u);
}

TEST(Fuse, AProductTakesWhatFollowsIt) {
    Trace t("act");
    t.output("y", relu(nn::linear(t, "layer", t.input("x", {kBatch, 8}), 16)));
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph);
    ASSERT_EQ(plan.groups.size(), 1u);
    EXPECT_EQ(plan.groups[0].kind, GroupKind::kMatmul);
}

TEST(Fuse, ProductsAreGroupsOfTheirOwn) {
    Trace t("act");
    t.output("y", nn::mlp(t, "net", t.input("x", {kBatch, 8}), {16, 16, 4}, relu));
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph);
    ASSERT_EQ(plan.groups.size(), 3u);
    for (const Group& group : plan.groups) EXPECT_EQ(group.kind, GroupKind::kMatmul);
}

TEST(Fuse, ViewsAreComputedAgainByTheirReaders) {
    Trace t("act");
    t.output("y", exp(transpose(t.input("x", {3, 4}), {1, 0})));
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph);
    ASSERT_EQ(plan.groups.size(), 1u);
    EXPECT_EQ(names_of(graph, plan.groups[0]), "exp");
    EXPECT_TRUE(plan.inlined[0]);
}

TEST(Fuse, WhatReadersNeedAtOtherElementsIsStored) {
    Trace t("act");
    const Tensor e = exp(t.input("x", {4, 4}));
    t.output("y", e + transpose(e, {1, 0}));
    const FusionPlan plan = fused(graph_of(t));
    EXPECT_EQ(plan.groups.size(), 2u);
}

TEST(Fuse, WhatIsGatheredForArithmeticIsStoredOnRequest) {
    Trace t("act");
    const Tensor places = t.input("places", {kBatch, 3}, DType::kI32);
    t.output("y", exp(gather_elements(t.input("x", {kBatch, 8}), places, 1)) * 2);
    const Graph graph = graph_of(t);
    EXPECT_EQ(fused(graph).groups.size(), 1u);
    const FusionPlan apart = fused(graph, {.store_gathered = true});
    ASSERT_EQ(apart.groups.size(), 2u);
    EXPECT_EQ(names_of(graph, apart.groups[0]), "gather_elements");
    EXPECT_EQ(names_of(graph, apart.groups[1]), "exp+mul");
}

TEST(Fuse, ArithmeticOnSingleNumbersIsComputedAgain) {
    Trace t("act");
    const Tensor scale = sqrt(t.input("scale", Shape{}) + 1);
    t.output("y", t.input("x", {100}) * scale);
    t.output("z", t.input("u", {7}) * scale);
    EXPECT_EQ(fused(graph_of(t)).groups.size(), 2u);
}

TEST(Fuse, NodesAreAloneWhereFusionIsOff) {
    Trace t("act");
    t.output("y", exp(t.input("x", {kBatch, 5})) * 2);
    const Graph graph = graph_of(t);
    FusionOptions options;
    options.enabled = false;
    const FusionPlan plan = fused(graph, options);
    for (const Group& group : plan.groups) EXPECT_EQ(group.nodes.size(), 1u);
}

TEST(Fuse, AKernelTouchesNoMoreBuffersThanItMay) {
    Trace t("act");
    Tensor sum = exp(t.input("x0", {64}));
    for (int i = 1; i < 30; ++i) sum = sum + t.input("x" + std::to_string(i), {64});
    t.output("y", sum);
    const Graph graph = graph_of(t);
    const FusionPlan plan = fused(graph, {.max_operands = 30, .max_bound = 9});
    EXPECT_GT(plan.groups.size(), 3u);
    for (const Group& group : plan.groups)
        EXPECT_LE(loads_of(graph, group, plan.inlined).size() + group.stores.size(), 8u);
}

TEST(Fuse, GroupsOfARegionHoldNothingElse) {
    Trace t("learn");
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 5}), {8, 3}, tanh);
    const Tensor loss = mse_loss(y, t.input("target", {kBatch, 3}));
    const std::vector<Tensor> gradients = grad(loss, t.params());
    for (size_t i = 0; i < gradients.size(); ++i)
        t.output("g" + std::to_string(i), gradients[i] * 0.5);
    const Graph graph = graph_of(t);
    const RowRegion region = find_row_region(graph);
    ASSERT_FALSE(region.empty());
    const FusionPlan plan = fused(graph, {.any_operands = true, .region = region});
    for (const Group& group : plan.groups)
        for (const NodeId n : group.nodes)
            EXPECT_EQ(region.has(n), group.in_region) << names_of(graph, group);
}

TEST(Fuse, OnlyAProductThatCanTakesTheNormAheadOfIt) {
    Trace t("act");
    const Tensor x = nn::layer_norm(t, "norm", t.input("x", {32, 64}));
    t.output("y", nn::linear(t, "layer", x, 16));
    const Graph graph = graph_of(t);
    FusionOptions options;
    const size_t without = fused(graph, options).groups.size();
    for (const Node& node : graph.nodes)
        options.folds_rows.push_back(node.op->op_class == OpClass::kMatmul);
    EXPECT_EQ(fused(graph, options).groups.size(), 1u);
    EXPECT_GT(without, 1u);
}

}  // namespace
}  // namespace hearth::test
