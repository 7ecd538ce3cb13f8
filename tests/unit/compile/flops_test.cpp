// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Steps tell how much arithmetic they are: budgets and estimates add it up, whatever was fused.

#include "compiler/driver/compile.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

constexpr uint64_t kCapacity = 256;
const std::vector<int64_t> kWidths = {64, 48, 3};
constexpr int64_t kInputs = 8;

Tensor net(Trace& t, const Tensor& x) {
    return nn::mlp(t, "net", x, kWidths, relu, {.seed = 1});
}

/// Multiplications and additions of the products, forward.
uint64_t product_flops() {
    uint64_t flops = 0;
    int64_t before = kInputs;
    for (const int64_t width : kWidths) {
        flops += 2 * kCapacity * static_cast<uint64_t>(before * width);
        before = width;
    }
    return flops;
}

struct Counted {
    uint64_t flops = 0;
    size_t dispatches = 0;
    size_t silent = 0;  ///< dispatches that compute something and count nothing
};

Counted count(Trace& trace, bool fuse) {
    auto graph = std::move(trace).build();
    EXPECT_TRUE(graph.ok()) << graph.status().message();
    std::vector<Graph> graphs;
    graphs.push_back(std::move(graph).value());
    CompileOptions options;
    options.max_batch_size = kCapacity;
    options.fuse = fuse;
    const auto compiled = compile_graphs(std::move(graphs), options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    Counted counted;
    for (const Command& step : compiled->program.commands) {
        if (step.kind != CommandKind::kDispatch) continue;
        counted.flops += step.flops;
        ++counted.dispatches;
        counted.silent += step.flops == 0 && !step.computes.empty();
    }
    return counted;
}

TEST(Flops, ANetworkInOneDispatchCountsWhatItsLayersDo) {
    const auto act = [](bool fuse) {
        Trace t("act");
        t.output("y", net(t, t.input("x", {kBatch, kInputs})));
        return count(t, fuse);
    };
    const Counted fused = act(true), apart = act(false);
    ASSERT_EQ(fused.dispatches, 1u);
    EXPECT_GE(fused.flops, product_flops());
    EXPECT_LE(static_cast<double>(fused.flops), 1.1 * static_cast<double>(product_flops()));
    EXPECT_GE(apart.flops, product_flops());
    EXPECT_EQ(fused.silent + apart.silent, 0u);
}

TEST(Flops, ATrainingStepCountsItsGradientsAndItsUpdate) {
    const auto learn = [](bool fuse) {
        Trace t("learn");
        const Tensor y = net(t, t.input("x", {kBatch, kInputs}));
        const Tensor loss = mse_loss(y, t.input("target", {kBatch, kWidths.back()}));
        minimize(loss, t.params(), AdamOptions{});
        t.output("loss", loss);
        return count(t, fuse);
    };
    const Counted fused = learn(true), apart = learn(false);
    ASSERT_LT(fused.dispatches, apart.dispatches);
    // Each layer's weight gradient is as much as the layer, and so is each gradient of an input but
    // the first.
    const uint64_t first = 2 * kCapacity * static_cast<uint64_t>(kInputs * kWidths[0]);
    const uint64_t least = 3 * product_flops() - first;
    EXPECT_GE(fused.flops, least);
    EXPECT_LE(static_cast<double>(fused.flops), 1.3 * static_cast<double>(least));
    EXPECT_GE(apart.flops, least);
    EXPECT_EQ(fused.silent + apart.silent, 0u);
}

}  // namespace
}  // namespace hearth::test
