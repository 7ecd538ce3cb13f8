// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/shared/fold.hpp"

#include <cmath>

namespace hearth {

double fold_start(ReduceOp fold, DType dtype) {
    // The ends of the type's range: those of an i8 are no bytes of an i32's.
    const uint32_t bits = 8 * size_bytes(dtype);
    const bool is_float = is_floating(dtype), has_sign = !is_unsigned(dtype);
    switch (fold) {
        case ReduceOp::kSum:
            return 0;
        case ReduceOp::kProduct:
            return 1;
        case ReduceOp::kMax:
            if (is_float) return -HUGE_VAL;
            return has_sign ? -std::ldexp(1, static_cast<int>(bits) - 1) : 0;
        case ReduceOp::kMin:
            if (is_float) return HUGE_VAL;
            return std::ldexp(1, static_cast<int>(bits - has_sign)) - 1;
    }
    return 0;
}

Expr fold_step(ReduceOp fold, Expr a, Expr b) {
    switch (fold) {
        case ReduceOp::kSum:
            return a + b;
        case ReduceOp::kProduct:
            return a * b;
        case ReduceOp::kMax:
            return a.body->operation(ScalarOp::kMax, a, b);
        case ReduceOp::kMin:
            return a.body->operation(ScalarOp::kMin, a, b);
    }
    return {};
}

}  // namespace hearth
