// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which tiles kernels get on devices of each size: all that are offered fit, and the less there is
// of a device, the more a workgroup does.

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/ops/kernels/attention_tiles.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"
#include "compiler/ops/op_table.hpp"
#include "core/device_model.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>

#include <string>

namespace hearth {
namespace {

/// A GPU of one of the models, or software.
DeviceCaps caps_of(const DeviceModel& model, bool has_matrices) {
    DeviceCaps caps;
    caps.device_type = model.is_software ? DeviceType::kCpu : DeviceType::kOther;
    caps.compute_units = static_cast<uint32_t>(model.compute_units);
    caps.max_compute_shared_memory_size = 32 << 10;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 1024;
    caps.shader_float16 = caps.storage_buffer_16bit_access = has_matrices;
    if (has_matrices) caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    return caps;
}

/// All models, with and without matrix cores.
std::vector<DeviceCaps> all_caps() {
    std::vector<DeviceCaps> all;
    for (const bool has_matrices : {false, true}) {
        for (const DeviceModel& model : kGpuModels) all.push_back(caps_of(model, has_matrices));
        all.push_back(caps_of(kSoftwareModel, has_matrices));
    }
    return all;
}

MatmulProblem product(int64_t m, int64_t n, int64_t k, const DeviceCaps& caps) {
    MatmulProblem problem{.m = m, .n = n, .k = k};
    problem.can_use_matrices = caps.cooperative_matrix != CooperativeMatrixExt::kNone;
    problem.can_load_vec4 = !problem.can_use_matrices && n % 4 == 0 && k % 4 == 0;
    problem.a_form = problem.b_form = problem.can_use_matrices ? "f16" : "f32";
    return problem;
}

constexpr int64_t kExtents[] = {1, 7, 32, 100, 256, 512, 1024, 4096};

TEST(MatmulTilesOfDevices, TheShippedOneFitsMatricesOfEachSizeAndLittleMemory) {
    for (const uint32_t shared_bytes : {4096u, 16384u, 49152u})
        for (const MatrixShape& shape :
             {MatrixShape{8, 8, 16}, {16, 8, 8}, {32, 32, 16}, {64, 64, 64}, {128, 16, 16}})
            for (const int64_t m : kExtents) {
                DeviceCaps caps = caps_of(kGpuModels[3], true);
                caps.cooperative_matrix_shape = shape;
                caps.max_compute_shared_memory_size = shared_bytes;
                MatmulProblem problem = product(m, 256, 256, caps);
                problem.can_load_vec4 = true;
                const MatmulTile tile = choose_matmul_tile(problem, caps);
                EXPECT_LE(shared_bytes_of(tile, problem, caps), shared_bytes) << to_string(tile);
                if (tile.family != MatmulFamily::kMatrix) continue;
                EXPECT_EQ(tile.tm % static_cast<int>(shape.m), 0) << to_string(tile);
                EXPECT_EQ(tile.tn % static_cast<int>(shape.n), 0) << to_string(tile);
                EXPECT_EQ(tile.bk % static_cast<int>(shape.k), 0) << to_string(tile);
            }
}

TEST(MatmulTilesOfDevices, AllThatAreOfferedFit) {
    for (const DeviceCaps& caps : all_caps())
        for (const int64_t m : kExtents)
            for (const int64_t n : kExtents) {
                const MatmulProblem problem = product(m, n, 256, caps);
                const std::vector<MatmulTile> tiles = matmul_candidates(problem, caps);
                ASSERT_FALSE(tiles.empty());
                EXPECT_EQ(tiles[0], choose_matmul_tile(problem, caps));
                for (const MatmulTile& tile : tiles) {
                    EXPECT_LE(shared_bytes_of(tile, problem, caps),
                              caps.max_compute_shared_memory_size)
                        << problem.key() << ": " << to_string(tile);
                    EXPECT_LE(threads_of(tile, caps), 1024);
                    EXPECT_GT(matmul_cost(tile, problem, caps), 0);
                }
            }
}

TEST(MatmulTilesOfDevices, OfPairsAreLoadedInEightsAndFit) {
    for (const DeviceModel& model : kGpuModels)
        for (const bool b_is_along_k : {false, true})
            for (const int64_t m : kExtents) {
                DeviceCaps caps = caps_of(model, false);
                caps.name = "AMD Custom GPU 0405 (RADV VANGOGH)";
                caps.shader_float16 = caps.storage_buffer_16bit_access = true;
                caps.mixed_float_dot_product = true;
                MatmulProblem problem{.m = m, .n = 256, .k = 256};
                problem.b_k_is_contiguous = b_is_along_k;
                problem.can_load_vec4 = problem.can_dot_halves = m > 16;
                problem.a_form = problem.b_form = "f16";
                EXPECT_EQ(parse_matmul_problem(problem.key())->can_dot_halves, m > 16);
                const MatmulTile tile = choose_matmul_tile(problem, caps);
                if (tile.family != MatmulFamily::kVector) continue;
                const int threads = threads_of(tile, caps);
                EXPECT_EQ(tile.bm * tile.bk % (4 * threads), 0) << to_string(tile);
                EXPECT_EQ(tile.bn * tile.bk % ((b_is_along_k ? 4 : 8) * threads), 0)
                    << to_string(tile);
                EXPECT_LE(registers_of(tile, problem, caps), device_model(caps).registers)
                    << to_string(tile);
                EXPECT_LE(shared_bytes_of(tile, problem, caps),
                          device_model(caps).shared_budget(threads))
                    << to_string(tile);
            }
}

TEST(MatmulTilesOfDevices, GrowWhereThereAreFewerUnits) {
    for (const bool has_matrices : {false, true})
        for (const int64_t m : kExtents) {
            int64_t larger = INT64_MAX;
            for (const DeviceModel& model : kGpuModels) {
                const DeviceCaps caps = caps_of(model, has_matrices);
                const MatmulTile tile = choose_matmul_tile(product(m, m, 512, caps), caps);
                const int64_t area = int64_t{tile.bm} * tile.bn;
                EXPECT_LE(area, larger) << m << " on " << model.name << ": " << to_string(tile);
                larger = area;
            }
        }
}

constexpr const char *kRadeon = "AMD Radeon RX 580 Series",
                     *kArc = "Intel(R) Arc(tm) B580 Graphics",
                     *kGeForce = "NVIDIA GeForce RTX 4090", *kH200 = "NVIDIA H200";

/// A large card of this name.
DeviceCaps caps_of_card(const char* name, bool has_matrices) {
    DeviceCaps caps = caps_of(kGpuModels[3], has_matrices);
    caps.max_compute_shared_memory_size = 48 << 10;
    caps.name = name;
    return caps;
}

TEST(MatmulTilesOfDevices, KeepToTheRegistersAndSharedMemoryOfTheFamily) {
    for (const char* name : {"any", kRadeon, kArc})
        for (const bool has_matrices : {false, true})
            for (const int64_t m : kExtents)
                for (const int64_t n : kExtents) {
                    DeviceCaps caps = caps_of_card(name, has_matrices);
                    if (name == kArc) {
                        caps.subgroup_size = 16;
                        caps.cooperative_matrix_shape = {8, 16, 16};
                    }
                    const DeviceModel model = device_model(caps);
                    MatmulProblem problem = product(m, n, 256, caps);
                    const MatmulTile tile = choose_matmul_tile(problem, caps);
                    const uint32_t most =
                        is_on_matrices(tile.family) ? model.fragment_registers : model.registers;
                    EXPECT_LE(registers_of(tile, problem, caps), most)
                        << problem.key() << ": " << to_string(tile);
                    EXPECT_LE(shared_bytes_of(tile, problem, caps),
                              model.shared_budget(threads_of(tile, caps)))
                        << problem.key() << ": " << to_string(tile);
                }
}

TEST(MatmulTilesOfDevices, AreTheMeasuredOnesInDataCentres) {
    const DeviceCaps h200 = caps_of_card(kH200, false);
    EXPECT_EQ(to_string(choose_matmul_tile(product(4096, 4096, 4096, h200), h200)),
              "vector 256x128x8 of 16x8, 2 stages, 0 threads");
    EXPECT_FALSE(sums_replace_slices({.family = MatmulFamily::kVector, .split = 4}, h200));
}

TEST(MatmulTilesOfDevices, OfAMiddlingProductDifferFromTheSmallestToTheLargest) {
    const DeviceCaps small = caps_of(kGpuModels[0], false);
    const DeviceCaps large = caps_of(kGpuModels[std::size(kGpuModels) - 1], false);
    EXPECT_NE(choose_matmul_tile(product(256, 256, 256, small), small),
              choose_matmul_tile(product(256, 256, 256, large), large));
}

TEST(MatmulTilesOfDevices, OfFewRowsReadWeightsOnceOnGpusAndOfIntegersAreTiled) {
    for (const DeviceCaps& caps : all_caps()) {
        const MatmulTile few = choose_matmul_tile(product(4, 512, 512, caps), caps);
        EXPECT_EQ(few.family == MatmulFamily::kGemv, !(caps.device_type == DeviceType::kCpu))
            << to_string(few);
        MatmulProblem integers{.m = 64, .n = 64, .k = 64};
        integers.is_integer = true;
        for (const MatmulTile& tile : matmul_candidates(integers, caps))
            EXPECT_EQ(tile.family, MatmulFamily::kTiled);
    }
}

/// The shipped tile of a convolution.
std::string shipped(const KernelProblem& problem, const DeviceCaps& caps) {
    std::vector<TensorType> outputs;
    EXPECT_TRUE(infer_types(*problem.op, problem.attrs, problem.inputs, outputs).ok());
    const std::vector<ConvTile> tiles = conv_tiles({problem.attrs, problem.inputs, outputs, caps});
    return tiles.empty() ? "" : to_string(tiles[0]);
}

TEST(ConvTilesOfDevices, OfAMiddlingLayerDifferFromTheSmallestToTheLargest) {
    Trace t("act");
    t.output("y", conv(t.input("x", {1, 64, 28, 28}), t.input("w", {64, 64, 1, 1})));
    const Graph graph = t.build().value();
    const KernelProblem layer = kernel_problem(graph, graph.nodes.back(), 1);
    const DeviceCaps small = caps_of(kGpuModels[0], false);
    const DeviceCaps large = caps_of(kGpuModels[std::size(kGpuModels) - 1], false);
    EXPECT_NE(shipped(layer, small), "");
    EXPECT_NE(shipped(layer, small), shipped(layer, large));
}

constexpr const char* kAttention =
    "attention f32 1x4x256x32, f32 1x4x256x32, f32 1x4x256x32, scale 0.17677669529663687, softcap "
    "0, "
    "causal 1, left -1, right -1, past 0, mask 0, lengths 0";

std::string shipped_tile(const KernelProblem& problem, const DeviceCaps& caps) {
    const std::vector<AttentionTile> tiles =
        attention_tiles(problem.op->traits.attention, problem.inputs, caps, 1);
    return tiles.empty() ? "" : to_string(tiles[0]);
}

TEST(AttentionTilesOfDevices, AreSmallerWhereThereIsMoreOfTheDevice) {
    DeviceCaps small = caps_of(kGpuModels[0], false), large = caps_of(kGpuModels[3], false);
    small.name = large.name = kGeForce;
    const KernelProblem problem = parse_kernel_problem(kAttention).value();
    EXPECT_EQ(shipped_tile(problem, small), "tiles of 16 queries and 64 keys");
    EXPECT_EQ(shipped_tile(problem, large), "tiles of 8 queries and 64 keys");
}

TEST(AttentionTilesOfDevices, LeaveSharedMemoryToOtherWorkgroupsWhereUnitsHaveLittle) {
    const DeviceCaps radeon = caps_of_card(kRadeon, false);
    EXPECT_EQ(shipped_tile(parse_kernel_problem(kAttention).value(), radeon),
              "tiles of 8 queries and 32 keys");
}

TEST(AttentionTilesOfDevices, HaveAKeyThatIsReadBack) {
    const auto problem = parse_kernel_problem(kAttention);
    ASSERT_TRUE(problem);
    ASSERT_EQ(problem->inputs.size(), 3u);
    EXPECT_EQ(problem->attrs.real("scale"), 0.17677669529663687);
    const auto again = parse_kernel_problem(problem->key());
    ASSERT_TRUE(again) << problem->key();
    EXPECT_EQ(again->key(), problem->key());
    EXPECT_FALSE(parse_kernel_problem("attention f32 1x4x8x8, scale wide"));
}

}  // namespace
}  // namespace hearth
