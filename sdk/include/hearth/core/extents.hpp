// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Shapes that come from files.

#pragma once

#include <hearth/types.hpp>

#include <cstdint>
#include <span>

namespace hearth {

/// No shape that a file gives, those computed in an imported model included, has more elements than
/// this, counting extents of zero as ones and rows as 2^16; element counts can then be multiplied
/// freely.
inline constexpr int64_t kMaxExtent = int64_t{1} << 40;

/// a * b, or the largest number if that is too large for one: what has not been checked yet can be
/// multiplied, and is refused like any other that is too large.
constexpr int64_t saturated_product(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// Error unless `shape` stays within kMaxExtent and has no negative extent.
Status check_extents(const Shape& shape);

/// The shape with these extents, checked; also their number.
Result<Shape> checked_shape(std::span<const int64_t> extents);

}  // namespace hearth
