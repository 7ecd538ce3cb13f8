// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How languages write scalar operations: the operators that they have in common, and side by side what GLSL and C call
// their functions.

#pragma once

#include <hearth/op/scalar.hpp>

#include <string>
#include <string_view>

namespace hearth {

enum class Language { kGlsl, kC, kCDouble };

/// "a + b"; empty for operators that a language may write in its own way.
std::string infix(ScalarOp op, std::string_view a, std::string_view b);

/// The function that computes an operation of floats (kCDouble: of doubles); empty where a language has none, or where it depends on
/// something else too.
std::string_view function_name(ScalarOp op, Language language);

std::string call(std::string_view function, std::string_view a);
std::string call(std::string_view function, std::string_view a, std::string_view b);

}  // namespace hearth
