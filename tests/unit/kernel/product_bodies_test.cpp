// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Every kind of kernel of a matrix product, executed on the CPU: with all operands and epilogues of
// support/products.hpp it gives what the interpreter gives, without races and stray accesses.

#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "compiler/print/c.hpp"
#include "support/products.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <hearth/nn.hpp>

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <tuple>
#include <vector>

namespace hearth::test {
namespace {

DeviceCaps large_gpu(DeviceCaps caps) {
    caps.device_type = DeviceType::kOther;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 256;
    caps.max_compute_shared_memory_size = 32 << 10;
    return caps;
}

/// Matrices of 8x8x8 that subgroups or workgroups hold.
DeviceCaps matrix_gpu() {
    DeviceCaps caps = large_gpu(matrix_caps());
    caps.workgroup_scope_granularities[0] = {64, {8, 8, 8}};
    caps.workgroup_scope_granularities[1] = {128, {8, 8, 8}};
    return caps;
}

/// Without matrices, but with dot products of pairs of f16.
DeviceCaps dot_gpu() {
    DeviceCaps caps = large_gpu(gpu_caps());
    caps.shader_float16 = caps.storage_buffer_16bit_access = true;
    caps.mixed_float_dot_product = true;
    return caps;
}

Variant variant_of(const ProductCase& c) {
    Product product = build_product(c);
    std::vector<Graph> graphs{std::move(product.graph)};
    EXPECT_TRUE(quantize_weights(graphs, product.quantize).ok());
    return {c.name, std::move(graphs[0]), std::move(product.inputs), 1};
}

/// Runs all kernels of the variant, and prints those without matrices as C; returns how many they are.
int run_all(const Variant& variant, const DeviceCaps& caps, const LowerSettings& settings,
            double tolerance) {
    int count = 0;
    for (OpKernel& kernel : kernels_of(variant, caps, settings)) {
        if (!body_requirements(*kernel.body).matrices) {
            const Result<std::string> c = print_c(*kernel.body, "kernel");
            EXPECT_TRUE(c.ok()) << c.status().message();
        }
        const Status status = run_kernel(*kernel.body, kernel.launch, kernel.operands);
        EXPECT_TRUE(status.ok()) << status.message();
        if (!status.ok()) continue;
        ++count;
        for (const auto& [index, expected] : kernel.expected)
            EXPECT_EQ(difference(kernel.operands[index].tensor, expected, tolerance), "")
                << kernel.launch.label << ": operand " << index;
    }
    return count;
}

/// The smallest tile of each kind that the device has for the product.
std::vector<MatmulTile> kinds_of_tiles(const std::string& key, const DeviceCaps& caps) {
    const std::optional<MatmulProblem> problem = parse_matmul_problem(key);
    std::map<std::tuple<MatmulFamily, bool, int>, MatmulTile> kinds;
    for (const MatmulTile& tile : matmul_candidates(*problem, caps)) {
        const auto [at, is_new] =
            kinds.try_emplace({tile.family, tile.split > 1, tile.stages}, tile);
        const auto size = [](const MatmulTile& t) { return t.bm * t.bn * t.bk; };
        if (size(tile) < size(at->second)) at->second = tile;
    }
    std::vector<MatmulTile> tiles;
    for (const auto& [kind, tile] : kinds) tiles.push_back(tile);
    return tiles;
}

std::vector<std::string> tunable_of(const Variant& variant, const DeviceCaps& caps) {
    LowerOptions options;
    options.caps = caps;
    options.compile_kernels = false;
    options.fused_networks = false;
    const auto graph = run_passes(variant.graph, {.max_batch_size = 1, .caps = caps});
    const auto lowered = lower({&*graph, 1}, options);
    return lowered.ok() ? lowered->tunable : std::vector<std::string>();
}

class ProductBodies : public testing::TestWithParam<ProductCase> {};

TEST_P(ProductBodies, GiveWhatTheInterpreterGivesInTilesOfEveryKind) {
    const Variant variant = variant_of(GetParam());
    const double tolerance = reads_halves(GetParam()) ? 0x1p-7 : 2e-3;
    for (const DeviceCaps& caps : {large_gpu(gpu_caps()), dot_gpu(), matrix_gpu(), cpu_caps()}) {
        LowerSettings settings{.rows_capacity = 1};
        const std::vector<std::string> tunable = tunable_of(variant, caps);
        if (tunable.empty()) {
            EXPECT_GT(run_all(variant, caps, settings, tolerance), 0);
        }
        for (const std::string& key : tunable)
            for (const MatmulTile& tile : kinds_of_tiles(key, caps)) {
                SCOPED_TRACE(to_string(tile));
                settings.variants = {{key, to_string(tile)}};
                EXPECT_GT(run_all(variant, caps, settings, tolerance), 0);
            }
    }
}

/// Large products are for devices.
std::vector<ProductCase> small_cases() {
    constexpr int64_t kMost = 500'000;
    std::vector<ProductCase> cases(std::begin(kProductCases), std::end(kProductCases));
    std::erase_if(cases, [](const ProductCase& c) { return c.batch * c.m * c.n * c.k > kMost; });
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Products, ProductBodies, testing::ValuesIn(small_cases()),
                         [](const auto& test) { return std::string(test.param.name); });

/// A product of rows that are normalized first.
Variant normalized_product(const char* name, const Shape& shape, int64_t columns,
                           bool is_residual) {
    Trace trace("run");
    NamedTensors inputs;
    const auto input = [&](const char* of, const Shape& s, int64_t rows) {
        Shape whole = s;
        if (whole[0].is_batch) whole[0] = Dim(rows);
        inputs.emplace(of, random_product_tensor(whole, inputs.size() + 1, DType::kF16));
        return trace.input(of, s, DType::kF16);
    };
    constexpr int64_t kRows = 11;
    const Tensor x = input("x", shape, kRows);
    const Shape last{x.dim(-1)};
    const Tensor rows = layer_norm(x, {-1}, input("scale", last, 0), input("bias", last, 0), 1e-5);
    const Tensor y = matmul(rows, input("weight", {columns, x.dim(-1)}, 0), false, true);
    trace.output("y", is_residual ? y + x : relu(y));
    return {name, trace.build().value(), std::move(inputs), kRows};
}

TEST(ProductBodies, NormalizeRowsBeforeTheyMultiply) {
    const Variant variants[] = {normalized_product("LayerNorm", {37, 72}, 48, false),
                                normalized_product("RowsOfTheGame", {kBatch, 40}, 33, false),
                                normalized_product("Residual", {20, 64}, 64, true)};
    DeviceCaps caps = matrix_gpu();
    caps.subgroup_size = 32;
    caps.cooperative_matrix_shape = {16, 16, 16};
    for (const Variant& variant : variants)
        EXPECT_EQ(run_all(variant, caps, {}, 0x1p-5), 1) << variant.text;
}

}  // namespace
}  // namespace hearth::test
