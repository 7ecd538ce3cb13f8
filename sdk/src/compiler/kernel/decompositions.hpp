// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar operations that targets lack, or have too inexactly to compare with a reference, as functions of a body: each is
// written once, and printed in the language of the kernel that needs it.

#pragma once

#include "compiler/kernel/body.hpp"

#include <optional>

namespace hearth {

/// Functions of one or two numbers, of which some call others.  Made by the first caller; threads may share it.
const Body& decompositions();

/// The index, in decompositions().functions, of what computes `op` of operands of type `operand`; none: all targets
/// have an instruction for it.
std::optional<uint32_t> find_decomposition(ScalarOp op, ScalarType operand);

/// True if targets compute the operation by several instructions: a decomposition, or a choice for NaN's sake.
bool is_library_function(ScalarOp op, ScalarType operand);

/// The index of what divides f32 to the nearest float: a target's own quotient may be off by 2.5 units.
uint32_t exact_division();

}  // namespace hearth
