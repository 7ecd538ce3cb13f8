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

#include <algorithm>

namespace hearth::test {
namespace {

DeviceCaps caps_with_f16() {
    DeviceCaps caps;
    caps.shader_float16 = caps.storage_buffer_16bit_access = true;
    return caps;
}

/// Whether the source of any kernel has the text.
bool any_has(Trace& trace, CompileOptions options, std::string_view text) {
    options.keep_source = true;
    const auto compiled = compile({&trace}, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    if (!compiled.ok()) return false;
    const auto program = load_program(compiled->bytes);
    EXPECT_TRUE(program.ok()) << program.status().message();
    return program.ok() && std::ranges::any_of(program->kernels, [&](const Kernel& kernel) {
               return kernel.source.find(text) != std::string::npos;
           });
}

bool has_rolled_loops(Trace& trace, bool is_software, FuseMlp fused_networks = FuseMlp::kNever) {
    CompileOptions options{.max_batch_size = 64, .fuse_mlp = fused_networks};
    options.caps.device_type = is_software ? DeviceType::kCpu : DeviceType::kOther;
    EXPECT_EQ(kRolledLoops.is_needed(options.caps), is_software);
    return any_has(trace, options, "[[dont_unroll]]");
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
        EXPECT_EQ(any_has(trace, options, "#define HEARTH_CONVERTS_TO_NEAREST"), is_needed);
        EXPECT_TRUE(any_has(trace, options, "hearth_round_f16("));
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
        return any_has(trace, options, "hearth_divide(");
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
        EXPECT_EQ(any_has(trace, options, " < 0.0 ? 0.0 : "), is_software);
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
