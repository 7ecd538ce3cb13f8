// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/no_contraction.hpp"

#include <unordered_set>

namespace hearth {

namespace {

constexpr uint32_t kHeaderWords = 5;
constexpr uint32_t kNoContraction = 42;
constexpr uint32_t kFma = 50;  // of GLSL.std.450, the only set that glslang imports for our texts

enum Op : uint32_t {
    kOpExtInst = 12,
    kOpTypeVoid = 19,
    kOpTypeForwardPointer = 39,
    kOpDecorate = 71,
    kOpFMul = 133,
    kOpFDiv = 136,
    kOpVectorTimesScalar = 142,
    kOpDot = 148,
};

/// Whether a sum behind it may become part of it; a quotient is a product with a reciprocal.  Undecorated, even fma may
/// be two operations.
bool may_be_contracted(std::span<const uint32_t> instruction) {
    switch (instruction[0] & 0xffff) {
        case kOpExtInst:
            return instruction[4] == kFma;
        case kOpFMul:
        case kOpFDiv:
        case kOpVectorTimesScalar:
        case kOpDot:
            return true;
        default:
            return false;
    }
}

}  // namespace

std::vector<uint32_t> without_contraction(std::span<const uint32_t> spirv) {
    std::vector<uint32_t> decorations;
    std::unordered_set<uint32_t> decorated;  // by glslang: what a `precise` value depends on
    size_t types = 0;                        // the first; annotations end there
    for (size_t at = kHeaderWords; at < spirv.size(); at += spirv[at] >> 16) {
        const uint32_t opcode = spirv[at] & 0xffff;
        if (types == 0 && opcode >= kOpTypeVoid && opcode <= kOpTypeForwardPointer) types = at;
        if (opcode == kOpDecorate && spirv[at + 2] == kNoContraction)
            decorated.insert(spirv[at + 1]);
        if (may_be_contracted(spirv.subspan(at)) && !decorated.contains(spirv[at + 2]))
            decorations.insert(decorations.end(),
                               {3u << 16 | kOpDecorate, spirv[at + 2], kNoContraction});
    }
    std::vector<uint32_t> words(spirv.begin(), spirv.end());
    words.insert(words.begin() + static_cast<ptrdiff_t>(types), decorations.begin(),
                 decorations.end());
    return words;
}

}  // namespace hearth
