// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/operators.hpp"

namespace hearth {

namespace {

struct FunctionNames {
    ScalarOp op;
    std::string_view glsl, wgsl, c;
};

/// hearth_...: of shaders/common/math.glsl, and of the preludes in compiler/print/wgsl.cpp and compiler/print/c_prelude.cpp.
constexpr FunctionNames kFunctions[] = {
    {ScalarOp::kFloor, "floor", "floor", "floorf"},
    {ScalarOp::kCeil, "ceil", "ceil", "ceilf"},
    {ScalarOp::kRound, "roundEven", "round", "nearbyintf"},
    {ScalarOp::kTrunc, "trunc", "trunc", "truncf"},
    {ScalarOp::kSqrt, "sqrt", "sqrt", "sqrtf"},
    {ScalarOp::kExp, "exp", "exp", "hearth_exp"},
    {ScalarOp::kLog, "log", "log", "logf"},
    {ScalarOp::kSin, "hearth_sin", "sin", "sinf"},
    {ScalarOp::kCos, "hearth_cos", "cos", "cosf"},
    {ScalarOp::kTan, "hearth_tan", "tan", "tanf"},
    {ScalarOp::kAsin, "hearth_asin", "asin", "asinf"},
    {ScalarOp::kAcos, "hearth_acos", "acos", "acosf"},
    {ScalarOp::kAtan, "hearth_atan", "atan", "atanf"},
    {ScalarOp::kSinh, "hearth_sinh", "sinh", "sinhf"},
    {ScalarOp::kCosh, "hearth_cosh", "cosh", "coshf"},
    {ScalarOp::kTanh, "hearth_tanh", "hearth_tanh", "hearth_tanh"},
    {ScalarOp::kAsinh, "hearth_asinh", "asinh", "asinhf"},
    {ScalarOp::kAcosh, "hearth_acosh", "acosh", "acoshf"},
    {ScalarOp::kAtanh, "hearth_atanh", "atanh", "atanhf"},
    {ScalarOp::kErf, "hearth_erf", "hearth_erf", "hearth_erf"},
    {ScalarOp::kAtan2, "hearth_atan2", "atan2", "atan2f"},
    {ScalarOp::kRoundBF16, "hearth_round_bf16", "", "hearth_round_bf16"},
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
            return language == Language::kGlsl   ? names.glsl
                   : language == Language::kWgsl ? names.wgsl
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
