// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Which floats a scalar expression can be, as far as its bounds are plain to see.

#pragma once

#include <hearth/op/scalar.hpp>

namespace hearth {

/// Whether the expression, a float, is a number from `least` to `most` whatever it reads.
bool lies_within(const ScalarArena& arena, uint32_t id, double least, double most);

/// Whether a conversion (kToI32, kToU32) is of a float that is known to fit: it need not saturate.
bool is_fitting_conversion(const ScalarArena& arena, const ScalarNode& node);

}  // namespace hearth
