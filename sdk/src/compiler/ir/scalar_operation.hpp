// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar operations on 32-bit words, with the semantics of kernels.

#pragma once

#include <hearth/op/scalar.hpp>

#include <array>
#include <cstdint>

namespace hearth {

/// Result bits of `op` for operands of type `operand`.
/// Integers wrap around; a shift by 32 or more, and a division by 0, give 0 (undefined on devices).
uint32_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint32_t, 3> in);

}  // namespace hearth
