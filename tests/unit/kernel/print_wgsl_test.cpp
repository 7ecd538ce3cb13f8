// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels whose invocations work together, in WGSL: operators that GPUs have such kernels for are printed with the limits
// of WebGPU, and WebGPU's compiler accepts them where one is installed.

#include "compiler/kernel/writer.hpp"
#include "compiler/ops/op_table.hpp"
#include "compiler/print/wgsl.hpp"
#include "unit/kernel/op_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
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

size_t count_of(const std::string& text, const std::string& part) {
    size_t count = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

TEST(PrintWgsl, DecompositionsComeOnceEachBeforeThoseThatCallThem) {
    Body body;
    ScalarArena arena;
    KernelWriter writer(body, arena, {});
    const uint32_t in = body.operand(0, DType::kF32, DType::kF32);
    const uint32_t out = body.operand(1, DType::kF32, DType::kF32);
    const Expr x = body.load(in, body.invocation());
    writer.store(out, body.index(0), body.operation(ScalarOp::kTan, x));
    writer.store(out, body.index(1), body.operation(ScalarOp::kSin, x));
    body.statements = writer.take();
    const Result<std::string> text = print_wgsl(body);
    ASSERT_TRUE(text.ok()) << text.status().message();
    size_t last = 0;
    for (const char* head : {"fn hearth_reduce_far(", "fn hearth_sin_kernel(", "fn hearth_sin(",
                             "fn hearth_tan(", "fn main("}) {
        EXPECT_EQ(count_of(*text, head), 1u) << head;
        EXPECT_GT(text->find(head), last) << head;
        last = text->find(head);
    }
    EXPECT_EQ(count_of(*text, "fn hearth_erf("), 0u);
    EXPECT_NE(text->find("quadrant_: ptr<function, i32>"), std::string::npos);
}

TEST(PrintWgsl, FunctionsTakeBuffersByTheirPlaceAndSetResultsByPointer) {
    Body body;
    ScalarArena arena;
    const uint32_t out = body.operand(0, DType::kF32, DType::kF32);
    const Expr to = body.new_buffer("to", BufferKind::kParameter, DType::kF32, DType::kF32);
    const Expr sum = body.new_local("sum", LocalKind::kResult, ScalarType::kF32);
    KernelWriter inner(body, arena, {});
    inner.store(static_cast<uint32_t>(to.node().bits), body.invocation(),
                body.constant(1, ScalarType::kF32));
    inner.assign(sum, body.constant(2, ScalarType::kF32));
    body.functions.push_back(
        {.name = "put", .parameters = {to.id, sum.id}, .statements = inner.take()});
    KernelWriter writer(body, arena, {});
    const Expr found = writer.declare("found", ScalarType::kF32);
    const Expr arguments[] = {body.buffer(out), found};
    writer.call(0, arguments);
    writer.store(out, body.index(0), found);
    body.statements = writer.take();
    ASSERT_TRUE(verify_body(body).ok()) << verify_body(body).message();
    const Result<std::string> text = print_wgsl(body);
    ASSERT_TRUE(text.ok()) << text.status().message();
    for (const char* part : {"fn put(to_: u32, sum_: ptr<function, f32>) {", "(*sum_) = 2.0f;",
                             "put(at_0, &found_);", "memory[to_ + u32(own_invocation)]"})
        EXPECT_NE(text->find(part), std::string::npos) << part << "\n" << *text;
}

TEST(PrintWgsl, KernelsOfWordsForGpusCanBePrinted) {
    std::set<std::string> refusals;
    size_t printed = 0;
    for (const OpDef* op : all_ops()) {
        const auto variants = variants_of(*op);
        ASSERT_TRUE(variants.ok()) << variants.status().message();
        for (const Variant& variant : *variants)
            for (const OpKernel& kernel : kernels_of(variant, gpu_caps())) {
                const bool is_narrow = std::ranges::any_of(
                    kernel.body->buffers,
                    [](const BodyBuffer& b) { return size_bytes(b.held) != 4; });
                if (is_narrow) continue;
                const Result<std::string> text = print_wgsl(*kernel.body);
                ++printed;
                if (!text.ok())
                    refusals.insert(kernel.launch.label + ": " + text.status().message());
            }
    }
    EXPECT_GT(printed, 500u);
    for (const std::string& refusal : refusals) ADD_FAILURE() << refusal;
}

INSTANTIATE_TEST_SUITE_P(Of, KernelsInWgsl,
                         testing::Values("matmul", "attention", "attention_backward_queries",
                                         "attention_backward_keys", "gru_window",
                                         "gru_window_backward"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace hearth::test
