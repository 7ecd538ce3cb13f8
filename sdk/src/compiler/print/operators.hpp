// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How languages write scalar operations: the operators that they have in common, and what C calls its functions.

#pragma once

#include <hearth/op/scalar.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// "a + b"; empty for operators that a language may write in its own way.
std::string infix(ScalarOp op, std::string_view a, std::string_view b);

/// The function by which C computes an operation of floats or, with is_double, of doubles; empty where it has none, or
/// where it depends on something else too.
std::string_view c_function(ScalarOp op, bool is_double);

std::string call(std::string_view function, std::string_view a);
std::string call(std::string_view function, std::string_view a, std::string_view b);

}  // namespace hearth
