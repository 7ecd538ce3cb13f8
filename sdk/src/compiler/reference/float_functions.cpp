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

}  // namespace

FloatFunction float_function(ScalarOp op) {
    switch (op) {
        case ScalarOp::kFloor:
            return of_one<floorf>;
        case ScalarOp::kCeil:
            return of_one<ceilf>;
        case ScalarOp::kRound:
            return of_one<nearbyintf>;
        case ScalarOp::kTrunc:
            return of_one<truncf>;
        case ScalarOp::kSqrt:
            return of_one<sqrtf>;
        case ScalarOp::kRsqrt:
            return [](float a, float) { return 1.0f / sqrtf(a); };
        case ScalarOp::kSign:
            return of_one<hearth_sign>;
        case ScalarOp::kExp:
            return of_one<hearth_exp>;
        case ScalarOp::kLog:
            return of_one<logf>;
        case ScalarOp::kSin:
            return of_one<sinf>;
        case ScalarOp::kCos:
            return of_one<cosf>;
        case ScalarOp::kTan:
            return of_one<tanf>;
        case ScalarOp::kAsin:
            return of_one<asinf>;
        case ScalarOp::kAcos:
            return of_one<acosf>;
        case ScalarOp::kAtan:
            return of_one<atanf>;
        case ScalarOp::kSinh:
            return of_one<sinhf>;
        case ScalarOp::kCosh:
            return of_one<coshf>;
        case ScalarOp::kTanh:
            return of_one<hearth_tanh>;
        case ScalarOp::kAsinh:
            return of_one<asinhf>;
        case ScalarOp::kAcosh:
            return of_one<acoshf>;
        case ScalarOp::kAtanh:
            return of_one<atanhf>;
        case ScalarOp::kErf:
            return of_one<hearth_erf>;
        case ScalarOp::kRoundF16:
            return of_one<hearth_round_f16>;
        case ScalarOp::kRoundBF16:
            return of_one<hearth_round_bf16>;
        case ScalarOp::kAtan2:
            return atan2f;
        case ScalarOp::kPow:
            return powf;
        case ScalarOp::kMod:
            return fmodf;
        default:
            return nullptr;
    }
}

}  // namespace hearth
