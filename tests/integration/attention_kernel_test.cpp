// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of attention with the tiles that a GPU gets: sequences that no tile divides, longer
// than one, with heads that are views of a joint product.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/device_caps.hpp"
#include "support/random_tensor.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/grad.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace hearth::test {
namespace {

struct AttentionCase {
    const char* name;
    int64_t heads, key_heads, queries, keys, width, value_width;
    AttentionOptions options;
    DType dtype = DType::kF32;
};

const AttentionCase kCases[] = {
    {"SeveralTiles", 2, 2, 37, 200, 24, 20, {}},
    {"OddWidths", 2, 1, 19, 140, 10, 7, {.causal = true}},
    {"WideHeads", 1, 1, 9, 70, 128, 96, {.softcap = 5}},
    {"Windows", 2, 2, 150, 150, 16, 16, {.causal = true, .left_window = 20}},
    {"Halves", 4, 2, 33, 130, 32, 32, {.causal = true}, DType::kF16},
};

class AttentionKernel : public VulkanTest, public testing::WithParamInterface<AttentionCase> {};

TEST_P(AttentionKernel, WithTilesForAGpuEqualsTheReference) {
    const AttentionCase& c = GetParam();
    Trace trace("run");
    const Dim widths = c.heads * c.width;
    // Queries beside something else, as a joint product has them.
    const Tensor joint = trace.input("joint", {2, c.queries, widths.count + 8}, c.dtype);
    const Tensor q =
        transpose(reshape(slice(joint, 2, 4, 4 + widths.count), {2, c.queries, c.heads, c.width}),
                  {0, 2, 1, 3});
    const Tensor k = trace.input("k", {2, c.key_heads, c.keys, c.width}, c.dtype);
    const Tensor v = trace.input("v", {2, c.key_heads, c.keys, c.value_width}, c.dtype);
    const Tensor y = attention(q, k, v, {}, c.options);
    trace.output("y", y);
    if (c.dtype == DType::kF32) {
        // Of the result's elements, each with a weight of its own.
        const Tensor loss = sum(y * trace.input("weight", y.shape()), {0, 1, 2, 3});
        const std::vector<Tensor> wrt{joint, k, v}, gradients = grad(loss, wrt);
        for (size_t g = 0; g < gradients.size(); ++g)
            trace.output("gradient" + std::to_string(g), gradients[g]);
    }
    const Graph graph = trace.build().value();

    CompileOptions options{.caps = device().caps().value(), .fuse_mlp = FuseMlp::kNever};
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    options.caps.device_type = DeviceType::kOther;
    options.caps = without_matrix_cores(options.caps);
    const auto compiled = compile_graphs({graph}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    size_t kernel_count = 0;
    for (const Kernel& kernel : compiled->program.kernels) {
        if (!kernel.name.starts_with("attention")) continue;
        ++kernel_count;
        EXPECT_EQ(kernel.local_size[0], 256u) << kernel.name;
    }
    EXPECT_EQ(kernel_count, c.dtype == DType::kF32 ? 3u : 1u);
    const NamedTensors inputs = random_inputs(graph, 1, 2);
    NamedTensors weights;
    const auto expected = interpret(graph, inputs, weights, 1);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const auto runner =
        standalone::ProgramRunner::create(device(), save_program(compiled->program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    const auto found = (*runner)->run("run", 1, inputs);
    ASSERT_TRUE(found.ok()) << found.status().message();
    // Results are means of values up to 2, gradients sums of some hundred products.
    const double tolerance = c.dtype == DType::kF16 ? 0x1p-9 : 2e-5;
    for (const auto& [name, wanted] : *expected)
        for (int64_t i = 0; i < wanted.element_count(); ++i)
            ASSERT_NEAR(found->at(name).get(i), wanted.get(i),
                        tolerance * (1 + std::abs(wanted.get(i))))
                << name << " " << i;
}

INSTANTIATE_TEST_SUITE_P(Attention, AttentionKernel, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
