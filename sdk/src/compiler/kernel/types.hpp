// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The types of scalar operations.

#pragma once

#include <hearth/op/scalar.hpp>

#include <optional>
#include <span>

namespace hearth {

/// What the operation gives for operands of these types (as many as operand_count(op), or more);
/// nothing if it takes no such operands.
std::optional<ScalarType> type_of_operation(ScalarOp op, std::span<const ScalarType> operands);

/// Whether the operation on such operands is a function that languages of kernels lack, or have too
/// inexact: the printers' own library has it (shaders/common for GLSL).
bool is_library_function(ScalarOp op, ScalarType operand);

}  // namespace hearth
