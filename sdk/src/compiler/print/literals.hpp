// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Literals that the C-like targets have in common.

#pragma once

#include <hearth/op/scalar.hpp>

#include <cstdint>
#include <string>

namespace hearth {

/// A whole number of these bits or a bool, in parentheses if it is negative.  lowest: for -2^31, which would be the
/// negation of a literal that does not fit.  wide: suffix of 64 bits, ahead of which unsigned ones have a u.
std::string whole_literal(uint64_t bits, ScalarType type, const char* lowest, const char* wide);

/// A finite f32, or f64: exactly this one, with a point or an exponent, without sign in parentheses and suffix.
std::string decimal_text(double value, ScalarType type = ScalarType::kF32);

}  // namespace hearth
