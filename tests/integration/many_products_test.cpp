// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Products of more matrices, and of more rows, than a grid has workgroups.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::test {
namespace {

HostTensor random_tensor(const Shape& shape, uint64_t key) {
    HostTensor t(DType::kF32, shape);
    const std::span<float> values = t.as<float>();
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>(
            uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 0.5);
    return t;
}

class ManyProducts : public VulkanTest {
  protected:
    /// The largest difference between device and interpreter, of a product of `a` and `b`.
    /// as_on_gpu: with the kernels that a driver on the CPU would not choose.
    double error_of(const Shape& a, const Shape& b, int64_t rows, int64_t capacity,
                    bool as_on_gpu = false) {
        Trace trace("act");
        trace.output("y", matmul(trace.input("a", a), trace.input("b", b)));
        const Graph graph = trace.build().value();
        const NamedTensors inputs{{"a", random_tensor(a.resolve(rows), 1)},
                                  {"b", random_tensor(b.resolve(rows), 2)}};
        NamedTensors weights;
        const auto expected = interpret(graph, inputs, weights, rows);
        CompileOptions options;
        options.caps = device().caps().value();
        if (as_on_gpu) options.caps.device_type = DeviceType::kOther;
        options.max_batch_size = static_cast<uint64_t>(capacity);
        options.fuse = false;  // or a fused network would compute it
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto compiled = compile_graphs({graph}, options);
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        if (!compiled.ok()) return HUGE_VAL;
        for (const Command& step : compiled->program.commands)
            for (size_t axis = 1; axis < 3; ++axis)
                EXPECT_LE(step.grid[axis].groups(options.max_batch_size), 65535u);
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        const auto found = (*runner)->run("act", rows, inputs);
        EXPECT_TRUE(found.ok()) << found.status().message();
        if (!expected.ok() || !found.ok()) return HUGE_VAL;
        const std::span<const float> y = found->at("y").as<float>(),
                                     wanted = expected->at("y").as<float>();
        EXPECT_EQ(y.size(), wanted.size());
        double error = 0;
        for (size_t i = 0; i < y.size(); ++i)
            error = std::max(error, static_cast<double>(std::abs(y[i] - wanted[i])));
        return error;
    }
};

// Workgroups take as many tiles in turn as they must at capacity, whatever the rows are now.

TEST_F(ManyProducts, MoreMatricesThanAGridIsDeep) {
    EXPECT_LE(error_of({kBatch, 2, 3}, {kBatch, 3, 2}, 100, 140000), 1e-6);
    EXPECT_LE(error_of({kBatch, 2, 3}, {kBatch, 3, 2}, 100, 140000, true), 1e-6);
    // At capacity each operand is just within what every host can bind.
    EXPECT_LE(error_of({kBatch, 20, 24}, {kBatch, 24, 20}, 10, 66000, true), 1e-5);
}

TEST_F(ManyProducts, MoreRowsThanAGridIsHigh) {
    // 16 rows are the fewest of a workgroup.
    EXPECT_LE(error_of({kBatch, 3}, {3, 1}, 1000, 16 * 65535 + 7), 1e-6);
}

}  // namespace
}  // namespace hearth::test
