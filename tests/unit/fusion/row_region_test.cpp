// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which part of a graph treats each row alone, and whether that may become one kernel.

#include "compiler/fusion/row_region.hpp"

#include "compiler/passes/pass.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

Graph graph_of(Trace& trace, const PassOptions& options = {}) {
    auto graph = trace.build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    auto plain = run_passes(*graph, options);
    EXPECT_TRUE(plain.ok()) << plain.status().message();
    return std::move(plain).value();
}

size_t count_of(const Graph& graph, const RowRegion& region, OpClass op_class) {
    return static_cast<size_t>(std::ranges::count_if(
        region.nodes, [&](NodeId n) { return graph.nodes[n].op->op_class == op_class; }));
}

TEST(RowRegion, HasTheLayersOfANetworkThatActs) {
    Trace t("act");
    t.output("y", nn::mlp(t, "net", t.input("x", {kBatch, 5}), {8, 8, 3}, relu));
    const Graph graph = graph_of(t);
    const RowRegion region = find_row_region(graph);
    EXPECT_EQ(region.rows, kBatch);
    EXPECT_EQ(region.window, 1);
    EXPECT_EQ(count_of(graph, region, OpClass::kMatmul), 3u);
    EXPECT_TRUE(std::ranges::is_sorted(region.nodes));
}

TEST(RowRegion, EndsInSumsOverTheRowsWhereItLearns) {
    Trace t("learn");
    const Tensor y = nn::linear(t, "net", t.input("x", {kBatch, 5}), 3);
    const Tensor loss = mse_loss(tanh(y), t.input("target", {kBatch, 3}));
    const std::vector<Tensor> gradients = grad(loss, t.params());
    ASSERT_EQ(gradients.size(), 2u);
    t.output("weight", gradients[0]);
    t.output("bias", gradients[1]);
    PassOptions options;
    options.max_batch_size = 1000;
    const Graph graph = graph_of(t, options);
    const RowRegion region = find_row_region(graph);
    const auto sums = std::ranges::count_if(
        region.nodes, [&](NodeId n) { return sums_rows(graph, graph.nodes[n], region.rows); });
    EXPECT_EQ(sums, 2) << "of the weight's and of the bias's gradient";
    for (const NodeId n : region.nodes)
        for (const ValueId v : graph.nodes[n].inputs) {
            const Node* maker = graph.producer(v);
            EXPECT_FALSE(maker != nullptr && region.has(graph.value(v).node) &&
                         sums_rows(graph, *maker, region.rows))
                << graph.nodes[n].op->name << " of the region reads a sum over its rows";
        }
}

TEST(RowRegion, LeavesOutWhatMixesRows) {
    Trace t("act");
    const Tensor y = nn::linear(t, "net", t.input("x", {kBatch, 5}), 3);
    t.output("centred", exp(y - mean(y, {0}, true)));
    const Graph graph = graph_of(t);
    const RowRegion region = find_row_region(graph);
    ASSERT_FALSE(region.empty());
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        EXPECT_FALSE(graph.nodes[n].op->name == "exp" && region.has(n));
}

TEST(RowRegion, IsNoneWithoutAProductOfTheRows) {
    Trace t("act");
    t.output("y", softmax(exp(t.input("x", {kBatch, 5})), -1));
    EXPECT_TRUE(find_row_region(graph_of(t)).empty());
    Trace fixed("act");
    fixed.output("y", matmul(fixed.param("a", {4, 5}, Init::uniform(-1, 1)),
                             fixed.param("b", {5, 3}, Init::uniform(-1, 1))));
    EXPECT_TRUE(find_row_region(graph_of(fixed)).empty());
}

TEST(RowRegion, OfAGruHasItsWindows) {
    Trace t("act");
    const Tensor h =
        nn::gru(t, "gru", t.input("x", {kBatch, 4, 6}), 8, {.h = t.input("h", {1, kBatch, 8})})
            .output;
    t.output("y", nn::linear(t, "head", reshape(h, {Dim(4, true), 8}), 2));
    const Graph graph = graph_of(t);
    const RowRegion region = find_row_region(graph);
    EXPECT_EQ(region.rows, Dim(4, true));
    EXPECT_EQ(region.window, 4);
    EXPECT_TRUE(
        std::ranges::any_of(region.nodes, [&](NodeId n) { return walks_windows(graph.nodes[n]); }));
}

TEST(RowRegion, OfAWideLayerIsRefusedByItsWidths) {
    const auto checked = [](int64_t inner, int64_t outer) {
        Trace t("act");
        t.output("y", nn::linear(t, "net", t.input("x", {kBatch, inner}), outer));
        // Later passes split the sums of layers that are refused.
        const Graph graph = decompose(t.build().value()).value();
        return check_row_layers(graph, find_row_region(graph), 100, baseline_caps());
    };
    EXPECT_TRUE(checked(512, 256).ok());
    EXPECT_EQ(checked(513, 4).message(), "a layer from 513 to 4 is wider than 512 to 256");
    EXPECT_EQ(checked(4, 257).message(), "a layer from 4 to 257 is wider than 512 to 256");
}

TEST(RowRegion, RunsOnMatricesOfEachShapeWhereItsProductsReadHalves) {
    const auto fits = [](Precision precision, MatrixShape matrix) {
        PassOptions options;
        options.precision = precision;
        options.caps = baseline_caps();
        options.caps.shader_float16 = options.caps.storage_buffer_16bit_access = true;
        options.caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
        options.caps.cooperative_matrix_shape = matrix;
        Trace t("act");
        t.output("y", nn::mlp(t, "net", t.input("x", {kBatch, 16}), {32, 16}, relu));
        const Graph graph = graph_of(t, options);
        return fits_matrix_cores(graph, find_row_region(graph), options.caps);
    };
    for (const MatrixShape matrix :
         {MatrixShape{16, 16, 16}, MatrixShape{8, 16, 16}, MatrixShape{8, 8, 16}}) {
        EXPECT_TRUE(fits(Precision::kF16, matrix));
        EXPECT_FALSE(fits(Precision::kF32, matrix));
    }
    EXPECT_FALSE(fits(Precision::kF16, {4, 16, 16})) << "lines of 16 bytes are loaded";
    EXPECT_FALSE(fits(Precision::kF16, {16, 64, 16})) << "tiles of so many rows do not fit";
}

}  // namespace
}  // namespace hearth::test
