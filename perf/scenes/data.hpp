// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Generates and compares the scenes' data.

#pragma once

#include <hearth/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace hearth::perf {

/// Uniform in [-1, 1), determined by the name.
inline HostTensor random_tensor(std::string_view name, const Shape& shape) {
    return Init::uniform(-1, 1).make(name, DType::kF32, shape);
}

/// Repeats the rows of `pattern` until there are `rows`. The CPU reference's results for the
/// pattern then hold for any batch size, row by row or as a mean.
inline HostTensor repeat_rows(const HostTensor& pattern, int64_t rows) {
    Shape shape = pattern.shape();
    shape[0] = rows;
    HostTensor out(pattern.dtype(), shape);
    const std::span<const std::byte> from = pattern.bytes();
    for (size_t at = 0; at < out.bytes().size(); at += from.size())
        std::memcpy(out.bytes().data() + at, from.data(),
                    std::min(from.size(), out.bytes().size() - at));
    return out;
}

/// Euclidean norm of (found - expected) relative to that of `expected`, which is repeated if it is
/// shorter; NaN if any element is. `least` is a lower bound of the norm per element: values that
/// are zero up to rounding need not agree.
inline double relative_error(const HostTensor& found, const HostTensor& expected,
                             double least = 0) {
    double difference = 0, norm = 0;
    const double least_norm = least * least * static_cast<double>(found.element_count());
    for (int64_t i = 0; i < found.element_count(); ++i) {
        const double e = expected.get(i % expected.element_count());
        difference += (found.get(i) - e) * (found.get(i) - e);
        norm += e * e;
    }
    norm = std::max(norm, least_norm);
    return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

}  // namespace hearth::perf
