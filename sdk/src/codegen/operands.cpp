// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/operands.hpp"

#include <algorithm>

namespace hearth {

namespace {

constexpr HeldType kHeldTypes[] = {
    {DType::kF32, "F32", "float"},     {DType::kI32, "I32", "int"},
    {DType::kU32, "U32", "uint"},      {DType::kF16, "F16", "float16_t"},
    {DType::kBF16, "U16", "uint16_t"}, {DType::kI16, "I16", "int16_t"},
    {DType::kU16, "U16", "uint16_t"},  {DType::kI8, "I8", "int8_t"},
    {DType::kU8, "U8", "uint8_t"},     {DType::kBool, "U8", "uint8_t"},
};

/// `stored`, an element of such a buffer, as the float, int or uint that kernels compute with.
std::string load_text(const HeldType& held, const std::string& stored) {
    if (size_bytes(held.dtype) == 4) return stored;
    if (held.dtype == DType::kF16) return "float(" + stored + ")";
    if (held.dtype == DType::kBF16) return "uintBitsToFloat(uint(" + stored + ") << 16)";
    return (is_unsigned(held.dtype) ? "uint(" : "int(") + stored + ")";
}

/// `value`, a float, int or uint, as an element of a tensor of `dtype` in such a buffer.
std::string store_text(const HeldType& held, DType dtype, const std::string& value) {
    const std::string element(held.element);
    if (dtype == DType::kF16) {
        const std::string rounded = "hearth_round_f16(" + value + ")";
        return held.dtype == dtype ? element + "(" + rounded + ")" : rounded;
    }
    if (dtype == DType::kBF16) {
        const std::string rounded = "hearth_round_bf16(" + value + ")";
        return held.dtype == dtype ? element + "(floatBitsToUint(" + rounded + ") >> 16)" : rounded;
    }
    if (size_bytes(held.dtype) < 4) return element + "(" + value + ")";
    if (is_integer(dtype) && size_bytes(dtype) < 4)
        return "bitfieldExtract(" + value + ", 0, " + std::to_string(8 * size_bytes(dtype)) + ")";
    return value;
}

}  // namespace

const HeldType& held_type(DType dtype, NarrowStorage storage) {
    const DType held = device_dtype(dtype, storage);
    return *std::find_if(std::begin(kHeldTypes), std::end(kHeldTypes),
                         [&](const HeldType& t) { return t.dtype == held; });
}

bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes) {
    return std::any_of(buffers.values.begin(), buffers.values.end(), [&](uint32_t v) {
        return size_bytes(device_dtype(graph.values[v].dtype, storage)) == bytes;
    });
}

std::string access_macros(const Graph& graph, const BufferTable& buffers, NarrowStorage storage) {
    std::string text;
    for (size_t i = 0; i < buffers.values.size(); ++i) {
        const DType dtype = graph.values[buffers.values[i]].dtype;
        const HeldType& held = held_type(dtype, storage);
        const std::string name = "b" + std::to_string(i);
        const std::string at = name + ".at[i]";
        text += "#define " + name + "_load(i) " + load_text(held, at) + "\n";
        text += "#define " + name + "_store(i, value) " + at + " = " +
                store_text(held, dtype, "value") + "\n";
    }
    return text;
}

}  // namespace hearth
