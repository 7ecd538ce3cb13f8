// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products that read f16 and accumulate in f32: where casts go and what they cost, and that device,
// planned program and interpreter agree, forward and backward, with and without 16-bit storage.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "compiler/passes/pass.hpp"
#include "support/device_caps.hpp"
#include "support/random_tensor.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/grad.hpp>
#include <hearth/loss.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

/// A convolution with padding, a constant matrix and a layer, trained; odd extents.
Result<Graph> training_graph() {
    Trace trace("learn");
    Tensor x = trace.input("image", {kBatch, 3, 7, 5});
    const Tensor filters =
        trace.param("filters", {9, 3, 3, 3}, Init::from(random_tensor({9, 3, 3, 3}, 1, 0.3)));
    x = relu(conv(x, filters, {}, {.pad_begin = {1, 1}, .pad_end = {1, 1}}));
    x = reshape(x, {kBatch, 9 * 7 * 5});
    x = relu(matmul(x, trace.constant(random_tensor({315, 33}, 2, 0.1))));
    const Tensor y = nn::linear(trace, "last", x, 10, {.seed = 4});
    const Tensor loss = mse_loss(y, trace.input("target", {kBatch, 10}));
    const std::vector<Tensor> gradients =
        minimize(loss, trace.params(), SgdOptions{.learning_rate = 0.1});
    trace.output("y", y);
    trace.output("loss", loss);
    for (size_t i = 0; i < gradients.size(); ++i)
        trace.output("gradient " + std::to_string(i), gradients[i]);
    return trace.build();
}

NamedTensors training_inputs(int64_t rows) {
    return {{"image", random_tensor({rows, 3, 7, 5}, 9)},
            {"target", random_tensor({rows, 10}, 10)}};
}

size_t count_of(const Graph& graph, std::string_view op) {
    return static_cast<size_t>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                             [&](const Node& n) { return n.op->name == op; }));
}

/// The largest difference in units of the largest element.
double relative_error(const HostTensor& found, const HostTensor& expected) {
    double off = 0, largest = 1e-30;
    for (int64_t i = 0; i < expected.element_count(); ++i) {
        off = std::max(off, std::abs(found.get(i) - expected.get(i)));
        largest = std::max(largest, std::abs(expected.get(i)));
    }
    return off / largest;
}

Result<Graph> mixed(const Graph& graph) {
    const PassOptions options{.precision = Precision::kF16};
    HEARTH_ASSIGN(const Graph flat, decompose(graph, options));
    return mix_precision(flat, options);
}

TEST(MixPrecision, RoundsEachTensorOnceForAllProducts) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 8}), w = trace.param("w", {8, 8});
    // w as it is and transposed, x twice.
    trace.output("y", matmul(x, w) + matmul(x, transpose(w)));
    const auto graph = mixed(trace.build().value());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(count_of(*graph, "cast"), 2u);
    for (const Node& node : graph->nodes) {
        if (node.op->name != "matmul") continue;
        EXPECT_TRUE(node.attrs.flag("wide"));
        EXPECT_EQ(graph->value(node.inputs[0]).dtype, DType::kF16);
        EXPECT_EQ(graph->value(node.inputs[1]).dtype, DType::kF16);
        EXPECT_EQ(graph->value(node.outputs[0]).dtype, DType::kF32);
    }
}

TEST(MixPrecision, ReadsWhatIsF16AlreadyAndLeavesOtherTypesAlone) {
    Trace trace("act");
    const Tensor x = trace.input("x", {kBatch, 8}, DType::kF16);
    const Tensor w = trace.constant(random_tensor({8, 8}, 1));
    trace.output("y", matmul(cast(x, DType::kF32), w));
    const Tensor i = trace.input("i", {kBatch, 8}, DType::kI32);
    trace.output("products", matmul(i, i, true, false));
    const auto graph = mixed(trace.build().value());
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    EXPECT_EQ(count_of(*graph, "cast"), 0u) << print(*graph);
    EXPECT_EQ(count_of(*graph, "matmul"), 2u);
}

class MixedPrecision : public VulkanTest {
  protected:
    CompileOptions options() {
        CompileOptions options;
        const auto caps = device().caps();
        EXPECT_TRUE(caps.ok());
        options.caps = *caps;
        options.max_batch_size = 11;
        options.precision = Precision::kF16;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        return options;
    }
};

TEST_F(MixedPrecision, IsWithinTheErrorOfF16AndTheSameEverywhere) {
    constexpr int64_t kBatchSize = 6;
    const Graph graph = training_graph().value();
    const NamedTensors inputs = training_inputs(kBatchSize);
    NamedTensors weights, mixed_weights;
    const auto exact = interpret(graph, inputs, weights, kBatchSize);
    const auto expected = interpret(mixed(graph).value(), inputs, mixed_weights, kBatchSize);
    ASSERT_TRUE(exact.ok() && expected.ok());
    for (const bool has_storage : {true, false}) {
        SCOPED_TRACE(has_storage ? "16 bits" : "32 bits");
        CompileOptions settings = options();
        if (!has_storage) settings.caps = without_narrow_storage(settings.caps);
        const auto compiled = compile_graphs({graph}, settings);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        const auto found = (*runner)->run("learn", kBatchSize, inputs);
        ASSERT_TRUE(found.ok()) << found.status().message();
        ProgramMemory memory(compiled->program);
        const auto planned = run_program(compiled->program, "learn", compiled->graphs[0], inputs,
                                         memory, kBatchSize);
        ASSERT_TRUE(planned.ok()) << planned.status().message();
        for (const auto& [name, value] : *expected) {
            // An f16 has 11 bits.  Sums of different order may fall to either side of a middle.
            EXPECT_LE(relative_error(value, exact->at(name)), 0x1p-7) << name;
            EXPECT_LE(relative_error(found->at(name), value), 0x1p-10) << name;
            EXPECT_LE(relative_error(planned->at(name), value), 0x1p-10) << name;
        }
        EXPECT_NE(found->at("y"), exact->at("y"));
    }
}

TEST_F(MixedPrecision, TakesNoMoreDispatchesThanF32) {
    const Graph graph = training_graph().value();
    for (const bool fused_networks : {true, false}) {
        CompileOptions settings = options();
        settings.fuse_mlp = fused_networks ? FuseMlp::kAlways : FuseMlp::kNever;
        const auto narrow = compile_graphs({graph}, settings);
        settings.precision = Precision::kF32;
        const auto wide = compile_graphs({graph}, settings);
        ASSERT_TRUE(narrow.ok() && wide.ok());
        EXPECT_LE(describe(narrow->program).dispatch_count, describe(wide->program).dispatch_count);
    }
}

}  // namespace
}  // namespace hearth::test
