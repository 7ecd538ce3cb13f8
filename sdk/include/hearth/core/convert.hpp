// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// From floating point to integers.  In C++ and in GLSL the conversion of NaN, of infinities and of
// numbers that the integer cannot hold is undefined; here it is not, and the kernels' hearth_to_int
// and hearth_to_uint (shaders/common/math.glsl) do the same.

#pragma once

#include <concepts>
#include <limits>

namespace hearth {

/// `value` without its fraction, as far as T reaches: beyond, T's lowest or largest; NaN: zero.
template <std::integral T>
constexpr T saturate_cast(double value) {
    using Limits = std::numeric_limits<T>;
    // 2^digits, the first number beyond, is a double for every T; Limits::max() need not be.
    constexpr double kBeyond = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
    if (value >= kBeyond) return Limits::max();
    if (value > static_cast<double>(Limits::min())) return static_cast<T>(value);
    return value == value ? Limits::min() : T{0};
}

}  // namespace hearth
