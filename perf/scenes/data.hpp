// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Data of scenes and its comparison.

#pragma once

#include <hearth/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>

namespace hearth::perf {

/// Uniform in [-1, 1), depending on the name alone.
inline HostTensor random_tensor(std::string_view name, const Shape& shape) {
    return Init::uniform(-1, 1).make(name, DType::kF32, shape);
}

/// The rows of `pattern` again and again, `rows` of them.  What the CPU reference finds for the
/// pattern then holds for any number of rows, be it row by row or as a mean.
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

/// Euclidean norm of (found - expected) over that of `expected`, which is repeated if it is
/// shorter; NaN if anything is.  A norm below `least` times that of ones counts as so much: what is
/// zero but for rounding need not agree.
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
