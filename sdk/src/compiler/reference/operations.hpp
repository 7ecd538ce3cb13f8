// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar operations on 32 bits, as kernels do them.

#pragma once

#include <hearth/op/scalar.hpp>

#include <array>
#include <cstdint>

namespace hearth {

/// The bits of `op` of operands of type `operand` (of kSelect's second and third: `type`).
/// Integers wrap around; a shift by 32 or more, and a division by 0, give 0 (devices: anything).
uint32_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint32_t, 3> in);

}  // namespace hearth
