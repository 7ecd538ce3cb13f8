// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Comparisons of tensors as operators, and tensors of one value in the shape of another.  == and !=
// are equal() and not_equal() of hearth/ops.hpp.
//
//     const Tensor y = where(x > 0.0, x, zeros_like(x));

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/ops.hpp>
#include <hearth/tensor.hpp>

namespace hearth {

// Element by element, with broadcasting: bool.
inline Tensor operator<(const Tensor& a, const Tensor& b) {
    return less(a, b);
}
inline Tensor operator<=(const Tensor& a, const Tensor& b) {
    return less_equal(a, b);
}
inline Tensor operator>(const Tensor& a, const Tensor& b) {
    return greater(a, b);
}
inline Tensor operator>=(const Tensor& a, const Tensor& b) {
    return greater_equal(a, b);
}
inline Tensor operator<(const Tensor& a, double b) {
    return less(a, b);
}
inline Tensor operator<=(const Tensor& a, double b) {
    return less_equal(a, b);
}
inline Tensor operator>(const Tensor& a, double b) {
    return greater(a, b);
}
inline Tensor operator>=(const Tensor& a, double b) {
    return greater_equal(a, b);
}
inline Tensor operator<(double a, const Tensor& b) {
    return greater(b, a);
}
inline Tensor operator<=(double a, const Tensor& b) {
    return greater_equal(b, a);
}
inline Tensor operator>(double a, const Tensor& b) {
    return less(b, a);
}
inline Tensor operator>=(double a, const Tensor& b) {
    return less_equal(b, a);
}

/// All zeros, with the type and shape of x.
Tensor zeros_like(const Tensor& x);
/// A value for each element, with the type and shape of x, which is no bool.
inline Tensor full_like(const Tensor& x, double value) {
    return zeros_like(x) + value;
}
inline Tensor ones_like(const Tensor& x) {
    return full_like(x, 1);
}

}  // namespace hearth
