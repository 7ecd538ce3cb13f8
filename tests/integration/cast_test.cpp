// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Conversions between every two element types, of numbers that the target does not hold above all:
// the CPU and every device must agree on them (docs/reference/operators.md, `cast`).

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <cmath>

namespace hearth::test {
namespace {

constexpr int64_t kCount = 48;

/// What a device without integers and floats of 64 bits holds elements of this type in.
DType held_in(DType dtype, bool has_int64 = false, bool has_float64 = false) {
    if (dtype == DType::kF64 && !has_float64) return DType::kF32;
    if (dtype == DType::kI64 && !has_int64) return DType::kI32;
    if (dtype == DType::kU64 && !has_int64) return DType::kU32;
    return dtype;
}

/// The ends of every type, what lies beyond them, and what is no number; each as far as `dtype` and
/// what a device holds it in have it.
HostTensor numbers(DType dtype) {
    const double inf = HUGE_VAL;
    std::vector<double> values{0.0,           -0.0,    0.5,     -0.5,
                               0.99,          -0.99,   1,       -1,
                               1.5,           -1.5,    2.5,     126.9,
                               127,           127.9,   128,     -128,
                               -129,          255,     255.9,   256,
                               -32768,        -32769,  32767,   32768,
                               65504,         65519,   65520,   65535,
                               65535.9,       65536,   -65537,  0x1p24,
                               0x1.fffffep30, 0x1p31,  -0x1p31, -0x1.000002p31,
                               0x1.fffffep31, 0x1p32,  -0x1p32, 0x1p53,
                               0x1p63,        -0x1p63, 0x1p64,  3e38,
                               -3e38,         inf,     -inf,    std::nan("")};
    EXPECT_EQ(static_cast<int64_t>(values.size()), kCount);
    return HostTensor::of({kCount}, values, held_in(dtype)).cast(dtype);
}

/// Entries share their bindings by name: one for each type.
std::string input_name(DType dtype) {
    return "from " + std::string(name_of(dtype));
}

/// One entry for each type: to all others.
Result<Graph> casts_from(DType from) {
    Trace trace{std::string(name_of(from))};
    const Tensor x = trace.input(input_name(from), {kCount}, from);
    for (int to = 0; to < kDTypeCount; ++to)
        if (const auto dtype = static_cast<DType>(to); dtype != from)
            trace.output(name_of(dtype), cast(x, dtype));
    return trace.build();
}

void expect_same(const HostTensor& found, const HostTensor& expected, const HostTensor& x,
                 const std::string& what) {
    ASSERT_EQ(found.dtype(), expected.dtype()) << what;
    for (int64_t i = 0; i < x.element_count(); ++i) {
        const double a = found.get(i), b = expected.get(i);
        if (std::isnan(a) && std::isnan(b)) continue;
        EXPECT_EQ(a, b) << what << " of " << x.get(i);
    }
}

TEST(CastOnTheCpu, SaturatesFromFloatsAndWrapsFromIntegers) {
    for (int from = 0; from < kDTypeCount; ++from) {
        const HostTensor x = numbers(static_cast<DType>(from));
        const auto graph = casts_from(x.dtype());
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        NamedTensors weights;
        const auto outputs = interpret(*graph, {{input_name(x.dtype()), x}}, weights, 1);
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        for (const auto& [to, found] : *outputs)
            expect_same(found, x.cast(found.dtype()), x, graph->name + " to " + to);
    }
    // And a few by hand.
    const auto at = [&](DType from, DType to, double value) {
        const HostTensor x = HostTensor::scalar(value, from);
        Trace trace("one");
        trace.output("y", cast(trace.constant(x), to));
        NamedTensors none;
        return interpret(*trace.build(), {}, none, 1)->at("y").get(0);
    };
    EXPECT_EQ(at(DType::kF32, DType::kI8, 300), 127);
    EXPECT_EQ(at(DType::kF32, DType::kU8, -1), 0);
    EXPECT_EQ(at(DType::kF32, DType::kI32, std::nan("")), 0);
    EXPECT_EQ(at(DType::kF32, DType::kI32, HUGE_VAL), 0x1p31 - 1);
    EXPECT_EQ(at(DType::kF16, DType::kI32, -HUGE_VAL), -0x1p31);
    EXPECT_EQ(at(DType::kF32, DType::kU32, 5e9), 0x1p32 - 1);
    EXPECT_EQ(at(DType::kI32, DType::kI8, 300), 44);
    EXPECT_EQ(at(DType::kI32, DType::kU8, -1), 255);
    EXPECT_EQ(at(DType::kF32, DType::kBool, std::nan("")), 1);
}

class CastTest : public VulkanTest {};

TEST_F(CastTest, EveryPairOfTypesConvertsAsOnTheCpu) {
    std::vector<Graph> graphs;
    for (int from = 0; from < kDTypeCount; ++from) {
        auto graph = casts_from(static_cast<DType>(from));
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        graphs.push_back(std::move(*graph));
    }
    CompileOptions options;
    const auto caps = device().caps();
    ASSERT_TRUE(caps.ok());
    options.caps = *caps;
    options.assume_int32 = !caps->shader_int64;
    options.assume_float32 = !caps->shader_float64;
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    const auto compiled = compile_graphs(graphs, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    const auto runner =
        standalone::ProgramRunner::create(device(), save_program(compiled->program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    for (int from = 0; from < kDTypeCount; ++from) {
        const HostTensor x = numbers(static_cast<DType>(from));
        const std::string name(name_of(x.dtype()));
        const auto outputs = (*runner)->run(name.c_str(), 1, {{input_name(x.dtype()), x}});
        ASSERT_TRUE(outputs.ok()) << outputs.status().message();
        for (const auto& [to, found] : *outputs) {
            // Types end where the device's end that hold them.
            const auto held = [&](DType dtype) {
                return held_in(dtype, caps->shader_int64, caps->shader_float64);
            };
            const DType dtype = found.dtype();
            const HostTensor expected = x.cast(held(x.dtype())).cast(held(dtype)).cast(dtype);
            expect_same(found, expected, x, name + " to " + to);
        }
    }
}

}  // namespace
}  // namespace hearth::test
