// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brains of a program: the layout of a snapshot, and the check that a brain fits. brain.cpp also
// implements Session::record_save_brain, record_brain and record_forget.

#pragma once

#include "device/session/loaded_program.hpp"
#include "program/brain.hpp"

namespace hearth::runtime {

/// Size of a snapshot: all saved variables, each at a multiple of file::kBrainAlignment.
uint64_t snapshot_bytes(const LoadedProgram& program, file::BrainContents contents);

/// Writes the snapshot of a session that has only been initialized.  out: snapshot_bytes.
void write_initial_snapshot(const LoadedProgram& program, file::BrainContents contents,
                            std::byte* out);

/// Implements hearth_brain_encode. problems: values in the snapshot that must not be saved.
hearth_result encode_brain(const LoadedProgram& program, const hearth_brain_save_info& info,
                           std::byte* out, uint64_t* byte_count, gpu::Problems& problems);

/// Returns HEARTH_OK or HEARTH_ERROR_INCOMPATIBLE, with all mismatches in `problems`.
hearth_result check_brain(const LoadedProgram& program, const BrainView& brain,
                          hearth_brain_flags flags, gpu::Problems& problems);

}  // namespace hearth::runtime
