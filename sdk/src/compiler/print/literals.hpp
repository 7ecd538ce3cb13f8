// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Literals that the C-like targets have in common.

#pragma once

#include <hearth/op/scalar.hpp>

#include <string>

namespace hearth {

/// A whole number or a bool, in parentheses if it is negative.  lowest: for -2^31, which would be the negation of a
/// literal that does not fit.
std::string whole_literal(double value, ScalarType type, const char* lowest);

/// A finite f32: exactly this one, with a point or an exponent, without sign in parentheses and suffix.
std::string decimal_text(double value);

}  // namespace hearth
