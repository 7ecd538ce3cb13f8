// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// GLSL text to SPIR-V, through the glslang library: of custom kernels that are written so.  Kernels of Hearth's own are
// printed as SPIR-V (compiler/print/spirv.hpp).

#pragma once

#include <hearth/status.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// False in builds without glslang (HEARTH_GLSL=OFF).
bool has_glsl_compiler();

/// Compiles a compute shader to SPIR-V 1.5, or to 1.3 (for Vulkan 1.1) where 1.5 is too new.
/// Errors: kInternal with the compiler's first error and the line that it names (generated text
/// that does not compile is a bug of the generator); kUnsupported where has_glsl_compiler() is false.  Any thread; calls are independent.
///
/// newest_spirv  as DeviceCaps::spirv_version.
Result<std::vector<uint32_t>> compile_glsl(const std::string& source, const std::string& name,
                                           uint32_t newest_spirv = 0x00010500);

}  // namespace hearth
