// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each kernel of a matrix product computes on the device what the reference does, with the operands and epilogues of
// support/products.hpp.

#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/device_caps.hpp"
#include "support/products.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

namespace hearth::test {
namespace {

class MatmulKernel : public VulkanTest, public testing::WithParamInterface<ProductCase> {
  protected:
    void expect_reference(const Product& product, CompileOptions options, const char* mark) {
        options.keep_source = true;
        const auto compiled = compile_graphs({product.graph}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        ASSERT_EQ(compiled->program.kernels.size(), 1u);
        const std::string& source = compiled->program.kernels[0].source;
        // On the largest devices sums of stretches have memory of their own.
        const bool is_split = mark == std::string_view(kSplit) &&
                              source.find("shared vec4 of_stretch") != std::string::npos;
        EXPECT_TRUE(is_split || source.find(mark) != std::string::npos) << mark;
        NamedTensors weights;
        const auto expected = interpret(compiled->graphs[0], product.inputs, weights, 1);
        ASSERT_TRUE(expected.ok()) << expected.status().message();
        const auto runner =
            standalone::ProgramRunner::create(device(), save_program(compiled->program));
        ASSERT_TRUE(runner.ok()) << runner.status().message();
        const auto found = (*runner)->run("run", 1, product.inputs);
        ASSERT_TRUE(found.ok()) << found.status().message();
        for (const auto& [name, value] : *expected) {
            // Sums below 16 of f16 may round to neighbours, 2^-7 apart, before or after what
            // follows.
            const bool is_half = reads_halves(GetParam()) || value.dtype() == DType::kF16;
            const double tolerance = is_half ? 0x1p-7 : 2e-5;
            for (int64_t i = 0; i < value.element_count(); ++i)
                ASSERT_NEAR(found->at(name).get(i), value.get(i), tolerance) << name << " " << i;
        }
    }

    CompileOptions options() {
        CompileOptions options{.caps = device().caps().value(), .fuse_mlp = FuseMlp::kNever};
        if (test_setting("HEARTH_TEST_BINDING") == "descriptor")
            options.binding_model = BindingModel::kDescriptor;
        return options;
    }
};

TEST_P(MatmulKernel, EqualsTheReferenceWithWhateverFollows) {
    CompileOptions as_on_gpu = options();
    as_on_gpu.caps.device_type = DeviceType::kOther;
    as_on_gpu.caps = without_matrix_cores(as_on_gpu.caps);
    // The marks are of tiles that fit in so much.
    as_on_gpu.caps.max_compute_shared_memory_size = 32768;
    const Product product = build_product(GetParam());
    as_on_gpu.quantize = product.quantize;
    expect_reference(product, as_on_gpu, GetParam().mark);
}

/// Options by which a product on matrix cores gets the smallest tile of a kind, with or without
/// subgroups that share it; null if it has none.
std::optional<CompileOptions> with_tile(const Graph& graph, CompileOptions options,
                                        MatmulFamily family, bool is_split = false) {
    const auto compiled = compile_graphs({graph}, options);
    if (!compiled.ok() || compiled->tunable.empty()) return std::nullopt;
    const std::optional<MatmulProblem> problem = parse_matmul_problem(compiled->tunable[0]);
    if (!problem) return std::nullopt;
    std::optional<MatmulTile> chosen;
    for (const MatmulTile& tile : matmul_candidates(*problem, options.caps))
        if (tile.family == family && (tile.split > 1) == is_split &&
            (!chosen || tile.bm * tile.bn * tile.bk < chosen->bm * chosen->bn * chosen->bk))
            chosen = tile;
    if (!chosen) return std::nullopt;
    Tuning tuning = tuning_for(options);
    tuning.variants[compiled->tunable[0]] = to_string(*chosen);
    options.tuning = print_tuning(tuning);
    return options;
}

TEST_P(MatmulKernel, EqualsTheReferenceOnMatrixCores) {
    const ProductCase& c = GetParam();
    if (!reads_halves(c) || c.m < 16) return;
    if (options().caps.cooperative_matrix == CooperativeMatrixExt::kNone)
        GTEST_SKIP() << "the device has no matrix cores for f16 with f32 sums";
    const Product product = build_product(c);
    for (const bool is_split : {false, true}) {
        const auto forced = with_tile(product.graph, options(), MatmulFamily::kMatrix, is_split);
        ASSERT_TRUE(forced);
        expect_reference(product, *forced, "shared uvec4 tile");
    }
}

TEST_P(MatmulKernel, EqualsTheReferenceOnMatricesOfAWorkgroup) {
    const ProductCase& c = GetParam();
    if (!reads_halves(c) || c.m < 16) return;
    if (options().caps.workgroup_scope_granularities[0].invocations == 0)
        GTEST_SKIP() << "the device has no matrices of a workgroup (VK_NV_cooperative_matrix2)";
    const Product product = build_product(c);
    const auto forced = with_tile(product.graph, options(), MatmulFamily::kWorkgroup);
    ASSERT_TRUE(forced);
    expect_reference(product, *forced, "shared uvec4 tile");
}

INSTANTIATE_TEST_SUITE_P(Products, MatmulKernel, testing::ValuesIn(kProductCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
