// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Validates shapes that come from untrusted files: rank, sign and total size of their extents.

#include <hearth/core/extents.hpp>

#include <algorithm>

namespace hearth {

Status check_extents(const Shape& shape) {
    int64_t left = kMaxExtent;
    int symbolic = 0;
    for (Dim d : shape.dims()) {
        if (d.count < 0)
            return invalid_argument("shape " + to_string(shape) + " has a negative extent");
        left /= std::max<int64_t>(d.count, 1);
        if (d.is_batch) left >>= 16;
        symbolic += d.is_batch;
    }
    if (left == 0) return out_of_range("shape " + to_string(shape) + " is too large");
    if (symbolic > 1)
        return unsupported("shape " + to_string(shape) + " has more than one symbolic extent");
    return {};
}

Result<Shape> checked_shape(std::span<const int64_t> extents) {
    if (extents.size() > static_cast<size_t>(kMaxRank))
        return unsupported("rank " + std::to_string(extents.size()) + " is more than " +
                           std::to_string(kMaxRank));
    const Shape shape(extents);
    HEARTH_TRY(check_extents(shape));
    return shape;
}

}  // namespace hearth
