// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Functions of floats as kernels in C have them (shaders/prelude/kernel.h).

#pragma once

#include <hearth/op/scalar.hpp>

namespace hearth {

/// Of two operands; unary functions ignore the second one.
using FloatFunction = float (*)(float a, float b);

/// The function that C kernels call for an operation of f32; null if they call none.
FloatFunction float_function(ScalarOp op);

}  // namespace hearth
