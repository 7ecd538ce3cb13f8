// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each workaround for a driver (core/driver_workarounds.hpp) is in the kernels that it is for, and
// in no other.

#include "core/driver_workarounds.hpp"

#include "compiler/driver/compile.hpp"

#include <hearth/compile.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

DeviceCaps caps_with_f16() {
    DeviceCaps caps;
    caps.shader_float16 = caps.storage_buffer_16bit_access = true;
    return caps;
}

// Instructions of SPIR-V (Khronos, SPIR-V specification, chapter 3).
constexpr uint32_t kOpConstant = 43, kOpFDiv = 136, kOpIsNan = 156, kOpLoopMerge = 246;

/// Counts the instructions of all kernels with this opcode whose words match.
size_t count_of(
    Trace& trace, const CompileOptions& options, uint32_t opcode,
    bool (*matches)(const uint32_t* words) = [](const uint32_t*) { return true; }) {
    const auto compiled = compile({&trace}, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (!compiled.ok()) return 0;
    const auto program = load_program(compiled->bytes);
    EXPECT_TRUE(program.ok()) << program.status().message();
    if (!program.ok()) return 0;
    constexpr size_t kHeaderWords = 5;
    size_t count = 0;
    for (const Kernel& kernel : program->kernels)
        for (size_t at = kHeaderWords; at < kernel.spirv.size(); at += kernel.spirv[at] >> 16)
            if ((kernel.spirv[at] & 0xffff) == opcode && matches(&kernel.spirv[at])) ++count;
    return count;
}

bool has_rolled_loops(Trace& trace, bool is_software, FuseMlp fused_networks = FuseMlp::kNever) {
    CompileOptions options{.max_batch_size = 64, .fuse_mlp = fused_networks};
    options.caps.device_type = is_software ? DeviceType::kCpu : DeviceType::kOther;
    EXPECT_EQ(kRolledLoops.is_needed(options.caps), is_software);
    constexpr uint32_t kDontUnroll = 2;
    return count_of(trace, options, kOpLoopMerge,
                    [](const uint32_t* words) { return (words[3] & kDontUnroll) != 0; }) > 0;
}

TEST(DriverWorkarounds, ProductsHaveRolledLoopsOnSoftwareDrivers) {
    Trace trace("main");
    trace.output("y", matmul(trace.input("x", {33, 40}), trace.input("w", {40, 50})));
    EXPECT_TRUE(has_rolled_loops(trace, true));
    EXPECT_FALSE(has_rolled_loops(trace, false));
}

TEST(DriverWorkarounds, AttentionHasRolledLoopsOnSoftwareDrivers) {
    Trace trace("main");
    const Shape heads{1, 2, 24, 16};
    trace.output(
        "y", attention(trace.input("q", heads), trace.input("k", heads), trace.input("v", heads)));
    EXPECT_TRUE(has_rolled_loops(trace, true));
    EXPECT_FALSE(has_rolled_loops(trace, false));
}

TEST(DriverWorkarounds, FusedNetworksHaveRolledLoopsOnSoftwareDrivers) {
    Trace trace("main");
    trace.output("y",
                 nn::mlp(trace, "net", trace.input("x", {kBatch, 8}), {16, 4}, relu, {.seed = 1}));
    EXPECT_TRUE(has_rolled_loops(trace, true, FuseMlp::kAlways));
    EXPECT_FALSE(has_rolled_loops(trace, false, FuseMlp::kAlways));
}

TEST(DriverWorkarounds, RoundingToF16IsGuardedWhereThereAreMatrixCores) {
    for (const CooperativeMatrixExt cores :
         {CooperativeMatrixExt::kNone, CooperativeMatrixExt::kKhr}) {
        Trace trace("main");
        trace.output("y", cast(trace.input("x", {40}) * 2.0, DType::kF16));
        CompileOptions options{.caps = caps_with_f16()};
        options.caps.cooperative_matrix = cores;
        const bool is_needed = cores != CooperativeMatrixExt::kNone;
        EXPECT_EQ(kGuardedRounding.is_needed(options.caps), is_needed);
        EXPECT_EQ(count_of(trace, options, kOpConstant,
                           [](const uint32_t* words) { return words[3] == 0x7fc12345; }),
                  is_needed ? 1u : 0u);
    }
}

TEST(DriverWorkarounds, QuotientsAreExactOnGpusButInFusedNetworks) {
    const auto has_division = [](bool is_software, FuseMlp fused_networks) {
        Trace trace("main");
        const Tensor x = trace.input("x", {kBatch, 8});
        trace.output("y", nn::mlp(trace, "net", x, {16, 4}, relu, {.seed = 1}) / 3.0);
        CompileOptions options{.max_batch_size = 64, .fuse_mlp = fused_networks};
        options.caps.device_type = is_software ? DeviceType::kCpu : DeviceType::kOther;
        EXPECT_EQ(kExactDivision.is_needed(options.caps), !is_software);
        return count_of(trace, options, kOpFDiv) > 1;
    };
    EXPECT_TRUE(has_division(false, FuseMlp::kNever));
    EXPECT_FALSE(has_division(true, FuseMlp::kNever));
    EXPECT_FALSE(has_division(false, FuseMlp::kAlways));
}

TEST(DriverWorkarounds, TheLargerOfAFloatAndANumberAsksForNanOnGpus) {
    for (const bool is_software : {true, false}) {
        Trace trace("main");
        trace.output("y", relu(trace.input("x", {40})));
        CompileOptions options;
        options.caps.device_type = is_software ? DeviceType::kCpu : DeviceType::kOther;
        EXPECT_EQ(kGuardedNan.is_needed(options.caps), !is_software);
        EXPECT_EQ(count_of(trace, options, kOpIsNan), is_software ? 0u : 1u);
    }
}

TEST(DriverWorkarounds, EachSaysWhereItWasSeenAndWhy) {
    for (const DriverWorkaround* workaround : kDriverWorkarounds) {
        EXPECT_FALSE(std::string_view(workaround->name).empty());
        EXPECT_FALSE(std::string_view(workaround->driver).empty()) << workaround->name;
        EXPECT_FALSE(std::string_view(workaround->reason).empty()) << workaround->name;
        const std::string_view report = workaround->report;
        EXPECT_TRUE(report.empty() || report.starts_with("https://")) << workaround->name;
    }
}

TEST(DriverWorkarounds, AreSelectedByTheIdsThatDriversReport) {
    DeviceCaps adreno;
    adreno.vendor_id = vendor_id::kQualcomm;
    EXPECT_TRUE(kBasicSubgroups.is_needed(adreno));
    EXPECT_FALSE(kBasicSubgroups.is_needed(DeviceCaps{}));
    DeviceCaps mali;
    mali.subgroup_size = 1;  // as of a driver that reports 0
    EXPECT_TRUE(kUnreportedSubgroups.is_needed(mali));
    EXPECT_FALSE(kUnreportedSubgroups.is_needed(DeviceCaps{}));
}

}  // namespace
}  // namespace hearth::test
