// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles networks for WebGPU: a plan as JSON with its kernels in WGSL, which a page's JavaScript
// records (demos/web/page/webgpu.js).

#pragma once

#include <hearth/compile.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/status.hpp>
#include <hearth/tensor.hpp>

#include <span>
#include <string>

namespace hearth {

/// Compiles the entries for WebGPU's baseline (f32, one storage buffer, no subgroups).  The layout
/// of weights equals that of compile_to_c() for the same entries, CpuIsa::kWasm128 and the same
/// max_batch_size, whose functions load and save brains.  docs/how-to/cooked_c.md describes the
/// JSON.
///
/// Kernels are the CPU kernels, with one invocation per job: correct, but slower than the kernels
/// for Vulkan.
///
/// Errors: as compile_to_c(); kUnsupported naming a kernel and the construct that WGSL lacks.
/// Threads: any.  Deterministic.
Result<std::string> compile_to_wgsl(std::span<Trace* const> entries, uint64_t max_batch_size);

}  // namespace hearth
