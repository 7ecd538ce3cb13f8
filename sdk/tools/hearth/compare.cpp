// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compares tensors within tolerances that depend on the element type.

#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hearth::tool {

namespace {

struct FloatFormat {
    int mantissa_bits = 0;
    int lowest_exponent = 0;  ///< of normal numbers
};

FloatFormat format_of(DType dtype) {
    switch (dtype) {
        case DType::kF16:
            return {10, -14};
        case DType::kBF16:
            return {7, -126};
        case DType::kF64:
            return {52, -1022};
        default:
            return {23, -126};
    }
}

bool are_close(DType dtype, double found, double expected, Tolerance tolerance) {
    if (std::isnan(found) || std::isnan(expected)) return std::isnan(found) == std::isnan(expected);
    if (std::isinf(found) || std::isinf(expected)) return found == expected;
    const double allowed = std::max(tolerance.absolute + tolerance.relative * std::abs(expected),
                                    2 * ulp(dtype, expected));
    return std::abs(found - expected) <= allowed;
}

std::string position(int64_t linear, const Shape& shape) {
    std::string text;
    for (int i = shape.rank() - 1; i >= 0; --i) {
        text = std::to_string(linear % shape[i].count) + (text.empty() ? "" : ", ") + text;
        linear /= shape[i].count;
    }
    return "[" + text + "]";
}

std::string element(const HostTensor& tensor, int64_t i) {
    if (is_floating(tensor.dtype())) return fmt::format("{:.9g}", tensor.get(i));
    if (tensor.dtype() == DType::kU64)
        return std::to_string(static_cast<uint64_t>(tensor.get_int(i)));
    return std::to_string(tensor.get_int(i));
}

}  // namespace

double ulp(DType dtype, double value) {
    const FloatFormat format = format_of(dtype);
    int exponent = format.lowest_exponent;
    if (value != 0) std::frexp(value, &exponent);  // value = m * 2^exponent, m in [0.5, 1)
    return std::ldexp(1.0, std::max(exponent - 1, format.lowest_exponent) - format.mantissa_bits);
}

std::optional<std::string> first_difference(const HostTensor& found, const HostTensor& expected,
                                            Tolerance tolerance) {
    if (found.dtype() != expected.dtype() || found.shape() != expected.shape())
        return fmt::format("is {}{}, expected {}{}", name_of(found.dtype()),
                           to_string(found.shape()), name_of(expected.dtype()),
                           to_string(expected.shape()));
    const bool floats = is_floating(found.dtype());
    for (int64_t i = 0; i < found.element_count(); ++i) {
        const bool equal = floats
                               ? are_close(found.dtype(), found.get(i), expected.get(i), tolerance)
                               : found.get_int(i) == expected.get_int(i);
        if (!equal)
            return fmt::format("differs first at {}: {}, expected {}", position(i, found.shape()),
                               element(found, i), element(expected, i));
    }
    return {};
}

}  // namespace hearth::tool
