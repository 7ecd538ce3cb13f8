// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Planning: the order of kernel calls, the memory offset of every value, and the place of every
// barrier.  Integer arithmetic only; no device, and no tensor data except the initial values of
// weights.

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
    /// Largest batch size of a recording; every tensor with a batch dimension is allocated for it.
    uint64_t max_batch_size = 1;
    /// Source of the alignment of values and of the largest arena and weights region.
    DeviceCaps caps = baseline_caps();
    /// Lets all entries use the same arena bytes.  Then no entry may be recorded between two slices
    /// of another.
    bool share_arena = false;
};

/// Plans one Program; `graphs[i]` is the graph that `lowered.entries[i]` computes.
///
/// Guarantees to the application:
/// - Params, states and constants with the same name in several graphs are one variable.  Constants
///   without a name are identified by their contents.
/// - An entry has as many barriers as its longest chain of dependent calls needs: memory is reused
///   only where a barrier stands anyway.
/// - Updates of params, states and inputs are written after the last barrier of their entry.  An
///   entry stopped at any barrier has therefore not changed the weights yet.
/// - An output is written into the bound buffer by the call that computes it, and later calls may
///   read it from there.
/// - The buffers bound in one recording must overlap neither each other nor Hearth's own memory: no
///   barrier is planned for that.
///
/// Errors: kInvalidArgument for graphs that disagree about a name, for calls that read a value that
/// no call writes, for contents that the device type cannot hold; kOutOfRange for memory beyond
/// `caps.max_storage_buffer_range`.  Deterministic: equal inputs give equal Programs on every platform.
Result<Program> plan(std::span<const Graph> graphs, LoweredProgram lowered,
                     const PlanOptions& options);

/// Verifies a plan independently of the planner: runs each entry on symbolic memory and checks that
/// every read finds the expected value, that a barrier separates every hazard, that every operand
/// is in bounds and aligned, and that outputs and updates hold their values at the end.
///
/// `plan` calls it on its result.  Errors: kInternal naming entry, command and rule.
Status verify_plan(const Program& program, std::span<const Graph> graphs,
                   std::span<const LoweredEntry> entries, const PlanOptions& options);

}  // namespace hearth
