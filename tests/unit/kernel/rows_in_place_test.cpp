// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels that write rows in place, executed by run_kernel over what the tensor held before.

#include "compiler/kernel/kernel_builder.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "compiler/reference/run_kernel.hpp"
#include "core/device_model.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

/// The body that the operator's rule writes for a device, with operands 0 (x, in place), 1 and 2,
/// and its number of workgroups.
struct RowsKernel {
    Body body;
    uint32_t workgroups = 1;

    RowsKernel(const DeviceCaps& caps, const Attrs& attrs, std::span<const TensorType> inputs) {
        const TensorType outputs[] = {inputs[0]};
        const auto kernel = op("write_rows").kernel({attrs, inputs, outputs, caps, 1});
        const bool is_serial = device_model(caps).vectorizes_loops;
        ScalarArena arena;
        for (uint32_t k = 0; k < inputs.size(); ++k)
            (void)body.operand(k, inputs[k].dtype, inputs[k].dtype);
        KernelWriter writer(body, arena, [](uint32_t value) { return value; });
        KernelBuilder::State state{.body = body, .arena = arena, .writer = writer};
        const auto operand = [](const TensorType& type) -> KernelBuilder::State::Operand {
            return {type.shape, scalar_type(type.dtype)};
        };
        for (const TensorType& type : inputs) state.inputs.push_back(operand(type));
        state.outputs = {operand(outputs[0])};
        state.load = [&](size_t k, Scalar i) {
            return arena.load(static_cast<uint32_t>(k), i, scalar_type(inputs[k].dtype));
        };
        state.store = [&](size_t, Scalar i, Scalar value) {
            writer.store(0, writer.emit(i), writer.emit(value));
        };
        body.threads = state.threads = is_serial ? 1 : kernel->local_size[0];
        state.is_serial = is_serial;
        KernelBuilder builder(state);
        kernel->body(builder);
        body.statements = writer.take();
        const CustomKernel::Axis& axis = kernel->grid[0];
        workgroups =
            static_cast<uint32_t>((axis.work_items.count + axis.tile_size - 1) / axis.tile_size);
    }
};

TEST(RowsInPlace, TheLastRowForAPlaceStaysAndThoseOutsideAreLeftOut) {
    const TensorType inputs[] = {{DType::kF32, {5, 3}}, {DType::kI32, {7}}, {DType::kF32, {7, 3}}};
    const int32_t places[] = {2, 0, 2, -1, 5, 2, 0};
    for (const DeviceCaps& caps : {gpu_caps(), cpu_caps(CpuIsa::kX86_64V3)}) {
        const Attrs attrs{{"depth", int64_t{1}}, {"distinct", int64_t{0}}};
        const RowsKernel kernel(caps, attrs, inputs);
        std::vector<OperandMemory> memory;
        for (const TensorType& type : inputs)
            memory.push_back(OperandMemory::full({type.dtype, type.shape}));
        for (int64_t i = 0; i < 15; ++i) memory[0].tensor.set(i, -1);
        for (int64_t i = 0; i < 7; ++i) memory[1].tensor.set_int(i, places[i]);
        for (int64_t i = 0; i < 21; ++i) memory[2].tensor.set(i, static_cast<double>(i));
        const Status status = run_kernel(kernel.body, {"rows", kernel.workgroups, 1}, memory);
        ASSERT_TRUE(status.ok()) << status.message();
        HostTensor expected(DType::kF32, {5, 3});
        for (int64_t i = 0; i < 15; ++i) expected.set(i, -1);
        for (int64_t e = 0; e < 3; ++e) {
            expected.set(e, static_cast<double>(6 * 3 + e));
            expected.set(2 * 3 + e, static_cast<double>(5 * 3 + e));
        }
        EXPECT_EQ(difference(memory[0].tensor, expected, 0), "");
    }
}

TEST(RowsInPlace, RowsOfDistinctPlacesAreDistributedOverWorkgroups) {
    const TensorType inputs[] = {
        {DType::kF32, {9, 600}}, {DType::kI32, {4}}, {DType::kF32, {4, 600}}};
    const Attrs attrs{{"depth", int64_t{1}}, {"distinct", int64_t{1}}};
    const RowsKernel kernel(cpu_caps(CpuIsa::kX86_64V3), attrs, inputs);
    EXPECT_EQ(kernel.workgroups, 4u);
    std::vector<OperandMemory> memory;
    for (const TensorType& type : inputs)
        memory.push_back(OperandMemory::full({type.dtype, type.shape}));
    for (int64_t i = 0; i < 4; ++i) memory[1].tensor.set_int(i, 2 * i);
    for (int64_t i = 0; i < 2400; ++i) memory[2].tensor.set(i, static_cast<double>(i + 1));
    const Status status = run_kernel(kernel.body, {"rows", kernel.workgroups, 1}, memory);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int64_t i = 0; i < 9 * 600; ++i) {
        const int64_t row = i / 600;
        const bool is_written = row % 2 == 0 && row < 8;
        ASSERT_EQ(memory[0].tensor.get(i),
                  is_written ? static_cast<double>(row / 2 * 600 + i % 600 + 1) : 0.0);
    }
}

}  // namespace
}  // namespace hearth::test
