// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/reference/float_functions.hpp"

#include <kernel.h>

#include <cmath>

namespace hearth {

namespace {

template <float (*F)(float)>
float of_one(float a, float /*b*/) {
    return F(a);
}

struct Row {
    ScalarOp op;
    FloatFunction function;
};
constexpr Row kRows[] = {
    {ScalarOp::kFloor, of_one<floorf>},
    {ScalarOp::kCeil, of_one<ceilf>},
    {ScalarOp::kRound, of_one<nearbyintf>},
    {ScalarOp::kTrunc, of_one<truncf>},
    {ScalarOp::kSqrt, of_one<sqrtf>},
    {ScalarOp::kRsqrt, [](float a, float) { return 1.0f / sqrtf(a); }},
    {ScalarOp::kSign, of_one<hearth_sign>},
    {ScalarOp::kExp, of_one<hearth_exp>},
    {ScalarOp::kLog, of_one<logf>},
    {ScalarOp::kSin, of_one<sinf>},
    {ScalarOp::kCos, of_one<cosf>},
    {ScalarOp::kTan, of_one<tanf>},
    {ScalarOp::kAsin, of_one<asinf>},
    {ScalarOp::kAcos, of_one<acosf>},
    {ScalarOp::kAtan, of_one<atanf>},
    {ScalarOp::kSinh, of_one<sinhf>},
    {ScalarOp::kCosh, of_one<coshf>},
    {ScalarOp::kTanh, of_one<hearth_tanh>},
    {ScalarOp::kAsinh, of_one<asinhf>},
    {ScalarOp::kAcosh, of_one<acoshf>},
    {ScalarOp::kAtanh, of_one<atanhf>},
    {ScalarOp::kErf, of_one<hearth_erf>},
    {ScalarOp::kRoundF16, of_one<hearth_round_f16>},
    {ScalarOp::kRoundBF16, of_one<hearth_round_bf16>},
    {ScalarOp::kAtan2, atan2f},
    {ScalarOp::kPow, powf},
    {ScalarOp::kMod, fmodf},
};

}  // namespace

FloatFunction float_function(ScalarOp op) {
    for (const Row& row : kRows)
        if (row.op == op) return row.function;
    return nullptr;
}

}  // namespace hearth
