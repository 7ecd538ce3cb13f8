// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Scalar operations, types and literals in GLSL.

#pragma once

#include <hearth/op/scalar.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

std::string_view glsl_type(ScalarType type);

/// A literal of exactly this value (infinities and NaN included).
std::string glsl_literal(double value, ScalarType type);
std::string glsl_literal(uint64_t bits, ScalarType type);

/// The function of shaders/common that rounds to f16.
inline constexpr std::string_view kRoundF16 = "hearth_round_f16";

struct GlslOperation {
    ScalarOp op;                      ///< unary, binary or kSelect
    ScalarType operand;               ///< of the first
    bool is_fitting = false;          ///< a conversion of a float that is known to fit
    std::array<bool, 2> is_number{};  ///< operands that are constants, and not NaN
    std::string_view round_f16 = kRoundF16;
    bool divides_exactly = false, asks_for_nan = false;  ///< as GlslOptions
};

/// The operation on operands that are names, literals or in parentheses.  Not in parentheses itself.
std::string glsl_operation(const GlslOperation& op, std::span<const std::string> operands);

}  // namespace hearth
