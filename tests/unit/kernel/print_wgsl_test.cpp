// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels whose invocations work together, in WGSL: operators that GPUs have such kernels for are printed with the limits
// of WebGPU, and WebGPU's compiler accepts them where one is installed.

#include "compiler/ops/op_table.hpp"
#include "compiler/print/wgsl.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hearth::test {
namespace {

/// Limits that every device of WebGPU has; storage is 32-bit words.
DeviceCaps webgpu_caps() {
    DeviceCaps caps = gpu_caps();
    caps.max_compute_shared_memory_size = 16 << 10;
    caps.max_compute_work_group_invocations = caps.max_compute_work_group_size_x = 256;
    caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access = false;
    caps.shader_int64 = caps.shader_float64 = false;
    return caps;
}

bool has_lengths(const Variant& variant) {
    return variant.text.find("lengths=1") != std::string::npos;
}

/// WGSL rounds and wraps no narrow elements.
bool has_narrow_elements(const Graph& graph) {
    return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
        return value.dtype != DType::kBool && size_bytes(value.dtype) < 4;
    });
}

class KernelsInWgsl : public testing::TestWithParam<const char*> {};

TEST_P(KernelsInWgsl, AreAcceptedByWebGpusCompiler) {
    const auto variants = variants_of(*find_op(GetParam()));
    ASSERT_TRUE(variants.ok()) << variants.status().message();
    const bool has_compiler = std::system("naga --version > /dev/null 2>&1") == 0;
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / ("hearth_" + std::string(GetParam()) + ".wgsl");
    int count = 0;
    for (size_t i = 0; i < variants->size(); i += 5) {
        const Variant& variant = (*variants)[i];
        // A barrier may not depend on what storage holds.
        if (has_lengths(variant) || has_narrow_elements(variant.graph)) continue;
        for (const OpKernel& kernel : kernels_of(variant, webgpu_caps())) {
            if (kernel.launch.label.find(GetParam(), variant.text.size()) == std::string::npos)
                continue;
            const Result<std::string> text = print_wgsl(*kernel.body);
            ASSERT_TRUE(text.ok()) << kernel.launch.label << ": " << text.status().message();
            ++count;
            if (!has_compiler) continue;
            std::ofstream(path) << *text;
            const std::string command = "naga " + path.string() + " > /dev/null";
            EXPECT_EQ(std::system(command.c_str()), 0) << kernel.launch.label;
        }
    }
    std::filesystem::remove(path);
    EXPECT_GT(count, 0);
    if (!has_compiler) GTEST_SKIP() << "printed alone: there is no program `naga`";
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsInWgsl,
                         testing::Values("matmul", "attention", "attention_backward_queries",
                                         "attention_backward_keys", "gru_window",
                                         "gru_window_backward"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace hearth::test
