// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tensors of 16 and 8 bits on a device: rounded as the CPU rounds, to the bit; as many bytes as the
// device's storage features allow; and the same results without those features.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "support/device_caps.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <bit>
#include <cmath>

namespace hearth::test {
namespace {

class NarrowTest : public VulkanTest {
  protected:
    DeviceCaps caps() {
        auto caps = device().caps();
        EXPECT_TRUE(caps.ok());
        return *caps;
    }

    static CompiledProgram compile_for(const DeviceCaps& caps, const Graph& graph,
                                       uint64_t rows_capacity = 1) {
        CompileOptions options;
        options.caps = caps;
        options.max_batch_size = rows_capacity;
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        auto compiled = compile_graphs({graph}, options);
        EXPECT_TRUE(compiled.ok()) << compiled.status().message();
        return std::move(compiled).value();
    }

    std::unique_ptr<standalone::ProgramRunner> make_runner(const CompiledProgram& compiled) {
        auto runner = standalone::ProgramRunner::create(device(), save_program(compiled.program));
        EXPECT_TRUE(runner.ok()) << runner.status().message();
        return runner.ok() ? std::move(runner).value() : nullptr;
    }
};

/// Every f16, the middle between it and the next, and the f32s beside that middle.
HostTensor rounding_cases() {
    std::vector<float> values;
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto here = static_cast<float>(half_to_float(static_cast<uint16_t>(bits)));
        const auto next = static_cast<float>(half_to_float(static_cast<uint16_t>(bits + 1)));
        const float middle = here / 2 + next / 2;
        for (float v :
             {here, middle, std::nextafter(middle, -HUGE_VALF), std::nextafter(middle, HUGE_VALF)})
            values.push_back(v);
    }
    for (float v : {65519.996f, 65520.0f, -65520.0f, 3.4e38f, 1e-8f, -0.0f, 1e-39f,
                    std::bit_cast<float>(0x7f800001u), std::bit_cast<float>(0x3f808000u),
                    std::bit_cast<float>(0x3f818000u), std::bit_cast<float>(0x7f7fffffu)})
        values.push_back(v);
    return HostTensor::of({Dim(static_cast<int64_t>(values.size()))}, values);
}

TEST_F(NarrowTest, FloatsRoundToTheBitAsOnTheCpu) {
    const HostTensor x = rounding_cases();
    Trace trace("round");
    const Tensor in = trace.input("x", x.shape());
    trace.output("f16", cast(in, DType::kF16));
    trace.output("bf16", cast(in, DType::kBF16));
    trace.output("through", cast(cast(in, DType::kF16), DType::kF32));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    for (const DeviceCaps& c : {caps(), without_narrow_storage(caps())}) {
        const auto runner = make_runner(compile_for(c, *graph));
        ASSERT_NE(runner, nullptr);
        const auto found = runner->run("round", 1, {{"x", x}});
        ASSERT_TRUE(found.ok()) << found.status().message();
        int wrong = 0;
        for (const auto& [name, y] : *found) {
            const DType dtype = name == "bf16" ? DType::kBF16 : DType::kF16;
            const HostTensor expected = x.cast(dtype);
            for (int64_t i = 0; i < y.element_count(); ++i) {
                const double a = y.get(i), b = expected.get(i);
                if (std::isnan(a) && std::isnan(b)) continue;
                // A driver may flush the f32 subnormals that bf16 has, too.
                if (a == 0 && std::abs(b) < 0x1p-126) continue;
                if (a == b && std::signbit(a) == std::signbit(b)) continue;
                if (++wrong > 5) break;
                ADD_FAILURE() << name << " of " << x.get(i) << " is " << a << ", expected " << b;
            }
        }
    }
}

/// One state of each narrow type, each with an odd number of elements; all change every time.
Result<Graph> counting_graph() {
    Trace trace("count");
    const Tensor step = trace.input("step", {kBatch, 3});
    const Tensor sum_of_steps = sum(step);
    for (DType dtype : {DType::kF16, DType::kBF16, DType::kI8, DType::kU8, DType::kI16, DType::kU16,
                        DType::kBool}) {
        const std::string name(name_of(dtype));
        HostTensor first(dtype, {5});
        for (int64_t i = 0; i < 5; ++i) first.set(i, static_cast<double>(100 * i));
        const Tensor state = trace.state(name, {5}, Init::from(first), dtype);
        const Tensor next = cast(state, DType::kF32) + sum_of_steps;
        trace.assign(state,
                     is_floating(dtype) ? cast(next, dtype) : cast(cast(next, DType::kI32), dtype));
        trace.output(name + ".rows", cast(step * 7.0, dtype));
    }
    return trace.build();
}

TEST_F(NarrowTest, StatesAndBindingsTakeTheirOwnBytesAndAgreeWithTheReference) {
    const auto graph = counting_graph();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    constexpr uint64_t kCapacity = 9;
    for (const DeviceCaps& c : {caps(), without_narrow_storage(caps())}) {
        const CompiledProgram compiled = compile_for(c, *graph, kCapacity);
        for (const Variable& slot : compiled.program.variables)
            EXPECT_EQ(slot.bytes, 5 * size_bytes(device_dtype(slot.dtype, c.narrow_storage())))
                << slot.name;
        const auto runner = make_runner(compiled);
        ASSERT_NE(runner, nullptr);
        ProgramMemory memory(compiled.program);
        NamedTensors weights;
        for (const int64_t rows : {1, 2, 5, 9}) {
            HostTensor step(DType::kF32, {rows, 3});
            for (int64_t i = 0; i < step.element_count(); ++i)
                step.set(i, 0.5 * static_cast<double>(i + rows));
            const NamedTensors inputs{{"step", step}};
            const auto expected = interpret(*graph, inputs, weights, rows);
            const auto found = runner->run("count", rows, inputs);
            const auto planned =
                run_program(compiled.program, "count", compiled.graphs[0], inputs, memory, rows);
            ASSERT_TRUE(expected.ok() && found.ok() && planned.ok());
            EXPECT_EQ(*found, *expected) << rows << " rows";
            EXPECT_EQ(*planned, *expected) << rows << " rows";
            const auto slots = runner->read_variables();
            ASSERT_TRUE(slots.ok()) << slots.status().message();
            EXPECT_EQ(*slots, weights) << rows << " rows";
            for (const Variable& slot : compiled.program.variables)
                EXPECT_EQ(memory.read(slot), weights.at(slot.name)) << slot.name;
        }
    }
}

TEST_F(NarrowTest, UploadsMayEndBetweenWords) {
    Trace trace("act");
    const Tensor weight = trace.param("weight", {7}, Init::constant(1), DType::kF16);
    trace.output("y", weight * trace.input("x", {7}, DType::kF16));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok());
    const auto runner = make_runner(compile_for(caps(), *graph));
    ASSERT_NE(runner, nullptr);
    const auto slot = runner->program().find_variable("weight");
    ASSERT_TRUE(slot.ok());
    const auto device_type =
        static_cast<DType>(runner->program().variable(*slot).value().device_dtype);
    const HostTensor part =
        HostTensor::of({3}, std::vector<double>{-2, 0.25, 3}, DType::kF16).cast(device_type);
    const uint64_t element = size_bytes(device_type);
    ASSERT_TRUE(runner
                    ->submit([&](VkCommandBuffer commands) {
                        return to_status(hearth_record_update_variable(
                            runner->session().handle(), commands, *slot, element,
                            part.bytes().data(), part.bytes().size()));
                    })
                    .ok());
    const auto found = runner->read_variable("weight");
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(*found,
              HostTensor::of({7}, std::vector<double>{1, -2, 0.25, 3, 1, 1, 1}, DType::kF16));
}

}  // namespace
}  // namespace hearth::test
