// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators' samples in MSL: compiled as C++ with a stand-in for Metal's library, they give what the interpreter
// gives.  That they run on a device of Apple's was not tried.

#include "compiler/print/msl.hpp"
#include "unit/kernel/compiled_kernels.hpp"

#include <hearth/op/op_def.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <regex>

namespace hearth::test {
namespace {

/// Arrays of a workgroup exist once, and so do the prelude and decompositions in a file of several kernels.
std::string as_cpp(const std::string& printed) {
    return std::regex_replace(printed, std::regex("threadgroup (\\w+ \\w+\\[)"), "static $1");
}

/// Calls the kernel for workgroups, as RunWorkgroups.
std::string caller_of(const Body& body, const std::string& name) {
    std::string operands;
    size_t count = 0;
    for (const BodyBuffer& b : body.buffers)
        if (b.kind == BufferKind::kOperand)
            operands += "Any{operands[" + std::to_string(count++) + "]}, ";
    const bool meets = body_requirements(body).barriers;
    return "extern \"C\" void " + name +
           "_run(void* const* operands, int rows, int first, int end, int workgroups) {\n"
           "    const Run run{rows, workgroups};\n"
           "    for (int group = first; group < end; ++group)\n"
           "        run_workgroup(" +
           std::to_string(body.threads) + ", " + (meets ? "true" : "false") +
           ", [&](uint lane) {\n"
           "            " +
           name + "(" + operands + "run, uint3(uint(group), 0u, 0u), lane);\n        });\n}\n";
}

class KernelsInMsl : public testing::TestWithParam<const OpDef*> {};

TEST_P(KernelsInMsl, GiveWhatTheInterpreterGives) {
    const OpDef& op = *GetParam();
    const bool is_nightly = std::getenv("HEARTH_TEST_EVERY") != nullptr;
    constexpr std::string_view kDaily[] = {"tanh", "erf",     "pow",    "fmod", "softmax",
                                           "sum",  "argmax",  "cumsum", "sort", "random_uniform",
                                           "cast", "scatter", "gather", "sin",  "game_row_energy"};
    if (!is_nightly && std::ranges::find(kDaily, op.name) == std::end(kDaily))
        GTEST_SKIP() << "nightly: compiling C++ takes a second for each operator";
    std::vector<std::pair<OpKernel, double>> kernels;
    const auto take = [&](const Result<std::vector<Variant>>& variants, double tolerance) {
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        for (size_t i = 0; i < variants->size(); i += is_nightly ? 2 : 5)
            for (OpKernel& kernel : kernels_of((*variants)[i], gpu_caps()))
                kernels.emplace_back(std::move(kernel), tolerance);
    };
    take(variants_of(op), op.tolerance.f32);
    take(narrow_variants_of(op, DType::kF16), op.tolerance.f16);
    take(narrow_variants_of(op, DType::kBF16), 8 * op.tolerance.f16);
    if (HasFatalFailure()) return;
    if (kernels.empty()) GTEST_SKIP() << op.name << " has no kernel that is a body";

    std::string text =
        "struct Any {\n    void* at;\n    template <class T>\n"
        "    operator T*() const { return static_cast<T*>(at); }\n};\n";
    std::vector<bool> is_printed;
    for (size_t i = 0; i < kernels.size(); ++i) {
        const std::string name = "kernel_" + std::to_string(i);
        const Result<std::string> printed = print_msl(*kernels[i].first.body, name);
        is_printed.push_back(printed.ok());
        if (!printed.ok()) {
            EXPECT_EQ(printed.status().message(), "MSL: chunks of f16")
                << kernels[i].first.launch.label;
            continue;
        }
        text += "namespace in_" + name + " {\n" + as_cpp(*printed) +
                caller_of(*kernels[i].first.body, name) + "}\n";
    }
    // Included in each namespace, it is there once.
    text = "#include <metal_stdlib>\n" + text;
    const char* const compiler = std::getenv("CXX");
    const KernelLibrary library("hearth_kernels_in_msl_" + std::string(op.name), "kernels.cpp",
                                text,
                                std::string(compiler != nullptr ? compiler : "c++") +
                                    " -std=c++20 -Wall -Werror -Wno-unused -Wno-main "
                                    "-Wno-attributes -Wno-unknown-attributes -ffp-contract=off "
                                    "-fwrapv -O0 -pthread -I" HEARTH_METAL_STAND_IN);
    ASSERT_TRUE(library.is_open()) << "c++ refuses the kernels of " << op.name;
    for (size_t i = 0; i < kernels.size(); ++i) {
        if (!is_printed[i]) continue;
        RunWorkgroups* const run = library.find("kernel_" + std::to_string(i) + "_run");
        ASSERT_NE(run, nullptr);
        expect_as_interpreted(kernels[i].first, run, kernels[i].second);
    }
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsInMsl, testing::ValuesIn(all_ops()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace hearth::test
