// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Overflow-checked sums and products of untrusted sizes.  A Checked number that has overflowed once
// stays so through all further arithmetic and is within no limit, so that a formula needs only one
// check, on its result:
//
//     const Checked end = Checked(offset) + Checked(per_row) * rows;
//     if (!end.is_within(limit)) refuse();

#pragma once

#include "core/portable.hpp"

#include <hearth/core/assert.hpp>

#include <cstddef>
#include <cstdint>

namespace hearth {

/// A number of bytes that were allocated or are to be: on a 32-bit machine no more can be.
constexpr size_t to_size(uint64_t bytes) {
    return bytes & SIZE_MAX;
}

class Checked {
  public:
    constexpr Checked() = default;
    constexpr Checked(uint64_t value) : value_(value) {}

    friend constexpr Checked operator+(Checked a, Checked b) {
        Checked sum;
        sum.overflowed_ =
            add_overflows(a.value_, b.value_, &sum.value_) || a.overflowed_ || b.overflowed_;
        return sum;
    }
    friend constexpr Checked operator*(Checked a, Checked b) {
        Checked product;
        product.overflowed_ = multiply_overflows(a.value_, b.value_, &product.value_) ||
                              a.overflowed_ || b.overflowed_;
        return product;
    }
    constexpr Checked& operator+=(Checked other) { return *this = *this + other; }
    constexpr Checked& operator*=(Checked other) { return *this = *this * other; }

    /// Rounds up to a multiple of `alignment` > 0.
    constexpr Checked aligned(uint64_t alignment) const {
        Checked up = *this + (alignment - 1);
        up.value_ -= up.value_ % alignment;
        return up;
    }

    constexpr bool fits() const { return !overflowed_; }
    constexpr bool is_within(uint64_t limit) const { return !overflowed_ && value_ <= limit; }
    constexpr bool equals(uint64_t value) const { return !overflowed_ && value_ == value; }
    /// The number, or UINT64_MAX if it overflowed.
    constexpr uint64_t or_most() const { return overflowed_ ? ~uint64_t{0} : value_; }
    /// The number, which must not have overflowed.
    constexpr uint64_t value() const { return HEARTH_ASSERT(!overflowed_), value_; }

  private:
    uint64_t value_ = 0;
    bool overflowed_ = false;
};

}  // namespace hearth
