// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/no_contraction.hpp"

#include "compiler/codegen/glsl_compiler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace hearth {
namespace {

struct Contents {
    std::map<uint32_t, int> instructions;  ///< how many of each number
    std::multiset<uint32_t> decorated;     ///< NoContraction
    std::multiset<uint32_t> results;       ///< of products, quotients and fma
    bool decorates_behind_types = false;
};

Contents contents(std::span<const uint32_t> words) {
    constexpr uint32_t kExtInst = 12, kTypeVoid = 19, kDecorate = 71, kNoContraction = 42,
                       kFma = 50;
    constexpr uint32_t kProducts[] = {133, 136, 142, 148};
    Contents all;
    for (size_t at = 5; at < words.size(); at += words[at] >> 16) {
        const uint32_t op = words[at] & 0xffff;
        ++all.instructions[op];
        if (op == kDecorate && words[at + 2] == kNoContraction) {
            all.decorated.insert(words[at + 1]);
            all.decorates_behind_types |= all.instructions.contains(kTypeVoid);
        }
        if (std::ranges::find(kProducts, op) != std::end(kProducts) ||
            (op == kExtInst && words[at + 4] == kFma))
            all.results.insert(words[at + 2]);
    }
    return all;
}

TEST(NoContraction, IsSaidOfEachProductOfFloatsAndOfNothingElse) {
    const auto spirv = compile_glsl(R"(#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers { vec4 at[]; } numbers;
void main() {
    const uint i = gl_GlobalInvocationID.x * 2 + 1;
    const vec4 a = numbers.at[i], b = numbers.at[i + 1];
    const vec4 c = a * b + a / b - a * a.x;
    numbers.at[i] = fma(a, b, c) + exp(dot(a, b));
})",
                                    "numbers");
    ASSERT_TRUE(spirv.ok()) << spirv.status().message();
    const Contents before = contents(*spirv), after = contents(without_contraction(*spirv));
    EXPECT_TRUE(before.decorated.empty());
    EXPECT_EQ(before.results.size(), 5u);
    EXPECT_EQ(after.decorated, before.results);
    EXPECT_FALSE(after.decorates_behind_types);
    std::map<uint32_t, int> instructions = after.instructions;
    instructions[71] -= 5;
    EXPECT_EQ(instructions, before.instructions);
}

// glslang decorates what is computed for a `precise` value; a second decoration is invalid.
TEST(NoContraction, IsSaidOnceOfAPreciseProduct) {
    const auto spirv = compile_glsl(R"(#version 450
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) buffer Numbers { float at[]; } numbers;
void main() {
    precise const float exact = numbers.at[0] * numbers.at[1] + numbers.at[2];
    numbers.at[3] = exact + numbers.at[4] * numbers.at[5];
})",
                                    "precise");
    ASSERT_TRUE(spirv.ok()) << spirv.status().message();
    const Contents before = contents(*spirv), after = contents(without_contraction(*spirv));
    EXPECT_EQ(before.results.size(), 2u);
    ASSERT_FALSE(before.decorated.empty());
    for (const uint32_t result : before.results) EXPECT_EQ(after.decorated.count(result), 1u);
}

}  // namespace
}  // namespace hearth
