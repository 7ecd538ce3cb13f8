// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Comparison of tensors within a tolerance.

#pragma once

#include <hearth/host_tensor.hpp>

#include <optional>
#include <string>

namespace hearth::tool {

struct Tolerance {
    double relative = 1e-3;
    double absolute = 1e-5;
};

/// Unit in the last place of a floating-point type at `value`.
double ulp(DType dtype, double value);

/// Compares element by element.  Floats: |found - expected| <= absolute + relative * |expected|,
/// and two ulp of the type are always allowed; NaN equals NaN, equal infinities are equal.
/// Integers and bools must be equal.  Returns a description of the first difference, or nothing.
std::optional<std::string> first_difference(const HostTensor& found, const HostTensor& expected,
                                            Tolerance tolerance);

}  // namespace hearth::tool
