// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A product on matrix cores normalizes its operand's rows itself: which graphs have that as one
// kernel, and that it computes what the reference does.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/random_tensor.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <string>

namespace hearth::test {
namespace {

struct Layer {
    const char* name;
    size_t dispatches;  ///< where products fold rows
    Tensor (*build)(Trace& trace);
};

Tensor input(Trace& trace, const char* name, const Shape& shape, DType dtype = DType::kF16) {
    return trace.input(name, shape, dtype);
}

Tensor product(Trace& trace, const Tensor& x, int64_t columns) {
    const Tensor weight = input(trace, "weight", {columns, x.dim(-1)});
    return matmul(x, weight, false, true);
}

Tensor normalized(Trace& trace, const Tensor& x) {
    const Shape shape{x.dim(-1)};
    return layer_norm(x, {-1}, input(trace, "scale", shape), input(trace, "bias", shape), 1e-5);
}

const Layer kLayers[] = {
    {"LayerNorm", 1,
     [](Trace& t) {
         return product(t, normalized(t, input(t, "x", {37, 72})), 48);
     }},
    {"WholeTiles", 1,
     [](Trace& t) {
         return relu(product(t, normalized(t, input(t, "x", {2, 32, 64})), 64));
     }},
    {"RowsOfTheGame", 1,
     [](Trace& t) {
         return product(t, normalized(t, input(t, "x", {kBatch, 40})), 33);
     }},
    {"RootMeanSquareOfFloats", 1,
     [](Trace& t) {
         const Tensor x = input(t, "x", {19, 48}, DType::kF32);
         return product(t, cast(rms_norm(x, {-1}, Tensor(), 1e-6), DType::kF16), 32);
     }},
    {"Softmax", 1,
     [](Trace& t) {
         return product(t, softmax(input(t, "x", {24, 56}) * 4.0, -1), 40);
     }},
    {"TheTensorIsTheResidualToo", 1,
     [](Trace& t) {
         const Tensor x = input(t, "x", {20, 64});
         return product(t, normalized(t, x), 64) + x;
     }},
    {"WideWithWhatFollows", 1,
     [](Trace& t) {
         const Tensor y = product(t, normalized(t, input(t, "x", {37, 200})), 48);
         return relu(y + input(t, "biases", {48})) + input(t, "skipped", {37, 48});
     }},
    {"TheTensorIsMadeHere", 2,
     [](Trace& t) {
         const Tensor x = relu(input(t, "x", {20, 64}) - 0.25);
         return product(t, normalized(t, x), 64) + x;
     }},
    // Somebody else reads what was normalized: it is stored.
    {"ReadTwice", 2,
     [](Trace& t) {
         const Tensor y = normalized(t, input(t, "x", {20, 64}));
         return product(t, y, 64) * y;
     }},
    // 20 x 20 numbers that differ from row to row.
    {"AnotherTensorOfRows", 2,
     [](Trace& t) {
         const Tensor y = normalized(t, input(t, "x", {20, 64}));
         return product(t, y * input(t, "z", {20, 64}), 40);
     }},
};

constexpr int64_t kRowCount = 29;

class MatmulPrologue : public VulkanTest, public testing::WithParamInterface<Layer> {
  protected:
    static Graph graph() {
        Trace trace("run");
        trace.output("y", GetParam().build(trace));
        return trace.build().value();
    }
    static CompiledProgram compiled(const DeviceCaps& caps) {
        auto result = compile_graphs(
            {graph()}, {.caps = caps, .max_batch_size = kRowCount, .fuse_mlp = FuseMlp::kNever});
        EXPECT_TRUE(result.ok()) << result.status().message();
        return std::move(*result);
    }
};

size_t dispatches(const Program& program) {
    size_t count = 0;
    for (const Command& step : program.commands) count += step.kind == CommandKind::kDispatch;
    return count;
}

TEST_P(MatmulPrologue, IsOneKernelWithTheProductWhereNothingElseReadsIt) {
    DeviceCaps caps;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    caps.max_compute_shared_memory_size = 48 << 10;
    caps.shader_float16 = caps.storage_buffer_16bit_access = true;
    EXPECT_GT(dispatches(compiled(caps).program), 1u);
    caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    caps.cooperative_matrix_shape = {16, 16, 16};
    EXPECT_EQ(dispatches(compiled(caps).program), GetParam().dispatches);
}

TEST_P(MatmulPrologue, EqualsTheReference) {
    const DeviceCaps caps = device().caps().value();
    if (caps.cooperative_matrix == CooperativeMatrixExt::kNone)
        GTEST_SKIP() << "the device has no matrix cores for f16 with f32 sums";
    const CompiledProgram program = compiled(caps);
    const Graph& source = program.graphs[0];
    const NamedTensors inputs = random_inputs(source, kRowCount);
    NamedTensors weights;
    const auto expected = interpret(source, inputs, weights, kRowCount);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    const auto runner = standalone::ProgramRunner::create(device(), save_program(program.program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    const auto found = (*runner)->run("run", kRowCount, inputs);
    ASSERT_TRUE(found.ok()) << found.status().message();
    const HostTensor &y = expected->at("y"), &is = found->at("y");
    // The operand is rounded to f16: terms of about one are off by 2^-12, sums of 72 by ten times
    // that.
    for (int64_t i = 0; i < y.element_count(); ++i) ASSERT_NEAR(is.get(i), y.get(i), 0x1p-6) << i;
}

INSTANTIATE_TEST_SUITE_P(Layers, MatmulPrologue, testing::ValuesIn(kLayers),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
