// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/print/literals.hpp"

#include <hearth/core/convert.hpp>

#include <cstdint>
#include <cstdio>

namespace hearth {

std::string whole_literal(double value, ScalarType type, const char* lowest) {
    if (type == ScalarType::kBool) return value != 0 ? "true" : "false";
    if (type == ScalarType::kU32) return std::to_string(saturate_cast<uint32_t>(value)) + "u";
    const auto whole = saturate_cast<int32_t>(value);
    if (whole == INT32_MIN) return lowest;
    return whole < 0 ? "(" + std::to_string(whole) + ")" : std::to_string(whole);
}

std::string decimal_text(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    std::string result = text;
    if (result.find_first_of(".e") == std::string::npos) result += ".0";
    return result;
}

}  // namespace hearth
