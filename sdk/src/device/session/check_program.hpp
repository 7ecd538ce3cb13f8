// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Checks whether a device can run a program, for sessions and for the choice of a device target.

#pragma once

#include "device/vulkan/device.hpp"
#include "program/view.hpp"

namespace hearth::runtime {

/// Returns HEARTH_OK, or HEARTH_ERROR_UNSUPPORTED with the first missing requirement in `error`:
/// kernels for this kind of device, needs of untrusted programs, binding model, buffer sizes
/// (arena, weights, each binding), workgroup sizes and counts, SPIR-V capabilities.
hearth_result check_program(const gpu::Device& device, const ProgramView& view,
                            hearth_trust_level trust, FixedText<512>& error);

/// The subset that is checked at load: the kind of device, and the needs of untrusted programs.
hearth_result check_loading(const gpu::Device& device, const ProgramView& view,
                            hearth_trust_level trust, FixedText<512>& error);

/// Formats the subgroup sizes: "32", or "32, and 8 to 64 on request".
void describe_subgroup_sizes(const gpu::Device& device, FixedText<64>& out);

}  // namespace hearth::runtime
