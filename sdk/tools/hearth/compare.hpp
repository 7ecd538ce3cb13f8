// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// When two tensors count as equal.

#pragma once

#include <hearth/host_tensor.hpp>

#include <optional>
#include <string>

namespace hearth::tool {

struct Tolerance {
    double relative = 1e-3;
    double absolute = 1e-5;
};

/// The distance between neighbouring numbers of a floating-point type around `value`.
double ulp(DType dtype, double value);

/// Compares element by element.  Floats: |found - expected| <= absolute + relative * |expected|,
/// and two ulp of the type are always allowed; NaN equals NaN, equal infinities are equal. Integers
/// and bools must be the same.  Returns what differs first, in words, or nothing.
std::optional<std::string> first_difference(const HostTensor& found, const HostTensor& expected,
                                            Tolerance tolerance);

}  // namespace hearth::tool
