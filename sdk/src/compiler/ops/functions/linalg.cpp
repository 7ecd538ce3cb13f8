// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Linear algebra beyond products, as graph code for small matrices.

#include "compiler/ops/shared/rules.hpp"

namespace hearth {

namespace {

/// The matrices [.., m, m] with row 0 and row `other` [.., 1, 1] swapped.
Tensor with_swapped_rows(const Tensor& a, const Tensor& other) {
    const Tensor rows = unsqueeze(arange(*a.trace(), {a.dim(-2)}, other.dtype()), {-1});
    const Tensor first_or_own = where(equal(rows, other), 0.0, rows);
    const Tensor from = where(equal(rows, 0), other, first_or_own);
    return gather_elements(a, expand(from, a.shape()), -2);
}

}  // namespace

// Gaussian elimination with partial pivoting, column by column.
Tensor det(const Tensor& x) {
    constexpr int64_t kLargest = 64;
    if (!x.ok()) return x;
    const int rank = x.rank();
    if (rank < 2 || x.dim(-1) != x.dim(-2) || x.dim(-1).is_batch || x.dim(-1).count < 1 ||
        x.dim(-1).count > kLargest)
        return fail(x, invalid_argument("det: x is " + to_string(x.shape()) +
                                        ", expected square matrices of at most " +
                                        std::to_string(kLargest) + " rows"));
    Tensor a = x, result;
    for (int64_t size = x.dim(-1).count; size > 0 && a.ok(); --size) {
        const Tensor best = argmax(abs(slice(a, -1, 0, 1)), -2, true);
        if (size > 1) a = with_swapped_rows(a, best);
        const Tensor pivot = slice(slice(a, -2, 0, 1), -1, 0, 1);
        const Tensor factor = where(equal(best, 0), pivot, neg(pivot));
        result = result.ok() ? result * factor : factor;
        if (size == 1) break;
        // A zero column makes the determinant zero whatever follows; the divisor 1 avoids NaN.
        const Tensor divisor = where(equal(pivot, 0), 1.0, pivot);
        const Tensor below = slice(slice(a, -2, 1, size), -1, 0, 1);
        const Tensor beside = slice(slice(a, -2, 0, 1), -1, 1, size);
        a = slice(slice(a, -2, 1, size), -1, 1, size) - below / divisor * beside;
    }
    return a.ok() ? squeeze(result, {-2, -1}) : failed_like(x);
}

}  // namespace hearth
