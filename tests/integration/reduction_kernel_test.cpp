// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reductions as GPUs run them, with several threads for each result and folds of blocks behind
// them, which a software driver is spared otherwise.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/grad.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>
#include <hearth/optim.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

constexpr int64_t kRowCount = 69;

class ReductionKernel : public VulkanTest {
  protected:
    /// Runs the graph, compiled for a GPU, twice; compares outputs and weights with the reference.
    void expect_as_the_reference(Trace& trace) {
        const Graph graph = trace.build().value();
        CompileOptions options{.caps = device().caps().value(),
                               .max_batch_size = kRowCount + 1,
                               .fuse_mlp = FuseMlp::kAlways};
        options.caps.device_type = DeviceType::kOther;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto compiled = compile_graphs({graph}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        NamedTensors weights;
        for (int step = 0; step < 2; ++step) {
            const NamedTensors in = inputs(graph, step);
            const auto expected = interpret(graph, in, weights, kRowCount);
            ASSERT_TRUE(expected.ok()) << expected.status().message();
            const auto found = (*runner)->run("run", kRowCount, in);
            ASSERT_TRUE(found.ok()) << found.status().message();
            expect_near(*found, *expected, 1e-5);
        }
        const auto slots = (*runner)->read_variables();
        ASSERT_TRUE(slots.ok());
        // Adam divides by the root of squares: tiny differences of tiny gradients grow.
        expect_near(*slots, weights, 1e-3);
    }

  private:
    static NamedTensors inputs(const Graph& graph, int step) {
        NamedTensors result;
        for (ValueId v : graph.inputs) {
            const Value& value = graph.value(v);
            HostTensor tensor(value.dtype, value.shape.resolve(kRowCount));
            for (int64_t i = 0; i < tensor.element_count(); ++i)
                tensor.set(i, 2 * uniform_from_bits(philox_bits(v, static_cast<uint32_t>(step),
                                                                static_cast<uint32_t>(i))) -
                                  1);
            result.emplace(value.name, std::move(tensor));
        }
        return result;
    }

    static void expect_near(const NamedTensors& found, const NamedTensors& expected,
                            double tolerance) {
        for (const auto& [name, value] : expected) {
            ASSERT_TRUE(found.contains(name)) << "no " << name;
            for (int64_t i = 0; i < value.element_count(); ++i)
                ASSERT_NEAR(found.at(name).get(i), value.get(i),
                            tolerance * std::max(1.0, std::abs(value.get(i))))
                    << name << "[" << i << "]";
        }
    }
};

TEST_F(ReductionKernel, ReducesRowsOfAnyLength) {
    Trace t("run");
    const Tensor x = t.input("x", {kBatch, 100}), y = t.input("y", {13, 70});
    t.output("across, uneven turns", sum(y, {0}));
    t.output("across, largest", max(y, {0}));
    t.output("few terms", min(t.input("z", {kBatch, 3}), {1}));
    t.output("along, two turns", softmax(x, 1));
    t.output("all, four turns", sum(square(y)));
    t.output("all rows", mean(x, {0}));
    t.output("smallest of all rows", min(x));
    expect_as_the_reference(t);
}

TEST_F(ReductionKernel, FoldsGradientsBehindTheirSums) {
    Trace t("run");
    const Tensor y = nn::mlp(t, "net", t.input("x", {kBatch, 7}), {10, 2}, tanh, {.seed = 1});
    const Tensor target = t.input("target", {kBatch, 2});
    const Tensor loss = mean(square(y - (target - mean(target))));
    const std::vector<Tensor> params = t.params();
    GradScaler scale(t, {.init_scale = 16});
    adam(params, clip_by_global_norm(scale.grad(loss, params), 0.05), {.learning_rate = 1e-2});
    t.output("is finite", scale.update());
    t.output("loss", loss);
    expect_as_the_reference(t);
}

}  // namespace
}  // namespace hearth::test
