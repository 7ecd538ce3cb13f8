// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/operators.hpp"

namespace hearth {

namespace {

struct FunctionNames {
    ScalarOp op;
    std::string_view glsl, c, c_double;
};

/// hearth_...: of print_glsl_math() and shaders/prelude/kernel.h.
constexpr FunctionNames kFunctions[] = {
    {ScalarOp::kFloor, "floor", "floorf", "floor"},
    {ScalarOp::kCeil, "ceil", "ceilf", "ceil"},
    {ScalarOp::kRound, "roundEven", "nearbyintf", "nearbyint"},
    {ScalarOp::kTrunc, "trunc", "truncf", "trunc"},
    {ScalarOp::kSqrt, "sqrt", "sqrtf", "sqrt"},
    {ScalarOp::kExp, "exp", "hearth_exp", "exp"},
    {ScalarOp::kLog, "log", "logf", "log"},
    {ScalarOp::kSin, "hearth_sin", "sinf", "sin"},
    {ScalarOp::kCos, "hearth_cos", "cosf", "cos"},
    {ScalarOp::kTan, "hearth_tan", "tanf", "tan"},
    {ScalarOp::kAsin, "hearth_asin", "asinf", "asin"},
    {ScalarOp::kAcos, "hearth_acos", "acosf", "acos"},
    {ScalarOp::kAtan, "hearth_atan", "atanf", "atan"},
    {ScalarOp::kSinh, "hearth_sinh", "sinhf", "sinh"},
    {ScalarOp::kCosh, "hearth_cosh", "coshf", "cosh"},
    {ScalarOp::kTanh, "hearth_tanh", "hearth_tanh", "tanh"},
    {ScalarOp::kAsinh, "hearth_asinh", "asinhf", "asinh"},
    {ScalarOp::kAcosh, "hearth_acosh", "acoshf", "acosh"},
    {ScalarOp::kAtanh, "hearth_atanh", "atanhf", "atanh"},
    {ScalarOp::kErf, "hearth_erf", "hearth_erf", "erf"},
    {ScalarOp::kAtan2, "hearth_atan2", "atan2f", "atan2"},
    {ScalarOp::kRoundBF16, "hearth_round_bf16", "hearth_round_bf16", ""},
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

std::string_view function_name(ScalarOp op, Language language) {
    for (const FunctionNames& names : kFunctions)
        if (names.op == op)
            return language == Language::kGlsl      ? names.glsl
                   : language == Language::kCDouble ? names.c_double
                                                    : names.c;
    return {};
}

std::string call(std::string_view function, std::string_view a) {
    return std::string(function).append("(").append(a).append(")");
}
std::string call(std::string_view function, std::string_view a, std::string_view b) {
    return std::string(function).append("(").append(a).append(", ").append(b).append(")");
}

}  // namespace hearth
