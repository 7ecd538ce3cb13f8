// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Each text of shaders/matmul computes what the reference does: with the operands that it may read
// (as they lie in memory, transposed, rounded, packed, gathered) and with what may follow the
// product before it is stored.

#include "compiler/codegen/matmul/matmul_tiles.hpp"
#include "compiler/driver/compile.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/interpreter/interpreter.hpp"
#include "support/device_caps.hpp"
#include "support/vulkan_fixture.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/ops.hpp>

#include <gtest/gtest.h>
#include <standalone/program_runner.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace hearth::test {
namespace {

enum class Operand { kF32, kF16, kRounded, kFlipped, kInt8, kInt4 };

/// What follows the product.
enum class Ending { kNothing, kLayer, kResidual, kBothStored };

struct ProductCase {
    const char* name;
    int64_t batch, m, k, n;
    Operand a, b;
    bool transpose_a, transpose_b;
    Ending ending;
    const char* mark;  ///< of the text that a GPU without matrix cores gets
};

/// Of the product, whatever its operands are in memory.
bool reads_halves(const ProductCase& c) {
    return c.a == Operand::kF16 || c.a == Operand::kRounded;
}

constexpr const char* kTiled = "shared Number tile_a";
constexpr const char* kVector = "shared vec4 tile_a";
constexpr const char* kRow = "shared float partial";

constexpr ProductCase kCases[] = {
    {"Plain", 1, 37, 36, 40, Operand::kF32, Operand::kF32, false, false, Ending::kLayer, kVector},
    {"LastColumnsAreNoVector", 1, 37, 36, 39, Operand::kF32, Operand::kF32, false, true,
     Ending::kResidual, kVector},
    {"Swapped", 2, 36, 37, 44, Operand::kF32, Operand::kF32, true, false, Ending::kBothStored,
     kVector},
    {"Odd", 3, 19, 21, 23, Operand::kF32, Operand::kF32, true, true, Ending::kNothing, kTiled},
    {"Halves", 1, 40, 72, 48, Operand::kF16, Operand::kF16, false, false, Ending::kLayer, kVector},
    {"HalvesSwapped", 2, 40, 66, 48, Operand::kF16, Operand::kF16, true, false, Ending::kResidual,
     kVector},
    {"HalvesAlongK", 1, 37, 72, 41, Operand::kF16, Operand::kF16, false, true, Ending::kBothStored,
     kVector},
    {"OddHalves", 1, 33, 35, 37, Operand::kF16, Operand::kF16, false, false, Ending::kNothing,
     kTiled},
    {"Rounded", 1, 37, 40, 44, Operand::kRounded, Operand::kF16, false, false, Ending::kResidual,
     kVector},
    {"Flipped", 1, 37, 40, 44, Operand::kFlipped, Operand::kF32, false, false, Ending::kLayer,
     kTiled},
    {"Int8", 1, 37, 64, 40, Operand::kF32, Operand::kInt8, false, true, Ending::kLayer, kVector},
    {"Int4", 1, 37, 64, 40, Operand::kF32, Operand::kInt4, false, true, Ending::kBothStored,
     kVector},
    {"Int4AlongN", 1, 37, 40, 64, Operand::kF32, Operand::kInt4, false, false, Ending::kResidual,
     kVector},
    {"FewTiles", 1, 37, 260, 40, Operand::kF32, Operand::kF32, false, true, Ending::kLayer,
     "#define SPLIT 16"},
    {"FewTilesSwapped", 1, 36, 200, 39, Operand::kF32, Operand::kF32, true, true,
     Ending::kBothStored, "#define SPLIT 16"},
    {"MoreTiles", 4, 100, 132, 132, Operand::kF32, Operand::kF32, false, false, Ending::kResidual,
     "#define SPLIT 4"},
    {"OneRow", 1, 1, 100, 37, Operand::kF32, Operand::kF32, false, true, Ending::kLayer, kRow},
    {"RowsOfHalves", 1, 5, 72, 48, Operand::kF16, Operand::kF16, false, true, Ending::kBothStored,
     kRow},
    {"RowsAlongN", 1, 3, 100, 40, Operand::kF32, Operand::kF16, false, false, Ending::kResidual,
     kRow},
    {"RowsOfInt8", 1, 9, 96, 48, Operand::kF32, Operand::kInt8, false, true, Ending::kLayer, kRow},
    {"RowOfInt4", 1, 1, 96, 48, Operand::kF32, Operand::kInt4, false, true, Ending::kResidual,
     kRow},
};

HostTensor random(const Shape& shape, uint64_t key, DType dtype = DType::kF32) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i, 2 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 1);
    return t;
}

class MatmulKernel : public VulkanTest, public testing::WithParamInterface<ProductCase> {
  protected:
    struct Product {
        Graph graph;
        NamedTensors inputs;
        QuantizeOptions quantize;
    };

    /// A graph of one product.
    static Product build(const ProductCase& c) {
        Product product;
        Trace trace("run");
        const auto input = [&](const char* name, const Shape& shape, DType dtype) {
            product.inputs.emplace(name, random(shape, product.inputs.size() + 1, dtype));
            return trace.input(name, shape, dtype);
        };
        const auto operand = [&](const char* name, Operand kind, int64_t rows, int64_t columns,
                                 bool is_swapped) -> Tensor {
            Shape shape{is_swapped ? columns : rows, is_swapped ? rows : columns};
            if (c.batch > 1) shape = {Dim(c.batch), shape[0], shape[1]};
            switch (kind) {
                case Operand::kF32:
                    break;
                case Operand::kF16:
                    return input(name, shape, DType::kF16);
                case Operand::kRounded:
                    return cast(input(name, shape, DType::kF32), DType::kF16);
                case Operand::kFlipped:
                    return flip(input(name, shape, DType::kF32), {0, 1});
                case Operand::kInt8:
                case Operand::kInt4:
                    product.quantize = {.format = kind == Operand::kInt8 ? WeightFormat::kInt8
                                                                         : WeightFormat::kInt4,
                                        .min_elements = 1};
                    return trace.param(name, shape, Init::from(random(shape, 7)));
            }
            return input(name, shape, DType::kF32);
        };
        const Tensor a = operand("a", c.a, c.m, c.k, c.transpose_a);
        Tensor b = operand("b", c.b, c.k, c.n, c.transpose_b);
        if (a.dtype() != b.dtype()) b = cast(b, a.dtype());
        const Tensor y = matmul(a, b, c.transpose_a, c.transpose_b);
        const auto vector = [&] { return input("bias", {c.n}, y.dtype()); };
        switch (c.ending) {
            case Ending::kNothing:
                trace.output("y", y);
                break;
            case Ending::kLayer:
                trace.output("y", relu(y + vector()));
                break;
            case Ending::kResidual:
                trace.output("y", cast(y * 0.5 + input("skipped", y.shape(), y.dtype()),
                                       y.dtype() == DType::kF16 ? DType::kF32 : DType::kF16));
                break;
            case Ending::kBothStored: {
                const Tensor before = y + vector();
                trace.output("before", before);
                trace.output("y", gelu(before));
                break;
            }
        }
        product.graph = trace.build().value();
        return product;
    }

    void expect_reference(const Product& product, const CompileOptions& options, const char* mark) {
        const auto compiled = compile_graphs({product.graph}, options);
        ASSERT_TRUE(compiled.ok()) << compiled.status().message();
        ASSERT_EQ(compiled->program.kernels.size(), 1u);
        EXPECT_NE(compiled->program.kernels[0].source.find(mark), std::string::npos) << mark;
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
    const Product product = build(GetParam());
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
    const Product product = build(c);
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
    const Product product = build(c);
    const auto forced = with_tile(product.graph, options(), MatmulFamily::kWorkgroup);
    ASSERT_TRUE(forced);
    expect_reference(product, *forced, "const int kParts = BN / TN");
}

INSTANTIATE_TEST_SUITE_P(Products, MatmulKernel, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace hearth::test
