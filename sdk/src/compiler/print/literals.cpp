// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/literals.hpp"

#include <cstdint>
#include <cstdio>

namespace hearth {

std::string whole_literal(uint64_t bits, ScalarType type, const char* lowest, const char* wide) {
    if (type == ScalarType::kBool) return bits != 0 ? "true" : "false";
    if (type == ScalarType::kU32) return std::to_string(static_cast<uint32_t>(bits)) + "u";
    if (type == ScalarType::kU64) return std::to_string(bits) + "u" + wide;
    const bool is_wide = type == ScalarType::kI64;
    const auto whole = is_wide ? static_cast<int64_t>(bits) : static_cast<int32_t>(bits);
    if (!is_wide && whole == INT32_MIN) return lowest;
    const std::string suffix = is_wide ? wide : "";
    if (whole == INT64_MIN) return "(-9223372036854775807" + suffix + " - 1" + suffix + ")";
    const std::string text = std::to_string(whole) + suffix;
    return whole < 0 ? "(" + text + ")" : text;
}

std::string decimal_text(double value, ScalarType type) {
    char text[40];
    std::snprintf(text, sizeof text, type == ScalarType::kF64 ? "%.17g" : "%.9g", value);
    std::string result = text;
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result;
}

}  // namespace hearth
