// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains and programs: what a snapshot of a program's sessions is, and whether a brain fits.
// Session::record_snapshot, record_brain and record_forget are in brain.cpp too.

#pragma once

#include "device/session/loaded_program.hpp"
#include "program/brain.hpp"

namespace hearth::runtime {

/// Of all params and states, each at a multiple of file::kBrainAlignment.
uint64_t snapshot_bytes(const LoadedProgram& program);

/// hearth_brain_encode.  problems: what stands in the snapshot that may not be saved.
hearth_result encode_brain(const LoadedProgram& program, const hearth_brain_save_info& info,
                           std::byte* out, uint64_t* byte_count, gpu::Problems& problems);

/// HEARTH_OK or HEARTH_ERROR_MISMATCH, with all that stands against loading the brain.
hearth_result check_brain(const LoadedProgram& program, const BrainView& brain,
                          hearth_brain_flags flags, gpu::Problems& problems);

}  // namespace hearth::runtime
