// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/kernel/types.hpp"

namespace hearth {

namespace {

std::optional<ScalarType> unary_type(ScalarOp op, ScalarType a) {
    const bool is_float = is_floating(a), is_bool = a == ScalarType::kBool;
    const bool is_whole = !is_float && !is_bool;
    const auto given = [](bool is_taken, ScalarType type) {
        return is_taken ? std::optional(type) : std::nullopt;
    };
    switch (op) {
        case ScalarOp::kNot:
            return given(is_bool, ScalarType::kBool);
        case ScalarOp::kNeg:
        case ScalarOp::kAbs:
        case ScalarOp::kSign:
            return given(!is_bool, a);
        case ScalarOp::kBitNot:
            return given(is_whole, a);
        case ScalarOp::kIsNan:
        case ScalarOp::kIsInf:
            return given(is_float, ScalarType::kBool);
        case ScalarOp::kToF32:
            return ScalarType::kF32;
        case ScalarOp::kToI32:
            return ScalarType::kI32;
        case ScalarOp::kToU32:
            return ScalarType::kU32;
        case ScalarOp::kToBool:
            return ScalarType::kBool;
        case ScalarOp::kBitsToF32:
            return given(is_whole && !is_wide(a), ScalarType::kF32);
        case ScalarOp::kBitsToI32:
            return given(a == ScalarType::kF32, ScalarType::kI32);
        case ScalarOp::kBitsToU32:
            return given(a == ScalarType::kF32, ScalarType::kU32);
        case ScalarOp::kToI64:
            return ScalarType::kI64;
        case ScalarOp::kToU64:
            return ScalarType::kU64;
        case ScalarOp::kToF64:
            return ScalarType::kF64;
        case ScalarOp::kBitsToF64:
            return given(is_whole && is_wide(a), ScalarType::kF64);
        case ScalarOp::kBitsToI64:
            return given(a == ScalarType::kF64, ScalarType::kI64);
        case ScalarOp::kBitsToU64:
            return given(a == ScalarType::kF64, ScalarType::kU64);
        case ScalarOp::kRoundF16:
        case ScalarOp::kRoundBF16:
            return given(a == ScalarType::kF32, a);
        case ScalarOp::kBitsToUniform:
            return given(a == ScalarType::kU32, ScalarType::kF32);
        default:
            return given(is_float, a);  // functions of mathematics, and rounding
    }
}

}  // namespace

std::optional<ScalarType> type_of_operation(ScalarOp op, std::span<const ScalarType> operands) {
    const ScalarType a = operands[0];
    if (is_unary(op)) return unary_type(op, a);
    const ScalarType b = operands[1];
    const bool is_bool = a == ScalarType::kBool, is_float = is_floating(a);
    switch (op) {
        case ScalarOp::kAdd:
        case ScalarOp::kSub:
        case ScalarOp::kMul:
        case ScalarOp::kDiv:
        case ScalarOp::kMod:
        case ScalarOp::kPow:
        case ScalarOp::kMin:
        case ScalarOp::kMax:
            return a == b && !is_bool ? std::optional(a) : std::nullopt;
        case ScalarOp::kAtan2:
            return a == b && is_float ? std::optional(a) : std::nullopt;
        case ScalarOp::kLess:
        case ScalarOp::kLessEqual:
            return a == b && !is_bool ? std::optional(ScalarType::kBool) : std::nullopt;
        case ScalarOp::kEqual:
        case ScalarOp::kNotEqual:
            return a == b ? std::optional(ScalarType::kBool) : std::nullopt;
        case ScalarOp::kAnd:
        case ScalarOp::kOr:
        case ScalarOp::kXor:
            return is_bool && b == a ? std::optional(a) : std::nullopt;
        case ScalarOp::kBitAnd:
        case ScalarOp::kBitOr:
        case ScalarOp::kBitXor:
            return a == b && !is_bool && !is_float ? std::optional(a) : std::nullopt;
        case ScalarOp::kShiftLeft:
        case ScalarOp::kShiftRight:
            return !is_bool && !is_float && b != ScalarType::kBool && !is_floating(b)
                       ? std::optional(a)
                       : std::nullopt;
        case ScalarOp::kSelect:
            return is_bool && b == operands[2] ? std::optional(b) : std::nullopt;
        default:
            return std::nullopt;
    }
}

bool is_library_function(ScalarOp op, ScalarType operand) {
    const bool is_float = is_floating(operand);
    switch (op) {
        case ScalarOp::kSign:
        case ScalarOp::kMod:
        case ScalarOp::kMin:
        case ScalarOp::kMax:
        case ScalarOp::kToI32:
        case ScalarOp::kToU32:
            return is_float;
        case ScalarOp::kPow:
        case ScalarOp::kAtan2:
        case ScalarOp::kSin:
        case ScalarOp::kCos:
        case ScalarOp::kTan:
        case ScalarOp::kAsin:
        case ScalarOp::kAcos:
        case ScalarOp::kAtan:
        case ScalarOp::kSinh:
        case ScalarOp::kCosh:
        case ScalarOp::kTanh:
        case ScalarOp::kAsinh:
        case ScalarOp::kAcosh:
        case ScalarOp::kAtanh:
        case ScalarOp::kErf:
            return true;
        default:
            return false;
    }
}

}  // namespace hearth
