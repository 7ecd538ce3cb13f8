// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels that GPUs have for convolutions, at odd shapes and compiled for GPUs of several
// sizes, against the reference; alone and with bias, residual and activation behind them.

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace hearth::test {
namespace {

struct ConvCase {
    const char* name;
    Dim images;
    int64_t channels, out;
    std::vector<int64_t> size, kernel;
    ConvOptions window = {};
    DType dtype = DType::kF32;
    uint64_t capacity = 5;  ///< of images, where they are rows
};

void PrintTo(const ConvCase& c, std::ostream* out) {
    *out << c.name;
}

const ConvCase kCases[] = {
    {"FewChannels", 2, 3, 33, {20, 21}, {3, 3}, {.pad_begin = {1}}},
    {"ManyPixels", 1, 3, 16, {90, 80}, {3, 3}, {.pad_begin = {1}}},
    {"WideWindow", 1, 3, 10, {31, 30}, {6, 6}, {.strides = {2}, .pad_begin = {3}}},
    {"OneTap", kBatch, 20, 24, {5, 9}, {1, 1}},
    {"OneTapStrided", 1, 64, 12, {9, 8}, {1, 1}, {.strides = {2}}},
    {"Deep", 1, 128, 40, {7, 7}, {1, 3}, {.pad_begin = {0, 1}}},
    {"ManyChannels", kBatch, 19, 35, {10, 15}, {3, 3}, {.pad_begin = {1, 0}}},
    {"DeepOfOddChannels", 1, 131, 5, {7, 6}, {2, 2}, {.pad_begin = {1}}},
    {"DeepOneTap", 2, 260, 7, {4, 5}, {1, 1}},
    {"Dilated", kBatch, 6, 9, {12, 17}, {3, 2}, {.strides = {1, 3}, .dilations = {2, 3}}},
    {"PaddedOnOneSide", 1, 5, 6, {8, 9}, {2, 4}, {.pad_begin = {0, 3}, .pad_end = {2, 0}}},
    {"Cropped", 1, 5, 6, {8, 9}, {3, 3}, {.pad_begin = {-1, 0}, .pad_end = {0, -2}}},
    {"OneAxis", kBatch, 7, 19, {30}, {5}, {.strides = {2}, .pad_begin = {2}}},
    {"Grouped", 1, 8, 12, {9, 9}, {3, 3}, {.pad_begin = {1}, .groups = 2}},
    {"Depthwise", 2, 9, 9, {11, 10}, {3, 3}, {.strides = {2}, .pad_begin = {1}, .groups = 9}},
    {"DepthwiseOfManyPixels", kBatch, 5, 5, {61, 50}, {3, 3}, {.pad_begin = {1}, .groups = 5}},
    {"DepthwiseOfMoreResults",
     2,
     6,
     18,
     {13, 9},
     {5, 3},
     {.strides = {1, 2}, .dilations = {2, 1}, .pad_begin = {3, 1}, .groups = 6},
     DType::kF16},
    {"DepthwiseOneAxis", 1, 4, 4, {17}, {4}, {.pad_begin = {2}, .groups = 4}},
    {"ThreeAxes", 1, 3, 5, {4, 5, 6}, {2, 2, 2}},
    {"FewChannelsOfManyImages",
     kBatch,
     3,
     21,
     {25, 33},
     {3, 3},
     {.pad_begin = {1}},
     DType::kF32,
     400},
    {"TwoChannelsOfManyImages",
     kBatch,
     2,
     7,
     {40, 61},
     {3, 5},
     {.strides = {2, 1}, .dilations = {1, 3}, .pad_begin = {0, 2}},
     DType::kF32,
     400},
    {"HalfPrecisionOfManyPixels", 1, 5, 7, {140, 70}, {3, 3}, {.pad_begin = {1}}, DType::kF16},
    {"HalfPrecisionStrided", 2, 8, 9, {50, 131}, {3, 2}, {.strides = {1, 2}}, DType::kF16},
    {"HalfPrecisionOfEights",
     kBatch,
     20,
     40,
     {13, 40},
     {3, 3},
     {.pad_begin = {1}},
     DType::kF16,
     300},
    {"HalfPrecisionDeep", 1, 80, 21, {7, 6}, {3, 1}, {.pad_begin = {1, 0}}, DType::kF16},
    {"HalfPrecisionFirstLayer",
     1,
     3,
     8,
     {12, 9},
     {5, 5},
     {.strides = {2}, .pad_begin = {2}},
     DType::kF16},
    {"HalfPrecisionOneTap", kBatch, 72, 40, {5, 9}, {1, 1}, {}, DType::kF16},
    {"HalfPrecision", 1, 32, 12, {9, 8}, {2, 1}, {.pad_begin = {1}}, DType::kF16},
};

class ConvKernel : public VulkanTest, public testing::WithParamInterface<ConvCase> {
  protected:
    static constexpr int64_t kLiveRows = 3;

    static HostTensor random(const Shape& shape, uint64_t key, DType dtype) {
        HostTensor t(dtype, shape.resolve(kLiveRows));
        for (int64_t i = 0; i < t.element_count(); ++i)
            t.set(i, 2 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 1);
        return t;
    }

    static Shape with_spatial(Dim first, Dim second, const std::vector<int64_t>& spatial) {
        Shape shape{first, second};
        for (const int64_t extent : spatial) shape.push_back(Dim(extent));
        return shape;
    }

    /// The convolution alone, and with what usually follows it.
    static void build(Trace& trace, NamedTensors& inputs) {
        const ConvCase& c = GetParam();
        const Shape x_shape = with_spatial(c.images, Dim(c.channels), c.size);
        const Shape w_shape = with_spatial(Dim(c.out), Dim(c.channels / c.window.groups), c.kernel);
        const Tensor x = trace.input("x", x_shape, c.dtype);
        const Tensor w = trace.input("w", w_shape, c.dtype);
        const Tensor bias = trace.input("bias", {c.out}, c.dtype);
        const Tensor alone = conv(x, w, {}, c.window);
        const Tensor skipped = trace.input("skipped", alone.shape(), c.dtype);
        trace.output("alone", alone);
        trace.output("layer", clamp(conv(x, w, bias, c.window) + skipped, 0, 6));
        inputs = {{"x", random(x_shape, 1, c.dtype)},
                  {"w", random(w_shape, 2, c.dtype)},
                  {"bias", random({c.out}, 3, c.dtype)},
                  {"skipped", random(alone.shape(), 4, c.dtype)}};
    }

    /// What the convolution gives on such a device, against the reference; or the same with the
    /// first variant of each text of its kernels, and the last one of all.
    void expect_reference(const DeviceCaps& caps, bool in_variants = false) {
        Trace trace("run");
        NamedTensors inputs, weights;
        build(trace, inputs);
        const auto graph = trace.build();
        ASSERT_TRUE(graph.ok()) << graph.status().message();
        const auto expected = interpret(*graph, inputs, weights, kLiveRows);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        CompileOptions options{.caps = caps, .max_batch_size = GetParam().capacity};
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        const auto shipped = compile_graphs({*graph}, options);
        ASSERT_TRUE(shipped.ok()) << shipped.status().message();
        expect_result(shipped->program, inputs, *expected);
        if (shipped->tunable.empty() || !in_variants) return;
        ASSERT_EQ(shipped->tunable.size(), 1u);
        const auto problem = parse_kernel_problem(shipped->tunable[0]);
        ASSERT_TRUE(problem.has_value()) << shipped->tunable[0];
        EXPECT_EQ(problem->key(), shipped->tunable[0]);
        const auto listed = shipped->listed_variants.find(shipped->tunable[0]);  // for CPUs
        const std::vector<std::string> variants =
            listed != shipped->listed_variants.end() ? listed->second : variants_of(*problem, caps);
        ASSERT_GT(variants.size(), 1u);
        Tuning tuning = tuning_for(options);
        std::set<std::string> texts;
        for (size_t i = 0; i < variants.size(); ++i) {
            const bool is_new = texts.insert(variants[i].substr(0, variants[i].find(' '))).second;
            if (i == 0 || (!is_new && i + 1 < variants.size())) continue;
            SCOPED_TRACE(variants[i]);
            tuning.variants[shipped->tunable[0]] = variants[i];
            options.tuning = print_tuning(tuning);
            const auto compiled = compile_graphs({*graph}, options);
            ASSERT_TRUE(compiled.ok()) << compiled.status().message();
            EXPECT_TRUE(compiled->remarks.empty());
            EXPECT_NE(save_program(compiled->program), save_program(shipped->program));
            expect_result(compiled->program, inputs, *expected);
        }
    }

    void expect_result(const Program& program, const NamedTensors& inputs,
                       const NamedTensors& expected) {
        const auto runner = standalone::ProgramRunner::create(device(), save_program(program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        const auto found = (*runner)->run("run", kLiveRows, inputs);
        ASSERT_TRUE(found.ok()) << found.status().message();
        const auto again = (*runner)->run("run", kLiveRows, inputs);
        EXPECT_EQ(*found, *again) << "differs from run to run";
        const double depth = static_cast<double>(GetParam().channels) * 9;
        const double tolerance = (GetParam().dtype == DType::kF16 ? 2e-3 : 2e-6) * std::sqrt(depth);
        for (const auto& [name, value] : expected)
            for (int64_t i = 0; i < value.element_count(); ++i)
                ASSERT_NEAR(found->at(name).get(i), value.get(i), tolerance) << name << " " << i;
    }

    /// This device, as if its subgroups were those of a GPU.  Those that share matrices must be the
    /// device's.
    DeviceCaps gpu_caps() {
        DeviceCaps caps = device().caps().value();
        if (GetParam().dtype == DType::kF16 &&
            caps.cooperative_matrix != CooperativeMatrixExt::kNone)
            return caps;
        caps.device_type = DeviceType::kOther;
        caps.subgroup_size = std::max(32u, caps.subgroup_size);
        return caps;
    }
};

TEST_P(ConvKernel, EqualsTheReferenceOnALargeGpu) {
    expect_reference(gpu_caps());
}

TEST_P(ConvKernel, EqualsTheReferenceInOtherVariants) {
    expect_reference(gpu_caps(), true);
}

TEST_P(ConvKernel, EqualsTheReferenceWhereWorkgroupsAreSmall) {
    DeviceCaps caps = gpu_caps();
    caps.max_compute_work_group_invocations =
        std::min(caps.max_compute_work_group_invocations, 256u);
    caps.max_compute_shared_memory_size = std::min(caps.max_compute_shared_memory_size, 4096u);
    expect_reference(caps);
}

TEST_P(ConvKernel, EqualsTheReferenceOnCardsOfFewRegisters) {
    DeviceCaps caps = gpu_caps();
    caps.device_type = DeviceType::kDiscreteGpu;
    caps.name = "Intel(R) Arc(tm) B580 Graphics";
    expect_reference(caps);
}

class JoinedChannels : public VulkanTest {};

TEST_F(JoinedChannels, OfOneImageAreReadWhereTheyAre) {
    Trace trace("run");
    const Tensor x = trace.input("x", {1, 3, 6, 5});
    const auto layer = [&](const char* name, const Tensor& in, int64_t out) {
        const Shape shape{out, in.dim(1).count, 1, 1};
        return relu(conv(in, trace.param(name, shape, Init::uniform(-1, 1))));
    };
    const Tensor joined = concat({layer("a", x, 4), layer("b", x, 2), layer("c", x, 5)}, 1);
    trace.output("y", layer("d", joined, 3));
    trace.output("largest", max_pool(joined, {2}, {.strides = {2}}));
    const auto graph = trace.build();
    ASSERT_TRUE(graph.ok()) << graph.status().message();
    HostTensor image(DType::kF32, {1, 3, 6, 5});
    for (int64_t i = 0; i < image.element_count(); ++i) image.set(i, std::sin(double(i * i)));
    NamedTensors weights;
    const auto expected = interpret(*graph, {{"x", image}}, weights);
    ASSERT_TRUE(expected.ok()) << expected.status().message();
    CompileOptions options{.caps = device().caps().value()};
    if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
        options.binding_model = BindingModel::kDescriptor;
    const auto compiled = compile_graphs({*graph}, options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    for (const Command& step : compiled->program.commands)
        EXPECT_EQ(step.label.find("concat"), std::string::npos);
    const auto runner =
        standalone::ProgramRunner::create(device(), save_program(compiled->program));
    ASSERT_TRUE(runner.ok()) << runner.status().message();
    const auto found = (*runner)->run("run", 1, {{"x", image}});
    ASSERT_TRUE(found.ok()) << found.status().message();
    for (const auto& [name, value] : *expected)
        for (int64_t i = 0; i < value.element_count(); ++i)
            ASSERT_NEAR(found->at(name).get(i), value.get(i), 1e-5) << name << " " << i;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ConvKernel, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
