// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Validation of shapes that come from files.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <span>

namespace hearth {

/// Maximum number of elements of any shape from a file, including shapes computed in an imported
/// model; counts extents of zero as 1 and the batch size as 2^16.  Element counts below it can be
/// multiplied without overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;

/// Returns a * b, saturated to INT64_MAX, so that sizes can be multiplied before they are
/// validated: a saturated one fails validation like any other that is too large.
constexpr int64_t saturated_product(int64_t a, int64_t b) {
    const bool is_negative = (a < 0) != (b < 0);
    const uint64_t x = a < 0 ? 0 - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
    const uint64_t y = b < 0 ? 0 - static_cast<uint64_t>(b) : static_cast<uint64_t>(b);
    const uint64_t limit = (uint64_t{1} << 63) - (is_negative ? 0 : 1);
    if (y != 0 && x > limit / y) return INT64_MAX;
    return static_cast<int64_t>(is_negative ? 0 - x * y : x * y);
}

/// Returns an error if `shape` exceeds kMaxExtent or has a negative extent.
Status check_extents(const Shape& shape);

/// Validates `extents`, including their number, and returns them as a Shape.
Result<Shape> checked_shape(std::span<const int64_t> extents);

}  // namespace hearth
