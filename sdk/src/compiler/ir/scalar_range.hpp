// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Conservative range analysis of floating-point expressions.

#pragma once

#include <hearth/op/scalar.hpp>

namespace hearth {

/// True if the expression, a float, is provably not NaN and within [least, most].
bool lies_within(const ScalarArena& arena, uint32_t id, double least, double most);

/// True if a conversion (kToI32, kToU32) needs no saturation, because its operand provably fits.
bool is_fitting_conversion(const ScalarArena& arena, const ScalarNode& node);

}  // namespace hearth
