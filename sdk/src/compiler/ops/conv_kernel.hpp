// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of the operator `conv`.

#pragma once

#include <hearth/op/op_def.hpp>

#include <optional>

namespace hearth {

/// For one group of channels, or one channel for each group, and one or two spatial axes: one of the
/// texts of shaders/conv, as compiler/ops/conv_tiles.hpp chooses.  Nothing for other operands, nor where it
/// names none.
std::optional<KernelText> conv_kernel(const KernelRuleCall& call);

}  // namespace hearth
