// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/khr_matrices.hpp"

#include "compiler/codegen/glsl_compiler.hpp"
#include "compiler/shaders/shader_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>

namespace hearth {
namespace {

constexpr uint32_t kTypeMatrix = 4456, kLoad = 4457, kStore = 4458, kMulAdd = 4459;
constexpr uint32_t kConstant = 43;

std::vector<uint32_t> compile(bool distinct_scopes) {
    std::string text =
        "#version 450\n"
        "#extension GL_NV_cooperative_matrix : require\n"
        "#extension GL_KHR_memory_scope_semantics : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n"
        "#pragma use_vulkan_memory_model\n"
        "#define hearth_matrix_m 16\n#define hearth_matrix_n 8\n#define hearth_matrix_k 32\n";
    if (distinct_scopes) text += "#define HEARTH_MATRIX_KHR\n";
    text += shader_text("common/coopmat.glsl");
    text += R"(layout(local_size_x = 32) in;
layout(set = 0, binding = 0) buffer Sums { float at[]; } sums;
shared uvec4 tile[256];
void main() {
    tile[gl_LocalInvocationIndex] = uvec4(1);
    barrier();
    hearth_matrix_a a;
    hearth_matrix_b b[2];
    hearth_matrix_sum sum = hearth_matrix_sum(0.0);
    hearth_matrix_load(a, tile, 0, 4, false);
    hearth_matrix_load(b[1], tile, 64, 5, true);
    sum = hearth_multiply_add(a, b[1], sum);
    sum = hearth_matrix_sum(hearth_matrix_half(sum));
    hearth_matrix_store(sum, sums.at, 0, 8, false);
})";
    Result<std::vector<uint32_t>> words = compile_glsl(text, "matrices");
    EXPECT_TRUE(words.ok()) << words.status().message();
    return words.ok() ? *words : std::vector<uint32_t>();
}

/// Operands of every instruction with this number.
std::vector<std::vector<uint32_t>> find(std::span<const uint32_t> words, uint32_t op) {
    std::vector<std::vector<uint32_t>> found;
    for (size_t at = 5; at < words.size(); at += words[at] >> 16)
        if ((words[at] & 0xffff) == op)
            found.emplace_back(words.begin() + static_cast<ptrdiff_t>(at) + 1,
                               words.begin() + static_cast<ptrdiff_t>(at + (words[at] >> 16)));
    return found;
}

uint32_t constant(std::span<const uint32_t> words, uint32_t id) {
    for (const auto& operands : find(words, kConstant))
        if (operands[1] == id) return operands[2];
    return 999;
}

TEST(KhrMatrices, EachKindOfMatrixGetsItsUse) {
    const auto translated = to_khr_matrices(compile(true));
    ASSERT_TRUE(translated.ok()) << translated.status().message();
    std::vector<std::array<uint32_t, 3>> types;  // rows, columns, use
    for (const auto& type : find(*translated, kTypeMatrix)) {
        ASSERT_EQ(type.size(), 6u);
        types.push_back({constant(*translated, type[3]), constant(*translated, type[4]),
                         constant(*translated, type[5])});
    }
    std::sort(types.begin(), types.end());
    const std::vector<std::array<uint32_t, 3>> expected = {
        {16, 8, 2}, {16, 8, 2}, {16, 32, 0}, {32, 8, 1}};
    EXPECT_EQ(types, expected);
}

TEST(KhrMatrices, LayoutComesBeforeStride) {
    const auto translated = to_khr_matrices(compile(true));
    ASSERT_TRUE(translated.ok()) << translated.status().message();
    const auto loads = find(*translated, kLoad), stores = find(*translated, kStore);
    ASSERT_EQ(loads.size(), 2u);
    ASSERT_EQ(stores.size(), 1u);
    EXPECT_EQ(find(*translated, kMulAdd).size(), 1u);
    EXPECT_EQ(constant(*translated, loads[0][3]), 0u);
    EXPECT_EQ(constant(*translated, loads[0][4]), 4u);
    EXPECT_EQ(constant(*translated, loads[1][3]), 1u);
    EXPECT_EQ(constant(*translated, loads[1][4]), 5u);
    EXPECT_EQ(constant(*translated, stores[0][2]), 0u);
    EXPECT_EQ(constant(*translated, stores[0][3]), 8u);
}

TEST(KhrMatrices, NoTraceOfTheOtherExtensionIsLeft) {
    const auto translated = to_khr_matrices(compile(true));
    ASSERT_TRUE(translated.ok()) << translated.status().message();
    for (uint32_t op = 5358; op <= 5362; ++op) EXPECT_TRUE(find(*translated, op).empty()) << op;
    bool has_khr = false;
    for (const auto& capability : find(*translated, 17)) {
        EXPECT_NE(capability[0], 5357u);
        has_khr = has_khr || capability[0] == 6022u;
    }
    EXPECT_TRUE(has_khr);
    const auto extensions = find(*translated, 10);
    ASSERT_EQ(extensions.size(), 1u);
    EXPECT_STREQ(reinterpret_cast<const char*>(extensions[0].data()), "SPV_KHR_cooperative_matrix");
}

TEST(KhrMatrices, MatricesOfUnknownUseAreRefused) {
    const auto translated = to_khr_matrices(compile(false));
    ASSERT_FALSE(translated.ok());
    EXPECT_NE(translated.status().message().find("whose scope tells no use"), std::string::npos);
}

}  // namespace
}  // namespace hearth
