// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Number of operands of a scalar operation.

#pragma once

#include <hearth/op/scalar.hpp>

namespace hearth {

constexpr bool is_loop(ScalarOp op) {
    return op >= ScalarOp::kLoopSum && op <= ScalarOp::kLoopArgMin;
}

/// Number of operands among a, b and c.  The operands of a loop are its extent and body; its
/// counter is a variable that the loop binds.
constexpr int operand_count(ScalarOp op) {
    if (op == ScalarOp::kLoad) return 1;
    if (op <= ScalarOp::kRowCount) return 0;
    if (is_unary(op)) return 1;
    return op == ScalarOp::kSelect ? 3 : 2;
}
static_assert(operand_count(ScalarOp::kLoad) == 1 && operand_count(ScalarOp::kVariable) == 0 &&
              operand_count(ScalarOp::kNeg) == 1 && operand_count(ScalarOp::kShiftRight) == 2 &&
              operand_count(ScalarOp::kSelect) == 3 && operand_count(ScalarOp::kPhilox) == 2 &&
              operand_count(ScalarOp::kLoopArgMin) == 2);

}  // namespace hearth
