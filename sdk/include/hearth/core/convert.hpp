// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Saturating conversion from floating point to integers.  C++ and GLSL leave the conversion of NaN,
// infinities and out-of-range values undefined; saturate_cast defines it, in the same way as the
// kernels' hearth_to_int and hearth_to_uint (shaders/common/math.glsl).

#pragma once

#include <hearth/core/cpp20.hpp>

#include <concepts>
#include <limits>

namespace hearth {

/// Truncates `value` towards zero and clamps it to the range of T; NaN becomes zero.
template <std::integral T>
constexpr T saturate_cast(double value) {
    using Limits = std::numeric_limits<T>;
    // 2^digits, the first value out of range, is exact as a double for every T; Limits::max() may
    // not be.
    constexpr double kBeyond = 2.0 * static_cast<double>(Limits::max() / 2 + 1);
    if (value >= kBeyond) return Limits::max();
    if (value > static_cast<double>(Limits::min())) return static_cast<T>(value);
    return value == value ? Limits::min() : T{0};
}

}  // namespace hearth
