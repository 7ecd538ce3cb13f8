// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of the operator `conv`.

#pragma once

#include "compiler/ops/kernels/conv_tiles.hpp"

#include <hearth/op/op_def.hpp>

#include <optional>
#include <vector>

namespace hearth {

/// The tiles for a convolution, as conv_candidates(); none for other operands.
std::vector<ConvTile> conv_tiles(const KernelRuleContext& call);

/// Returns a kernel from shaders/conv, as chosen by compiler/ops/kernels/conv_tiles.hpp, for one group of
/// channels or one channel per group, and one or two spatial axes. Returns nothing for other
/// operands, or if no tile fits.
std::optional<CustomKernel> conv_kernel(const KernelRuleContext& call);

}  // namespace hearth
