// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// SPIR-V with the matrices of SPV_NV_cooperative_matrix, which old GLSL compilers can write, to
// SPV_KHR_cooperative_matrix, which devices of other makes have.

#pragma once

#include <hearth/status.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// Rewrites a module made from shaders/common/coopmat.glsl with HEARTH_MATRIX_KHR defined.
/// Errors: kInternal if an instruction is not of the form that glslang writes.
Result<std::vector<uint32_t>> to_khr_matrices(std::span<const uint32_t> spirv);

}  // namespace hearth
