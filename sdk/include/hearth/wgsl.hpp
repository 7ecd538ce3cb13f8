// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Networks for WebGPU: a plan as JSON with its kernels in WGSL, which a page's JavaScript records
// (demos/web/page/webgpu.js).

#pragma once

#include <hearth/compile.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <span>
#include <string>

namespace hearth {

/// Compiles the entries for WebGPU's baseline (f32, one storage buffer, no subgroups).  Weights lie as in what
/// cook_c() makes of the same entries for Cpu::kWasm128 with the same capacity: their brains are loaded and saved
/// there.  docs/cooked_c.md says what the JSON holds.
///
/// Kernels are those of CPUs, an invocation for each of their jobs: right, but no match for what GPUs get by Vulkan.
///
/// Errors: as cook_c(); kUnsupported naming a kernel and what WGSL has no counterpart for.
/// Threads: any.  Deterministic.
Result<std::string> cook_wgsl(std::span<Trace* const> entries, uint64_t rows_capacity);

}  // namespace hearth
