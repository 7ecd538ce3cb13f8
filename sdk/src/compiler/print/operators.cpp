// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/operators.hpp"

namespace hearth {

namespace {

struct FunctionNames {
    ScalarOp op;
    std::string_view c, c_double;
};

/// hearth_...: of shaders/prelude/kernel.h.
constexpr FunctionNames kFunctions[] = {
    {ScalarOp::kFloor, "floorf", "floor"},
    {ScalarOp::kCeil, "ceilf", "ceil"},
    {ScalarOp::kRound, "nearbyintf", "nearbyint"},
    {ScalarOp::kTrunc, "truncf", "trunc"},
    {ScalarOp::kSqrt, "sqrtf", "sqrt"},
    {ScalarOp::kExp, "hearth_exp", "exp"},
    {ScalarOp::kLog, "logf", "log"},
    {ScalarOp::kSin, "sinf", "sin"},
    {ScalarOp::kCos, "cosf", "cos"},
    {ScalarOp::kTan, "tanf", "tan"},
    {ScalarOp::kAsin, "asinf", "asin"},
    {ScalarOp::kAcos, "acosf", "acos"},
    {ScalarOp::kAtan, "atanf", "atan"},
    {ScalarOp::kSinh, "sinhf", "sinh"},
    {ScalarOp::kCosh, "coshf", "cosh"},
    {ScalarOp::kTanh, "hearth_tanh", "tanh"},
    {ScalarOp::kAsinh, "asinhf", "asinh"},
    {ScalarOp::kAcosh, "acoshf", "acosh"},
    {ScalarOp::kAtanh, "atanhf", "atanh"},
    {ScalarOp::kErf, "hearth_erf", "erf"},
    {ScalarOp::kAtan2, "atan2f", "atan2"},
    {ScalarOp::kRoundBF16, "hearth_round_bf16", ""},
};

}  // namespace

std::string infix(ScalarOp op, std::string_view a, std::string_view b) {
    const auto between = [&](std::string_view symbol) {
        return std::string(a).append(symbol).append(b);
    };
    switch (op) {
        case ScalarOp::kAdd:
            return between(" + ");
        case ScalarOp::kSub:
            return between(" - ");
        case ScalarOp::kMul:
            return between(" * ");
        case ScalarOp::kLess:
            return between(" < ");
        case ScalarOp::kLessEqual:
            return between(" <= ");
        case ScalarOp::kEqual:
            return between(" == ");
        case ScalarOp::kNotEqual:
        case ScalarOp::kXor:
            return between(" != ");
        case ScalarOp::kAnd:
            return between(" && ");
        case ScalarOp::kOr:
            return between(" || ");
        case ScalarOp::kBitAnd:
            return between(" & ");
        case ScalarOp::kBitOr:
            return between(" | ");
        case ScalarOp::kBitXor:
            return between(" ^ ");
        default:
            return {};
    }
}

std::string_view c_function(ScalarOp op, bool is_double) {
    for (const FunctionNames& names : kFunctions)
        if (names.op == op) return is_double ? names.c_double : names.c;
    return {};
}

std::string call(std::string_view function, std::string_view a) {
    return std::string(function).append("(").append(a).append(")");
}
std::string call(std::string_view function, std::string_view a, std::string_view b) {
    return std::string(function).append("(").append(a).append(", ").append(b).append(")");
}

}  // namespace hearth
