// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Planning: in which order the kernel calls run, where every value has its bytes, and where a
// barrier stands.  Pure integers; no device and no tensor data but the first contents of weights.

#pragma once

#include "compiler/codegen/lowered_program.hpp"
#include "compiler/ir/graph.hpp"
#include "program/program.hpp"

#include <hearth/status.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <span>

namespace hearth {

struct PlanOptions {
    /// The most rows that a recording may have; what is sized per row is sized for these.
    uint64_t rows_capacity = 1;
    /// Alignment of values, and the largest arena and weights region.
    DeviceCaps caps = baseline_caps();
    /// Lets all entries use the same bytes of the arena.  Then no entry may be recorded between two
    /// slices of another.
    bool share_arena = false;
};

/// Plans one Program; `graphs[i]` is what `lowered.entries[i]` computes.
///
/// What a host may rely on:
/// - Params, states and constants of all graphs with one name are one slot.  Constants without a
///   name are told apart by their contents.
/// - An entry has as many barriers as its longest chain of dependent calls needs: memory is reused
///   only where a barrier stands anyway.
/// - Updates of params, states and inputs are written after the last barrier of their entry.  An
///   entry that was stopped at any barrier has therefore not changed the weights yet.
/// - An output is written into the bound buffer by the call that computes it, and may be read back
///   from there by later calls.
/// - The buffers bound in one recording must overlap neither each other nor Hearth's own memory: no
///   barrier is planned for that.
///
/// Errors: kInvalidArgument for graphs that disagree about a name, for calls that read what nothing
/// writes, for contents that the device type cannot hold; kOutOfRange for memory beyond
/// `caps.max_buffer_bytes`.  Deterministic: equal inputs give equal Programs on every platform.
Result<Program> plan(std::span<const Graph> graphs, LoweredProgram lowered,
                     const PlanOptions& options);

/// Proves a plan without knowing how it was made: runs each entry on symbolic memory and checks
/// that every read finds the value it should, that every hazard has a barrier in between, that
/// everything is in bounds and aligned, and that outputs and updates are in place at the end.
///
/// `plan` calls it on what it returns.  Errors: kInternal naming entry, step and rule.
Status verify_plan(const Program& program, std::span<const Graph> graphs,
                   std::span<const LoweredEntry> entries, const PlanOptions& options);

}  // namespace hearth
