// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Affine quantization, (q - zero_point) * scale, as graph code.

#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

/// Broadcasts a scale or zero point to x: a scalar, one per index along `axis`, or one per block of
/// `block` elements along it (0: no blocks).
Tensor stretched(const Tensor& parameter, const Tensor& x, int64_t axis, int64_t block) {
    if (!parameter.ok() || !x.ok()) return failed_like(x);
    const Shape from = parameter.shape(), to = x.shape();
    if (from.element_count() == Dim(1) && from.rank() <= 1) return reshape(parameter, {});
    const Result<int> at = normalize_axis(axis, to.rank());
    if (!at.ok()) return fail(x, at.status());
    Shape shape;
    if (block == 0) {
        for (int i = 0; i < to.rank(); ++i) shape.push_back(i == *at ? to[i] : Dim(1));
        if (from.rank() == 1 && from[0] == to[*at]) return reshape(parameter, shape);
        return fail(x, invalid_argument("a scale or zero point is " + to_string(from) + ", not [" +
                                        to_string(to[*at]) + "]"));
    }
    bool fits = from.rank() == to.rank() && block > 0 && !to[*at].is_batch;
    for (int i = 0; fits && i < to.rank(); ++i)
        fits = i == *at ? from[i] == Dim((to[i].count + block - 1) / block) : from[i] == to[i];
    if (!fits)
        return fail(x, invalid_argument("scales " + to_string(from) + " do not suit blocks of " +
                                        std::to_string(block) + " in " + to_string(to)));
    shape = from;
    shape.insert(*at + 1, Dim(block));
    Shape whole = from;
    whole[*at].count *= block;
    return slice(reshape(expand(unsqueeze(parameter, {*at + 1}), shape), whole), *at, 0,
                 to[*at].count);
}

/// Casts to f32 at least, in which 16-bit integers are exact.
Tensor widened(const Tensor& x) {
    const bool is_wide = x.dtype() == DType::kF32 || x.dtype() == DType::kF64;
    return is_wide ? x : cast(x, DType::kF32);
}

}  // namespace

Tensor quantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point, DType dtype,
                       int64_t axis, int64_t group_size) {
    if (!x.ok() || !scale.ok()) return failed_like(x);
    const Tensor wide = widened(x);
    Tensor q = round(wide / cast(stretched(scale, x, axis, group_size), wide.dtype()));
    if (zero_point.ok()) q = q + cast(stretched(zero_point, x, axis, group_size), wide.dtype());
    return cast(q, dtype);
}

Tensor dequantize_linear(const Tensor& x, const Tensor& scale, const Tensor& zero_point,
                         int64_t axis, int64_t group_size) {
    if (!x.ok() || !scale.ok()) return failed_like(x);
    const Tensor wide_scale = widened(stretched(scale, x, axis, group_size));
    Tensor y = cast(x, wide_scale.dtype());
    if (zero_point.ok())
        y = y - cast(stretched(zero_point, x, axis, group_size), wide_scale.dtype());
    return cast(y * wide_scale, scale.dtype());
}

DynamicQuantized dynamic_quantize_linear(const Tensor& x) {
    constexpr double kLargest = 255;
    // The range includes zero, so that padding is exact.
    const Tensor low = minimum(min(x), 0), high = maximum(max(x), 0);
    const Tensor scale = (high - low) / kLargest;
    const Tensor divisor = where(equal(scale, 0), 1.0, scale);
    const Tensor zero_point = cast(clamp(round(neg(low) / divisor), 0, kLargest), DType::kU8);
    return {quantize_linear(x, divisor, zero_point, DType::kU8), scale, zero_point};
}

Tensor matmul_integer(const Tensor& a, const Tensor& b, const Tensor& a_zero_point,
                      const Tensor& b_zero_point) {
    Tensor left = cast(a, DType::kI32), right = cast(b, DType::kI32);
    if (a_zero_point.ok()) {
        const Tensor zero = cast(a_zero_point, DType::kI32);
        // One zero point per row.
        left = left - (zero.rank() == 1 && a.rank() > 1 ? unsqueeze(zero, {-1}) : zero);
    }
    if (b_zero_point.ok()) right = right - cast(b_zero_point, DType::kI32);
    return matmul(left, right);
}

}  // namespace hearth
