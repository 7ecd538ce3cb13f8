// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Tuning without a device: what is believed of measurements and of files.

#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/tuning_data.hpp"

#include <hearth/ops.hpp>
#include <hearth/tuning.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace hearth {
namespace {

CompileOptions device_options() {
    CompileOptions options;
    options.caps.name = "a device";
    options.caps.max_compute_work_group_invocations = options.caps.max_compute_work_group_size_x =
        1024;
    options.caps.max_compute_shared_memory_size = 48 << 10;
    options.driver_id = "1.2";
    return options;
}

Compiled compile_product(const CompileOptions& options) {
    Trace trace("main");
    trace.output("y", relu(matmul(trace.input("a", {96, 64}), trace.input("b", {64, 128}))));
    Result<Compiled> compiled = compile({&trace}, options);
    EXPECT_TRUE(compiled.ok()) << compiled.status().message();
    return compiled.ok() ? std::move(*compiled) : Compiled();
}

HostTensor filled(double value) {
    HostTensor c(DType::kF32, {96, 128});
    for (int64_t i = 0; i < c.element_count(); ++i) c.set(i, value);
    return c;
}

/// Tunes with a device that takes `us(variant number)` and computes `value(variant number)`.
struct Rehearsal {
    std::function<double(size_t)> us;
    std::function<double(size_t)> value = [](size_t) { return 1.0; };
    size_t count = 0;
    std::vector<std::string> variants;

    Tuner run(const CompileOptions& options) {
        Tuner tuner(compile_product(options).tunable_kernels, options);
        const Status status = tune(tuner, [&](const TuningTrial& trial) -> Result<TuningResult> {
            variants.push_back(trial.variant);
            EXPECT_EQ(trial.inputs.size(), 2u);
            const size_t i = count++;
            if (us(i) < 0) return internal_error("the pipeline does not build");
            return TuningResult{us(i), {{"c", filled(value(i))}}};
        });
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_TRUE(tuner.is_done());
        EXPECT_EQ(tuner.trials_done(), tuner.trial_count());
        return tuner;
    }
};

Tuning parsed(const Tuner& tuner) {
    Result<Tuning> tuning = parse_tuning(tuner.save());
    EXPECT_TRUE(tuning.ok()) << tuning.status().message();
    return *tuning;
}

TEST(Tuning, TheFastestVariantWinsAndIsCompiled) {
    CompileOptions options = device_options();
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? 5.0 : 10.0; }};
    const Tuner tuner = rehearsal.run(options);
    ASSERT_GE(rehearsal.count, 3u);
    const Tuning tuning = parsed(tuner);
    ASSERT_EQ(tuning.variants.size(), 1u);
    EXPECT_EQ(tuning.variants.begin()->second, rehearsal.variants[1]);
    const uint64_t shipped = compile_product(options).hash;
    options.tuning = tuner.save();
    const Compiled tuned = compile_product(options);
    EXPECT_NE(tuned.hash, shipped);
    EXPECT_TRUE(tuned.remarks.empty());
    EXPECT_EQ(compile_product(options).hash, tuned.hash);
}

TEST(Tuning, AVariantThatComputesSomethingElseDoesNotWin) {
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? 1.0 : 10.0; },
                        [](size_t i) { return i == 1 ? 1.001 : 1.0; }};
    const Tuner tuner = rehearsal.run(device_options());
    EXPECT_TRUE(parsed(tuner).variants.empty());
    ASSERT_EQ(tuner.remarks().size(), 1u);
    EXPECT_NE(tuner.remarks()[0].find("differs from the default variant"), std::string::npos);
}

TEST(Tuning, AVariantThatGivesNaNDoesNotWin) {
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? 1.0 : 10.0; },
                        [](size_t i) { return i == 1 ? std::nan("") : 1.0; }};
    EXPECT_TRUE(parsed(rehearsal.run(device_options())).variants.empty());
}

TEST(Tuning, AVariantThatDoesNotRunIsPassedOver) {
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? -1.0 : i == 2 ? 5.0 : 10.0; }};
    const Tuner tuner = rehearsal.run(device_options());
    const Tuning tuning = parsed(tuner);
    ASSERT_EQ(tuning.variants.size(), 1u);
    EXPECT_EQ(tuning.variants.begin()->second, rehearsal.variants[2]);
    ASSERT_EQ(tuner.remarks().size(), 1u);
    EXPECT_NE(tuner.remarks()[0].find("the pipeline does not build"), std::string::npos);
}

TEST(Tuning, WithoutTheShippedVariantThereIsNoWinner) {
    Rehearsal rehearsal{[](size_t i) { return i == 0 ? -1.0 : 5.0; }};
    EXPECT_TRUE(parsed(rehearsal.run(device_options())).variants.empty());
    EXPECT_EQ(rehearsal.count, 1u);
}

TEST(Tuning, AChangeWithinTheNoiseIsNone) {
    Rehearsal rehearsal{[](size_t i) { return i == 0 ? 10.0 : 9.9; }};
    EXPECT_TRUE(parsed(rehearsal.run(device_options())).variants.empty());
}

TEST(Tuning, ProgressMayStopIt) {
    const CompileOptions options = device_options();
    Tuner tuner(compile_product(options).tunable_kernels, options);
    size_t runs = 0;
    const Status status = tune(
        tuner,
        [&](const TuningTrial&) -> Result<TuningResult> {
            ++runs;
            return TuningResult{1, {{"c", filled(1)}}};
        },
        [](size_t done, size_t count) { return done < 2 && count > 2; });
    EXPECT_TRUE(status.ok());
    EXPECT_EQ(runs, 2u);
    EXPECT_FALSE(tuner.is_done());
}

TEST(Tuning, ABudgetOfNothingRunsOneTrial) {
    const CompileOptions options = device_options();
    Tuner tuner(compile_product(options).tunable_kernels, options);
    const RunTrial run = [&](const TuningTrial&) -> Result<TuningResult> {
        return TuningResult{1, {{"c", filled(1)}}};
    };
    ASSERT_TRUE(tune_for(tuner, run, std::chrono::microseconds(0)).ok());
    EXPECT_EQ(tuner.trials_done(), 1u);
    ASSERT_TRUE(tune_for(tuner, run, std::chrono::hours(1)).ok());
    EXPECT_TRUE(tuner.is_done());
}

TEST(Tuning, OfAnotherDeviceDriverOrVersionIsIgnoredWithANote) {
    CompileOptions options = device_options();
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? 5.0 : 10.0; }};
    const std::string text = rehearsal.run(options).save();
    const uint64_t shipped = compile_product(options).hash;
    const auto replaced = [&](const std::string& from, const std::string& to) {
        std::string other = text;
        EXPECT_NE(other.find(from), std::string::npos);
        return other.replace(other.find(from), from.size(), to);
    };
    const std::pair<std::string, std::string> cases[] = {
        {replaced("device a device", "device another"), "it was measured for device 'another'"},
        {replaced("driver 1.2", "driver 1.3"), "it was measured for driver '1.3', not '1.2'"},
        {replaced("version 0", "version 99"), "it was measured for Hearth '99"},
        {replaced("hearth tuning 1", "hearth tuning 2"), "line 1"},
        {"", ""},
    };
    for (const auto& [tuning, note] : cases) {
        options.tuning = tuning;
        const Compiled compiled = compile_product(options);
        EXPECT_EQ(compiled.hash, shipped) << note;
        if (note.empty()) continue;
        ASSERT_EQ(compiled.remarks.size(), 1u) << note;
        EXPECT_NE(compiled.remarks[0].find(note), std::string::npos) << compiled.remarks[0];
    }
}

TEST(Tuning, APackageIsCookedWithTheTuningOfItsDevice) {
    Trace trace("main");
    trace.output("y", relu(matmul(trace.input("a", {96, 64}), trace.input("b", {64, 128}))));
    const auto cooked = [&](const CompileOptions& options) {
        CookOptions cooking;
        cooking.device_targets.push_back({"device", options});
        Result<Cooked> result = cook({&trace}, cooking);
        EXPECT_TRUE(result.ok()) << result.status().message();
        return result.ok() ? std::move(result->device_targets[0].compiled) : Compiled();
    };
    CompileOptions options = device_options();
    const uint64_t untuned = cooked(options).hash;
    Rehearsal rehearsal{[](size_t i) { return i == 1 ? 5.0 : 10.0; }};
    options.tuning = rehearsal.run(options).save();
    const Compiled tuned = cooked(options);
    EXPECT_NE(tuned.hash, untuned);
    EXPECT_TRUE(tuned.remarks.empty());

    options.caps.name = "another";
    const Compiled other = cooked(options);
    EXPECT_EQ(other.hash, untuned);
    ASSERT_EQ(other.remarks.size(), 1u);
    EXPECT_EQ(other.remarks[0],
              "tuning is ignored: it was measured for device 'a device', not 'another'");
}

// `hearth tune` on a CPU once ran 0 trials.
TEST(Tuning, KernelsForCpusHaveVariants) {
    CompileOptions options;
    options.caps = cpu_caps(CpuIsa::kX86_64V3);
    options.driver_id = "1";
    const auto compile_conv = [&]() -> Result<CompiledProgram> {
        Trace trace("main");
        const Tensor x = trace.input("x", {1, 16, 24, 24}), w = trace.input("w", {32, 16, 3, 3});
        trace.output("y", relu(conv(x, w, {}, {.pad_begin = {1, 1}})));
        HEARTH_ASSIGN(const Graph graph, trace.build());
        return compile_graphs({graph}, options);
    };
    const auto shipped = compile_conv();
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    ASSERT_EQ(shipped->tunable.size(), 1u);
    EXPECT_TRUE(shipped->tunable[0].starts_with("conv f32 1x16x24x24, f32 32x16x3x3"))
        << shipped->tunable[0];
    Tuner tuner(shipped->tunable, options);
    ASSERT_GE(tuner.trial_count(), 2u);
    std::string second;
    ASSERT_TRUE(tune(tuner, [&](const TuningTrial& trial) -> Result<TuningResult> {
                    EXPECT_FALSE(load_program(trial.program.bytes)->kernels[0].source.empty());
                    if (tuner.trials_done() == 1) second = trial.variant;
                    return TuningResult{tuner.trials_done() == 1 ? 5.0 : 10.0, {{"c", filled(1)}}};
                }).ok());
    for (const std::string& remark : tuner.remarks()) ADD_FAILURE() << remark;
    ASSERT_EQ(parsed(tuner).variants[shipped->tunable[0]], second);
    options.tuning = tuner.save();
    const auto tuned = compile_conv();
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    EXPECT_TRUE(tuned->remarks.empty());
    EXPECT_NE(tuned->program.kernels[0].source, shipped->program.kernels[0].source);
}

TEST(Tuning, OnlyVariantsThatTheProductHasAreTrusted) {
    CompileOptions options = device_options();
    const Compiled shipped = compile_product(options);
    ASSERT_EQ(shipped.tunable_kernels.size(), 1u);
    Tuning tuning = tuning_for(options);
    for (const char* variant :
         {"", "matrix", "vector 4096x4096x8 of 8x8, 1 stages, 0 threads",
          "tiled 64x64x16 of 0x0, 1 stages, 0 threads", "row 1x4x8 of 1x4, 1 stages, 9 threads"}) {
        tuning.variants[shipped.tunable_kernels[0]] = variant;
        options.tuning = print_tuning(tuning);
        EXPECT_EQ(compile_product(options).hash, shipped.hash) << variant;
    }
}

TEST(Tuning, ATextIsWhatItWasPrintedFrom) {
    Tuning tuning = tuning_for(device_options());
    tuning.variants = {{"one", "x"}, {"two", "y"}};
    tuning.remarks = {{"two", "5 us"}};
    const Result<Tuning> read = parse_tuning(print_tuning(tuning));
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(read->variants, tuning.variants);
    EXPECT_EQ(read->remarks, tuning.remarks);
    EXPECT_EQ(print_tuning(*read), print_tuning(tuning));
    EXPECT_EQ(print_tuning(*parse_tuning(print_tuning(tuning) + "zero = c\r\r\n")),
              print_tuning(tuning) + "zero = c\n");
    EXPECT_FALSE(parse_tuning("").ok());
    EXPECT_FALSE(parse_tuning(print_tuning(tuning) + "one = z\n").ok());
    EXPECT_FALSE(parse_tuning(print_tuning(tuning) + "nonsense\n").ok());
}

DeviceCaps caps_with_matrices() {
    DeviceCaps caps = device_options().caps;
    caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    caps.max_compute_shared_memory_size = 48 << 10;
    caps.shader_float16 = caps.storage_buffer_16bit_access = true;
    caps.workgroup_scope_granularities = {
        {{64, {16, 16, 16}}, {128, {32, 16, 16}}, {256, {32, 32, 16}}}};
    caps.workgroup_scope_reserved_shared_memory = 8 << 10;
    return caps;
}

TEST(MatmulTiles, EachTileIsReadBackFromItsText) {
    const DeviceCaps caps = caps_with_matrices();
    MatmulProblem problem{.m = 16, .n = 512, .k = 512};
    problem.can_use_matrices = problem.can_load_vec4 = true;
    problem.a_form = "f16";
    problem.b_form = std::string(kCastForm);
    const std::vector<MatmulTile> tiles = matmul_candidates(problem, caps);
    EXPECT_GT(tiles.size(), 8u);
    for (const MatmulTile& tile : tiles) {
        EXPECT_EQ(parse_matmul_tile(to_string(tile)), tile) << to_string(tile);
        EXPECT_LE(shared_bytes_of(tile, problem, caps), caps.max_compute_shared_memory_size);
        EXPECT_LE(threads_of(tile, caps), 1024);
    }
    const std::optional<MatmulProblem> read = parse_matmul_problem(problem.key());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->key(), problem.key());
    EXPECT_FALSE(parse_matmul_problem(problem.key() + " and more"));
    EXPECT_FALSE(parse_matmul_problem("matmul 0x1x1 b1 a f32/k b f32/n"));
}

TEST(MatmulTiles, MatricesOfAWorkgroupAreForDevicesThatHaveThem) {
    DeviceCaps caps = caps_with_matrices();
    MatmulProblem problem{.m = 512, .n = 512, .k = 512};
    problem.can_use_matrices = true;
    const auto count = [&] {
        const std::vector<MatmulTile> tiles = matmul_candidates(problem, caps);
        return std::count_if(tiles.begin(), tiles.end(), [](const MatmulTile& t) {
            return t.family == MatmulFamily::kWorkgroup;
        });
    };
    const auto all = count();
    EXPECT_GE(all, 4);
    // 128x128 in slices of 32 take 18.5 KB.
    caps.workgroup_scope_reserved_shared_memory = 36 << 10;
    EXPECT_LT(count(), all);
    caps = caps_with_matrices();
    caps.workgroup_scope_granularities[2].granularity.m = 96;
    EXPECT_LT(count(), all);
    caps.workgroup_scope_granularities = {};
    EXPECT_EQ(count(), 0);
}

TEST(MatmulTiles, AKernelWithMatricesOfAWorkgroupTellsSo) {
    CompileOptions options{.caps = caps_with_matrices()};
    Trace trace("run");
    const Tensor x = trace.input("x", {256, 256}, DType::kF16);
    trace.output("y", relu(matmul(x, x, false, true)));
    const Graph graph = trace.build().value();
    const auto shipped = compile_graphs({graph}, options);
    ASSERT_TRUE(shipped.ok()) << shipped.status().message();
    Tuning tuning = tuning_for(options);
    tuning.variants[shipped->tunable.at(0)] =
        "workgroup 128x128x32 of 128x32, 1 stages, 128 threads";
    options.tuning = print_tuning(tuning);
    const auto tuned = compile_graphs({graph}, options);
    ASSERT_TRUE(tuned.ok()) << tuned.status().message();
    ASSERT_EQ(tuned->program.kernels.size(), 1u);
    const Kernel& kernel = tuned->program.kernels[0];
    EXPECT_TRUE(kernel.needs_workgroup_matrices);
    EXPECT_EQ(kernel.needs_matrix_cores, CooperativeMatrixExt::kKhr);
    EXPECT_EQ(kernel.matrix, (MatrixShape{128, 32, 32}));
    EXPECT_EQ(kernel.local_size[0], 128u);
    EXPECT_FALSE(shipped->program.kernels[0].needs_workgroup_matrices);
    // Scope Workgroup for left, right and sum (SPIR-V specification, "Scope <id>").
    constexpr uint32_t kOpConstant = 43, kOpTypeCooperativeMatrix = 4456, kWorkgroup = 2;
    std::map<uint32_t, uint32_t> constants;  // by id
    int scopes = 0;
    for (size_t at = 5; at < kernel.spirv.size(); at += kernel.spirv[at] >> 16) {
        const uint32_t op = kernel.spirv[at] & 0xffff;
        if (op == kOpConstant) constants[kernel.spirv[at + 2]] = kernel.spirv[at + 3];
        if (op == kOpTypeCooperativeMatrix)
            scopes += constants.at(kernel.spirv[at + 3]) == kWorkgroup ? 1 : 0;
    }
    EXPECT_EQ(scopes, 3);
}

}  // namespace
}  // namespace hearth
