// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Steps of reductions, as expressions of a body.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/op/op_def.hpp>

#include <cstdint>

namespace hearth {

/// The identity of a reduction of elements of `dtype`.
double fold_start(ReduceOp fold, DType dtype);
/// One step of a reduction.
Expr fold_step(ReduceOp fold, Expr a, Expr b);

/// Accumulators of a sum on CPUs whose terms lie side by side: as many on all of them, for the same bits.
inline constexpr int64_t kSumParts = 16;

}  // namespace hearth
