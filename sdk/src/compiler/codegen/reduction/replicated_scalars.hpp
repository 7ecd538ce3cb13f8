// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Replicated scalars: single numbers that many kernels wait for (the norm of all gradients, the mean
// of a batch), and which each workgroup therefore works out again.  Three
// rewrites of a fusion plan make them cost no level of dependent kernels:
//
// - Folds of blocks (compiler/passes/split_norms.cpp) become part of the kernel that makes what they fold.
// - A fold of a few thousand elements into a single number is worked out again by each workgroup of
//   the kernels that read the number.
// - Updates of single numbers, which would read what the others replace, become one group.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/fusion/fuse.hpp"

namespace hearth {

void replicate_scalars(const Graph& graph, FusionPlan& plan, const LowerOptions& options);

}  // namespace hearth
