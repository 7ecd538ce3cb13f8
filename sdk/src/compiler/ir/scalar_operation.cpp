// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Executes scalar operations on words of 32 or 64 bits with the semantics of kernels.

#include "compiler/ir/scalar_operation.hpp"

#include "compiler/ir/scalar_instructions.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/convert.hpp>

#include <bit>
#include <type_traits>

namespace hearth {

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
T number(uint64_t bits) {
    return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}
template <class T>
uint64_t bits_of(T value) {
    return std::bit_cast<BitsOf<T>>(value);
}
template <class F>
uint64_t rounded(double value) {
    return bits_of(static_cast<F>(value));
}

/// To the nearest value of the type; NaN as an integer is 0.
uint64_t saturated(double value, ScalarType type) {
    switch (type) {
        case ScalarType::kI32:
            return bits_of(saturate_cast<int32_t>(value));
        case ScalarType::kU32:
            return saturate_cast<uint32_t>(value);
        default:
            return bits_of(value, type);
    }
}

IntegerOperand integer(uint64_t bits, ScalarType type) {
    const bool is_signed = type == ScalarType::kI32 || type == ScalarType::kI64;
    if (is_wide(type)) return {bits, is_signed, 64};
    const auto word = static_cast<uint32_t>(bits);
    return {is_signed ? static_cast<uint64_t>(int64_t{number<int32_t>(word)}) : word, is_signed,
            32};
}

uint64_t float_of(IntegerOperand a, ScalarType type) {
    if (type == ScalarType::kF64)
        return bits_of(a.is_signed ? static_cast<double>(a.value()) : static_cast<double>(a.bits));
    return bits_of(a.is_signed ? static_cast<float>(a.value()) : static_cast<float>(a.bits));
}

}  // namespace

uint64_t bits_of(double value, ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return rounded<float>(value);
        case ScalarType::kF64:
            return bits_of(value);
        case ScalarType::kI64:
            return bits_of(saturate_cast<int64_t>(value));
        case ScalarType::kU64:
            return saturate_cast<uint64_t>(value);
        case ScalarType::kBool:
            return value != 0;
        default:
            return static_cast<uint32_t>(saturate_cast<int64_t>(value));
    }
}

double value_of(uint64_t bits, ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return static_cast<double>(number<float>(bits));
        case ScalarType::kF64:
            return number<double>(bits);
        case ScalarType::kI32:
            return number<int32_t>(bits);
        case ScalarType::kI64:
            return static_cast<double>(number<int64_t>(bits));
        default:
            return static_cast<double>(bits);
    }
}

uint64_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint64_t, 3> in) {
    if (op == ScalarOp::kSelect) return in[0] != 0 ? in[1] : in[2];
    const ScalarInstruction& row = instruction_of(op);
    const ScalarType result = result_of(row, operand);
    if (is_floating(operand)) {
        if (row.of_floats == nullptr) return in[0];  // the same bits
        const double value = row.of_floats(value_of(in[0], operand), value_of(in[1], operand));
        return saturated(value, result);
    }
    const IntegerOperand a = integer(in[0], operand);
    if (row.signature == ScalarSignature::kConversion && is_floating(result))
        return float_of(a, result);
    HEARTH_ASSERT(row.of_integers != nullptr);
    const uint64_t bits = row.of_integers(a, integer(in[1], operand));
    return is_wide(result) ? bits : static_cast<uint32_t>(bits);
}

const char* name_of(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return "f32";
        case ScalarType::kI32:
            return "i32";
        case ScalarType::kU32:
            return "u32";
        case ScalarType::kBool:
            return "bool";
        case ScalarType::kI64:
            return "i64";
        case ScalarType::kU64:
            return "u64";
        case ScalarType::kF64:
            return "f64";
    }
    return "";
}

}  // namespace hearth
