// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Whether a device can run a program: what a session needs to know, and what chooses a profile.

#pragma once

#include "device/vulkan/device.hpp"
#include "program/view.hpp"

namespace hearth::runtime {

/// HEARTH_OK, or HEARTH_ERROR_UNSUPPORTED and in `error` the first thing that the device lacks:
/// kernels for a GPU or a CPU, what a foreign program needs, binding model, buffer sizes (the arena, the weights, each binding),
/// workgroup sizes and counts, what the SPIR-V declares.
hearth_result check_program(const gpu::Device& device, const ProgramView& view, hearth_trust trust,
                            FixedText<512>& error);

/// The same of what loading refuses: kernels for another kind of device, and what a foreign program needs.
hearth_result check_loading(const gpu::Device& device, const ProgramView& view, hearth_trust trust,
                            FixedText<512>& error);

/// "32", or "32, and 8 to 64 on request".
void describe_subgroup_sizes(const gpu::Device& device, FixedText<64>& out);

}  // namespace hearth::runtime
