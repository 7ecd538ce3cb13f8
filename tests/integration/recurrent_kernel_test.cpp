// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels that go through time, as a GPU gets them: threads that share each unit's products,
// with the weights in registers, alone and as stages of a fused network.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/device_caps.hpp"
#include "support/random_tensor.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>
#include <string>
#include <vector>

namespace hearth::test {
namespace {

struct WindowCase {
    const char* name;
    int64_t windows, length, hidden;
    bool has_resets, has_start;
    /// Whether the kernels are for this shape; otherwise the steps are what runs.
    bool has_kernels = true;
};

const WindowCase kCases[] = {
    {"One", 1, 2, 1, true, true},
    {"Seven", 9, 16, 7, true, false},
    {"Sixteen", 3, 17, 16, false, true},
    {"SixtyFour", 2, 3, 64, true, true},
    {"SixtyFive", 5, 2, 65, true, true},
    {"TwoHundredFiftySix", 1, 2, 256, false, true},
    {"SeveralToAWorkgroup", 300, 2, 9, true, true},
    {"TooWide", 2, 2, 257, true, true, false},
};

class WindowKernel : public VulkanTest, public testing::WithParamInterface<WindowCase> {
  protected:
    void expect_as_the_reference(FuseMlp fused_networks, std::string_view kernel_name,
                                 size_t kernel_count) {
        const WindowCase& c = GetParam();
        const Dim rows(c.windows * c.length);
        Trace trace("run");
        const Tensor x = trace.input("x", {rows, 3});
        nn::RecurrentOptions options{.seed = 3};
        const Tensor start = trace.input("start", {1, c.windows, c.hidden});
        if (c.has_start) options.h = start;
        if (c.has_resets)
            options.episode_starts = greater(trace.input("resets", {c.windows, c.length}), 0.8);
        const Tensor seen = tanh(nn::linear(trace, "in", x, 4));
        const Tensor h =
            nn::gru(trace, "gru", reshape(seen, {c.windows, c.length, 4}), c.hidden, options)
                .output;
        // Of the result's elements, each with a weight of its own.
        const Tensor loss =
            mean(reshape(h, {rows, c.hidden}) * trace.input("weight", {rows, c.hidden}));
        trace.output("h", h);
        std::vector<Tensor> wrt = trace.params();
        if (c.has_start) wrt.push_back(start);
        const std::vector<Tensor> gradients = grad(loss, wrt);
        for (size_t g = 0; g < gradients.size(); ++g)
            trace.output("gradient" + std::to_string(g), gradients[g]);
        const Graph graph = trace.build().value();

        CompileOptions compile_options{.caps = device().caps().value(), .fuse_mlp = fused_networks};
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            compile_options.binding_model = BindingModel::kDescriptor;
        compile_options.caps.device_type = DeviceType::kOther;
        compile_options.caps.name = "H200";  // kernels of any size
        compile_options.caps = without_matrix_cores(compile_options.caps);
        const auto compiled = compile_graphs({graph}, compile_options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        size_t found_kernels = 0;
        for (const Kernel& kernel : compiled->program.kernels)
            found_kernels += kernel.name.starts_with(kernel_name) ? 1 : 0;
        // Of steps some may be a fused network as well.
        if (c.has_kernels || fused_networks == FuseMlp::kNever) {
            EXPECT_EQ(found_kernels, kernel_count);
        }
        const NamedTensors inputs = random_inputs(graph, 1);
        NamedTensors weights;
        const auto expected = interpret(graph, inputs, weights, 1);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        for (int repetition = 0; repetition < 2; ++repetition) {
            const auto found = (*runner)->run("run", 1, inputs);
            ASSERT_TRUE(found.ok()) << found.status().message();
            for (const auto& [name, wanted] : *expected)
                for (int64_t i = 0; i < wanted.element_count(); ++i)
                    // Rounding of a step is passed on to the next ones.
                    ASSERT_NEAR(found->at(name).get(i), wanted.get(i),
                                2e-5 * (1 + std::abs(wanted.get(i))))
                        << name << " " << i;
        }
    }
};

TEST_P(WindowKernel, GoesThroughTimeAsTheStepsDo) {
    expect_as_the_reference(FuseMlp::kNever, "gru_", GetParam().has_kernels ? 2 : 0);
}

TEST_P(WindowKernel, IsAStageOfAFusedNetworkWhereThatFits) {
    // A product to three gates of more than 85 units is wider than fused networks have.
    constexpr int64_t kWidest = 85;
    expect_as_the_reference(FuseMlp::kAlways, "fused_network",
                            GetParam().hidden <= kWidest ? 1 : 0);
}

INSTANTIATE_TEST_SUITE_P(Gru, WindowKernel, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
