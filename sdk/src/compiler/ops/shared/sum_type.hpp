// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <hearth/types.hpp>

namespace hearth {

/// Accumulator type of sums of `dtype`: f32 for f16 and bf16.
inline DType sum_type(DType dtype) {
    return is_floating(dtype) && size_bytes(dtype) == 2 ? DType::kF32 : dtype;
}

}  // namespace hearth
