// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Initial values of params and states, computed on the host side from a seed and a name.

#include <hearth/core/philox.hpp>
#include <hearth/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace hearth {

namespace {

/// Draw `draw` of element `element`: normal (Box and Muller, 1958; 1 - u is never zero).
double normal_number(uint64_t key, uint32_t draw, int64_t element) {
    const auto at = static_cast<uint32_t>(element);
    const double u = uniform_from_bits(philox_bits(key, 2 * draw, at));
    const double v = uniform_from_bits(philox_bits(key, 2 * draw + 1, at));
    return std::sqrt(-2 * std::log(1 - u)) * std::cos(2 * std::numbers::pi * v);
}

/// Redraws values beyond two standard deviations; 95 % of the draws are within.
double truncated_number(uint64_t key, int64_t element) {
    constexpr double kBound = 2;
    for (uint32_t draw = 0; draw < 64; ++draw)
        if (const double z = normal_number(key, draw, element); std::abs(z) <= kBound) return z;
    return 0;
}

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) {
    double total = 0;
    for (size_t i = 0; i < a.size(); ++i) total += a[i] * b[i];
    return total;
}

/// `count` orthonormal vectors of `size` >= count elements: Gram-Schmidt on normal vectors, applied
/// twice, which is enough (Giraud, Langou and Rozloznik, 2005).
std::vector<Vector> orthonormal(uint64_t key, int64_t count, int64_t size) {
    std::vector<Vector> vectors;
    for (int64_t r = 0; r < count; ++r) {
        Vector v(static_cast<size_t>(size));
        for (int64_t i = 0; i < size; ++i)
            v[static_cast<size_t>(i)] = normal_number(key, 0, r * size + i);
        for (int pass = 0; pass < 2; ++pass)
            for (const Vector& before : vectors) {
                const double along = dot(v, before);
                for (size_t i = 0; i < v.size(); ++i) v[i] -= along * before[i];
            }
        const double length = std::sqrt(dot(v, v));
        for (double& x : v) x /= length;
        vectors.push_back(std::move(v));
    }
    return vectors;
}

void fill_orthogonal(HostTensor& out, uint64_t key, double gain) {
    if (out.element_count() == 0) return;
    const int64_t rows = out.shape().rank() < 2 ? 1 : out.shape()[0].count;
    const int64_t columns = out.element_count() / rows;
    const std::vector<Vector> vectors =
        orthonormal(key, std::min(rows, columns), std::max(rows, columns));
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            const auto [vector, element] = rows <= columns ? std::pair(r, c) : std::pair(c, r);
            out.set(r * columns + c,
                    gain * vectors[static_cast<size_t>(vector)][static_cast<size_t>(element)]);
        }
}

}  // namespace

Init Init::from(HostTensor tensor) {
    Init init;
    init.kind = Kind::kData;
    init.data = std::make_shared<const HostTensor>(std::move(tensor));
    return init;
}

HostTensor Init::make(std::string_view name, DType dtype, const Shape& shape) const {
    if (kind == Kind::kData) return *data;
    HostTensor out(dtype, shape);
    const uint64_t key = stream_key(name, seed);
    if (kind == Kind::kOrthogonal) fill_orthogonal(out, key, a);
    for (int64_t i = 0; i < out.element_count(); ++i) {
        if (kind == Kind::kConstant) out.set(i, a);
        if (kind == Kind::kNormal) out.set(i, a + b * normal_number(key, 0, i));
        if (kind == Kind::kTruncatedNormal) out.set(i, a + b * truncated_number(key, i));
        if (kind == Kind::kUniform)
            out.set(i,
                    a + (b - a) * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))));
    }
    return out;
}

}  // namespace hearth
