// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/glsl_elements.hpp"

#include <algorithm>
#include <iterator>

namespace hearth {

namespace {

constexpr HeldType kHeldTypes[] = {
    {DType::kF32, "F32", "float"},     {DType::kI32, "I32", "int"},
    {DType::kU32, "U32", "uint"},      {DType::kF16, "F16", "float16_t"},
    {DType::kBF16, "U16", "uint16_t"}, {DType::kI16, "I16", "int16_t"},
    {DType::kU16, "U16", "uint16_t"},  {DType::kI8, "I8", "int8_t"},
    {DType::kU8, "U8", "uint8_t"},     {DType::kBool, "U8", "uint8_t"},
    {DType::kI64, "I64", "int64_t"},   {DType::kU64, "U64", "uint64_t"},
};

}  // namespace

std::string load_text(const HeldType& held, const std::string& stored) {
    if (size_bytes(held.dtype) >= 4) return stored;
    if (held.dtype == DType::kF16) return "float(" + stored + ")";
    if (held.dtype == DType::kBF16) return "uintBitsToFloat(uint(" + stored + ") << 16)";
    return (is_unsigned(held.dtype) ? "uint(" : "int(") + stored + ")";
}

namespace {

/// `value` as the tensor's type can hold it.
std::string rounded_text(DType dtype, const std::string& value) {
    if (dtype == DType::kF16) return "hearth_round_f16(" + value + ")";
    return dtype == DType::kBF16 ? "hearth_round_bf16(" + value + ")" : value;
}

}  // namespace

std::string value_text(const HeldType& held, DType dtype, const std::string& value) {
    if (dtype == DType::kF16 || dtype == DType::kBF16) {
        const std::string rounded = rounded_text(dtype, value);
        return held.dtype == DType::kBF16 ? "floatBitsToUint(" + rounded + ") >> 16" : rounded;
    }
    if (size_bytes(held.dtype) >= 4 && is_integer(dtype) && size_bytes(dtype) < 4)
        return "bitfieldExtract(" + value + ", 0, " + std::to_string(8 * size_bytes(dtype)) + ")";
    return value;
}

std::string store_text(const HeldType& held, DType dtype, const std::string& value) {
    const std::string text = value_text(held, dtype, value);
    return size_bytes(held.dtype) < 4 ? std::string(held.element) + "(" + text + ")" : text;
}

std::string_view glsl_chunk_type(Chunk chunk) {
    switch (chunk) {
        case Chunk::kOne:
            break;
        case Chunk::kTwo:
            return "vec2";
        case Chunk::kThree:
            return "vec3";
        case Chunk::kLeft:
            return "hearth_matrix_a";
        case Chunk::kRight:
            return "hearth_matrix_b";
        case Chunk::kSums:
            return "hearth_matrix_sum";
        case Chunk::kHalfSums:
            return "hearth_matrix_half";
        case Chunk::kFour:
            return "vec4";
        case Chunk::kHalf:
            return "float16_t";
        case Chunk::kHalves:
            return "uvec4";
    }
    return "float";
}

const HeldType& held_type(DType held) {
    return *std::find_if(std::begin(kHeldTypes), std::end(kHeldTypes),
                         [&](const HeldType& t) { return t.dtype == held; });
}

std::string element_of_words(const HeldType& held, const std::string& words,
                             const std::string& lane) {
    if (size_bytes(held.dtype) == 4) {
        const std::string word = words + "[" + lane + "]";
        if (held.dtype == DType::kF32) return "uintBitsToFloat(" + word + ")";
        return held.dtype == DType::kU32 ? word : "int(" + word + ")";
    }
    const std::string word = words + "[" + lane + " / 2]", half = lane + " % 2";
    if (held.dtype == DType::kF16) return "unpackHalf2x16(" + word + ")[" + half + "]";
    if (held.dtype == DType::kBF16)
        return "uintBitsToFloat(" + half + " == 0 ? " + word + " << 16 : " + word +
               " & 0xffff0000u)";
    return "bitfieldExtract(" + (is_unsigned(held.dtype) ? word : "int(" + word + ")") + ", " +
           half + " * 16, 16)";
}

std::string word_of_elements(const HeldType& held, DType dtype, const std::string& values,
                             int index) {
    const auto element = [&](int i) { return values + "[" + std::to_string(i) + "]"; };
    if (size_bytes(held.dtype) == 4) {
        const std::string value = store_text(held, dtype, element(index));
        return held.dtype == DType::kF32 ? "floatBitsToUint(" + value + ")" : "uint(" + value + ")";
    }
    const std::string low = rounded_text(dtype, element(2 * index)),
                      high = rounded_text(dtype, element(2 * index + 1));
    if (held.dtype == DType::kF16) return "packHalf2x16(vec2(" + low + ", " + high + "))";
    if (held.dtype == DType::kBF16)
        return "(floatBitsToUint(" + low + ") >> 16 | (floatBitsToUint(" + high +
               ") & 0xffff0000u))";
    return "(uint(" + low + ") & 0xffffu | uint(" + high + ") << 16)";
}

}  // namespace hearth
