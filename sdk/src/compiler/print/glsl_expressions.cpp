// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/glsl_expressions.hpp"

#include "compiler/ir/scalar_operation.hpp"
#include "compiler/print/literals.hpp"
#include "compiler/print/operators.hpp"

#include <hearth/core/assert.hpp>

#include <cmath>

namespace hearth {

namespace {

std::string unary_text(ScalarOp op, ScalarType type, const std::string& a) {
    const bool is_float = type == ScalarType::kF32;
    if (const std::string_view name = function_name(op, Language::kGlsl); !name.empty())
        return call(name, a);
    switch (op) {
        case ScalarOp::kNeg:
            return "-" + a;
        case ScalarOp::kNot:
            return "!" + a;
        case ScalarOp::kAbs:
            return is_unsigned(type) ? a : call("abs", a);
        case ScalarOp::kSign:
            return is_float            ? call("hearth_sign", a)
                   : is_unsigned(type) ? call("min", a, type == ScalarType::kU32 ? "1u" : "1ul")
                                       : call("sign", a);
        case ScalarOp::kRsqrt:
            return call("inversesqrt", a);
        case ScalarOp::kIsNan:
            return call("isnan", a);
        case ScalarOp::kIsInf:
            return call("isinf", a);
        case ScalarOp::kToF32:
            return call("float", a);
        case ScalarOp::kToI32:
            return call(is_float ? "hearth_to_int" : "int", a);
        case ScalarOp::kToU32:
            return call(is_float ? "hearth_to_uint" : "uint", a);
        case ScalarOp::kToI64:
            return call(is_float ? "hearth_to_int64" : "hearth_widen", a);
        case ScalarOp::kToU64:
            return call(is_float ? "hearth_to_uint64" : "uint64_t", a);
        case ScalarOp::kToBool:
            return call("bool", a);
        case ScalarOp::kBitNot:
            return "~" + a;
        case ScalarOp::kBitsToF32:
            return call(type == ScalarType::kI32 ? "intBitsToFloat" : "uintBitsToFloat", a);
        case ScalarOp::kBitsToI32:
            return call("floatBitsToInt", a);
        case ScalarOp::kBitsToU32:
            return call("floatBitsToUint", a);
        case ScalarOp::kBitsToUniform:
            return "float(" + a + " >> 8) * 5.9604644775390625e-8";
        default:
            HEARTH_ASSERT(false && "no unary operator");
            return {};
    }
}

std::string binary_text(ScalarOp op, ScalarType type, const std::string& a, const std::string& b) {
    const bool is_float = type == ScalarType::kF32;
    if (std::string text = infix(op, a, b); !text.empty()) return text;
    if (const std::string_view name = function_name(op, Language::kGlsl); !name.empty())
        return call(name, a, b);
    switch (op) {
        case ScalarOp::kDiv:
            return a + " / " + b;
        case ScalarOp::kMod:
            return is_float ? call("hearth_fmod", a, b) : a + " % " + b;
        case ScalarOp::kPow:
            return call(is_float ? "hearth_pow" : "hearth_ipow", a, b);
        case ScalarOp::kMin:
            return call("min", a, b);
        case ScalarOp::kMax:
            return call("max", a, b);
        case ScalarOp::kShiftLeft:
            return a + " << " + b;
        case ScalarOp::kShiftRight:
            return a + " >> " + b;
        default:
            HEARTH_ASSERT(false && "no binary operator");
            return {};
    }
}

/// The larger or smaller of two floats.  Of a number that is constant: a comparison leaves NaN as it is.
std::string extreme_text(const GlslOperation& op, const std::string& a, const std::string& b) {
    const std::string beyond = op.op == ScalarOp::kMax ? " < " : " > ";
    if (op.asks_for_nan && (op.is_number[0] || op.is_number[1]))
        return call("isnan", op.is_number[1] ? a : b) + " ? " + (op.is_number[1] ? a : b) + " : " +
               call(op.op == ScalarOp::kMax ? "max" : "min", a, b);
    if (op.is_number[1]) return a + beyond + b + " ? " + b + " : " + a;
    if (op.is_number[0]) return b + beyond + a + " ? " + a + " : " + b;
    return call(op.op == ScalarOp::kMax ? "hearth_max" : "hearth_min", a, b);
}

}  // namespace

std::string_view glsl_type(ScalarType type) {
    switch (type) {
        case ScalarType::kF32:
            return "float";
        case ScalarType::kI32:
            return "int";
        case ScalarType::kU32:
            return "uint";
        case ScalarType::kBool:
            return "bool";
        case ScalarType::kI64:
            return "int64_t";
        case ScalarType::kU64:
            return "uint64_t";
        case ScalarType::kF64:
            return "double";
    }
    return "";
}

std::string glsl_literal(double value, ScalarType type) {
    return glsl_literal(bits_of(value, type), type);
}

std::string glsl_literal(uint64_t bits, ScalarType type) {
    if (!is_floating(type)) return whole_literal(bits, type, "int(0x80000000u)", "l");
    const double value = value_of(bits, type);
    if (std::isnan(value)) return "uintBitsToFloat(0x7fc00000u)";
    if (std::isinf(value))
        return value > 0 ? "uintBitsToFloat(0x7f800000u)" : "uintBitsToFloat(0xff800000u)";
    const std::string text = decimal_text(value);
    return text[0] == '-' ? "(" + text + ")" : text;
}

std::string glsl_operation(const GlslOperation& op, std::span<const std::string> operands) {
    if (op.is_fitting && op.op == ScalarOp::kPow) return call("pow", operands[0], operands[1]);
    if (is_unary(op.op)) {
        if (op.is_fitting) return call(op.op == ScalarOp::kToI32 ? "int" : "uint", operands[0]);
        if (op.op == ScalarOp::kRoundF16) return call(op.round_f16, operands[0]);
        return unary_text(op.op, op.operand, operands[0]);
    }
    if (op.op == ScalarOp::kSelect) return operands[0] + " ? " + operands[1] + " : " + operands[2];
    if ((op.op == ScalarOp::kMax || op.op == ScalarOp::kMin) && op.operand == ScalarType::kF32)
        return extreme_text(op, operands[0], operands[1]);
    if (op.divides_exactly && op.op == ScalarOp::kDiv && op.operand == ScalarType::kF32)
        return call("hearth_divide", operands[0], operands[1]);
    return binary_text(op.op, op.operand, operands[0], operands[1]);
}

}  // namespace hearth
