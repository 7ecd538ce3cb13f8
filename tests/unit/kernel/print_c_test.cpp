// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators' samples as C: built by the system's compiler, they give what the
// interpreter gives, in whatever order their workgroups run.  As code of a register machine they
// give the same bits without a compiler.

#include "compiler/kernel/writer.hpp"
#include "compiler/print/c.hpp"
#include "compiler/reference/kernel_code.hpp"
#include "unit/kernel/compiled_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

#include <cstdlib>

namespace hearth::test {
namespace {

class KernelsInC : public testing::TestWithParam<const OpDef*> {};

TEST_P(KernelsInC, GiveWhatTheInterpreterGives) {
    const OpDef& op = *GetParam();
    const bool is_nightly = std::getenv("HEARTH_TEST_EVERY") != nullptr;
    std::vector<std::pair<OpKernel, double>> kernels;
    const auto take = [&](const Result<std::vector<Variant>>& variants, double tolerance) {
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        for (size_t i = 0; i < variants->size(); i += is_nightly ? 1 : 7)
            for (const DeviceCaps& caps : {gpu_caps(), cpu_caps()})
                for (OpKernel& kernel : kernels_of((*variants)[i], caps))
                    kernels.emplace_back(std::move(kernel), tolerance);
    };
    take(variants_of(op), op.tolerance.f32);
    take(narrow_variants_of(op, DType::kF16), op.tolerance.f16);
    if (is_nightly) take(narrow_variants_of(op, DType::kBF16), 8 * op.tolerance.f16);
    if (HasFatalFailure()) return;
    if (kernels.empty()) GTEST_SKIP() << op.name << " has no kernel that is a body";

    std::string text(c_prelude());
    for (size_t i = 0; i < kernels.size(); ++i) {
        const auto printed = print_c(*kernels[i].first.body, "kernel_" + std::to_string(i));
        ASSERT_TRUE(printed.ok()) << printed.status().message();
        text += *printed;
    }
    const char* const compiler = std::getenv("CC");
    const KernelLibrary library("hearth_kernels_in_c_" + std::string(op.name), "kernels.c", text,
                                std::string(compiler != nullptr ? compiler : "cc") +
                                    " -std=c11 -Wall -Werror -Wno-unused -Wno-tautological-compare "
                                    "-fwrapv -ffp-contract=off " +
                                    (is_nightly ? "-O3" : "-O0"));
    ASSERT_TRUE(library.is_open()) << "cc refuses the kernels of " << op.name;
    for (size_t i = 0; i < kernels.size(); ++i) {
        RunWorkgroups* const run = library.find("kernel_" + std::to_string(i));
        ASSERT_NE(run, nullptr);
        const auto [kernel, tolerance] = kernels[i];
        const auto code = lower_kernel(*kernel.body, CpuIsa::kScalar, kernel.launch.label);
        ASSERT_TRUE(code.ok()) << code.status().message();
        const auto run_code = [&](void* const* operands, int32_t rows, int32_t first, int32_t end,
                                  int32_t workgroups) {
            code->run(operands, rows, first, end, workgroups);
        };
        EXPECT_EQ(expect_as_interpreted(kernel, run, tolerance),
                  expect_as_interpreted(kernel, run_code, tolerance))
            << kernel.launch.label;
    }
}

TEST(PrintC, AReturnOutOfALoopBesideBarriersIsUnsupported) {
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = 8;
    const uint32_t b = body.operand(0, DType::kF32, DType::kF32);
    writer.barrier();
    const Expr turn = writer.for_("turn", body.index(0), [](Expr i) { return i < 3; });
    writer.if_(turn == body.invocation());
    writer.leave();
    writer.end();
    writer.end();
    writer.store(b, body.invocation(), body.constant(1, ScalarType::kF32));
    body.statements = writer.take();
    ASSERT_TRUE(verify_body(body).ok());
    const auto printed = print_c(body, "k");
    ASSERT_FALSE(printed.ok());
    EXPECT_EQ(printed.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(printed.status().message(), "kernel k in C: a return out of a loop beside barriers");
}

TEST(KernelCode, NamesWhatOnlyGpusHave) {
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    body.threads = 8;
    body.subgroup_size = 4;
    const uint32_t b = body.operand(0, DType::kI32, DType::kI32);
    writer.store(b, body.invocation(), body.subgroup());
    body.statements = writer.take();
    const auto code = lower_kernel(body, CpuIsa::kScalar, "k");
    ASSERT_FALSE(code.ok());
    EXPECT_EQ(code.status().code(), StatusCode::kUnsupported);
    EXPECT_EQ(code.status().message(), "kernel k without a C compiler: the expression 'subgroup'");
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsInC, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
