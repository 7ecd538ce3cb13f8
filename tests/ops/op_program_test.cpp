// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiled programs of every operator's samples, run on the CPU at their real arena offsets: what
// fusion, order, aliasing and memory planning do to a result, without a device.

#include "compiler/driver/compile.hpp"
#include "compiler/interpreter/run_program.hpp"
#include "ops/op_cases.hpp"

#include <gtest/gtest.h>

namespace hearth::test {
namespace {

class OpProgram : public testing::TestWithParam<const OpDef*> {};
// Those that have such cases.
class TypedProgram : public OpProgram {};
class EmptyProgram : public OpProgram {};

/// Compiles the variants, runs them on the CPU and compares with the interpreter.
void expect_as_interpreted(std::span<const Variant> variants, double tolerance,
                           CompileOptions options = {}) {
    // Inputs are small, whatever their type could hold.
    options.assume_int32 = options.assume_float32 = true;
    std::vector<Graph> graphs;
    for (const Variant& v : variants) {
        graphs.push_back(v.graph);
        options.max_batch_size =
            std::max(options.max_batch_size, static_cast<uint64_t>(v.rows) + 5);
    }
    const auto compiled = compile_graphs(std::move(graphs), options);
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_EQ(compiled->program.storage, options.caps.narrow_storage());
    ProgramMemory memory(compiled->program);
    for (size_t i = 0; i < variants.size(); ++i) {
        const Variant& v = variants[i];
        NamedTensors weights;
        const auto expected = interpret(v.graph, v.inputs, weights, v.rows);
        ASSERT_TRUE(expected.ok()) << v.text << ": " << expected.status().message();
        const auto found = run_program(compiled->program, v.graph.name, compiled->graphs[i],
                                       v.inputs, memory, v.rows);
        ASSERT_TRUE(found.ok()) << v.text << ": " << found.status().message();
        for (const auto& [name, value] : *expected) {
            ASSERT_TRUE(found->contains(name)) << v.text << ": no output " << name;
            EXPECT_EQ(difference(found->at(name), value, tolerance), "")
                << v.text << ": " << name << (options.fuse ? " fused" : " unfused");
        }
    }
}

TEST_P(OpProgram, EqualsTheInterpreterAtItsRealOffsetsFusedAndUnfused) {
    const OpDef& op = *GetParam();
    const auto variants = variants_of(op);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    if (variants->empty()) GTEST_SKIP() << op.name << " has only samples of types no GPU holds";
    for (const bool fuse : {true, false})
        expect_as_interpreted(*variants, op.tolerance.f32, {.fuse = fuse});
}

TEST_P(OpProgram, HoldsNarrowFloatsInTwoBytesAndInFour) {
    const OpDef& op = *GetParam();
    const auto variants = narrow_variants_of(op, DType::kF16);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    if (variants->empty()) GTEST_SKIP() << op.name << " has no samples of floats";
    for (const bool has_storage : {true, false}) {
        CompileOptions options;
        options.caps.storage_buffer_16bit_access = options.caps.storage_buffer_8bit_access =
            has_storage;
        expect_as_interpreted(*variants, op.tolerance.f16, options);
    }
}

TEST_P(OpProgram, HasTheInterpretersGradientsInF16) {
    const OpDef& op = *GetParam();
    const auto variants = narrow_gradients_of(op, DType::kF16);
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    if (variants->empty()) GTEST_SKIP() << op.name << " has no gradient of floats";
    expect_as_interpreted(*variants, 4 * op.tolerance.f16);
}

TEST_P(TypedProgram, CompilesForEveryElementTypeThatItsRecordAdmits) {
    const auto variants = variants_of(typed_cases_of(*GetParam()));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_interpreted(*variants, GetParam()->tolerance.f32);
}

TEST_P(EmptyProgram, CompilesForEmptyExtents) {
    const auto variants = variants_of(empty_cases_of(*GetParam()));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    expect_as_interpreted(*variants, GetParam()->tolerance.f32);
}

class ProductProgram : public testing::TestWithParam<DType> {};

TEST_P(ProductProgram, CompilesWithEveryEpilogue) {
    const std::vector<Variant> variants = epilogues_behind_products_of(GetParam());
    EXPECT_GE(variants.size(), 20u);
    expect_as_interpreted(variants, is_floating(GetParam()) ? 2e-2 : 2e-5);
}

INSTANTIATE_TEST_SUITE_P(Of, ProductProgram, testing::ValuesIn(kProductTypes),
                         [](const auto& test) { return std::string(name_of(test.param)); });
const auto name_of_op = [](const auto& test) { return std::string(test.param->name); };
INSTANTIATE_TEST_SUITE_P(Every, TypedProgram, testing::ValuesIn(ops_with(typed_cases_of)),
                         name_of_op);
INSTANTIATE_TEST_SUITE_P(Every, EmptyProgram, testing::ValuesIn(ops_with(empty_cases_of)),
                         name_of_op);
INSTANTIATE_TEST_SUITE_P(AllOps, OpProgram, testing::ValuesIn(all_ops()), name_of_op);

}  // namespace
}  // namespace hearth::test
