// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar operations on words of 32 or 64 bits, with the semantics of kernels.

#pragma once

#include <hearth/op/scalar.hpp>

#include <array>
#include <cstdint>

namespace hearth {

/// "f32", "i32", ...
const char* name_of(ScalarType type);

/// The operation that converts to the type.
ScalarOp conversion_to(ScalarType type);

/// Bits of `value`, rounded, or saturated, to the type.
uint64_t bits_of(double value, ScalarType type);
/// The number with these bits (bool: 0 or 1).  Integers of 64 bits are rounded.
double value_of(uint64_t bits, ScalarType type);

/// Result bits of `op` for operands of type `operand`; those of 32-bit types in the low half.
/// Integers wrap around; a shift by the type's bits or more, and a division by 0, give 0 (undefined
/// on devices).
uint64_t scalar_operation(ScalarOp op, ScalarType operand, std::array<uint64_t, 3> in);

}  // namespace hearth
