// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The kernels of the operator `conv`.

#pragma once

#include <hearth/op/op_def.hpp>

#include <optional>

namespace hearth {

/// For one group of channels and one or two spatial axes: shaders/conv/conv_matrix.comp for f16,
/// where the device has matrix cores and there is work for all of it; conv_shallow.comp for few
/// channels of large images; else conv_tiled.comp.  Nothing for other operands, and for devices
/// that run on the CPU, where products of patches are faster.
std::optional<KernelText> conv_kernel(const KernelRuleCall& call);

}  // namespace hearth
