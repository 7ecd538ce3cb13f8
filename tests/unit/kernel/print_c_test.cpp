// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators' samples as C: built by the system's compiler, they give what the
// interpreter gives, in whatever order their workgroups run.

#include "compiler/kernel/writer.hpp"
#include "compiler/print/c.hpp"
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
        expect_as_interpreted(kernels[i].first, run, kernels[i].second);
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

INSTANTIATE_TEST_SUITE_P(Of, KernelsInC, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
