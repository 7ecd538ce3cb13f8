// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The program's entries, with the host memory that their inputs are read from.

#pragma once

#include "core/alloc.hpp"
#include "core/cost_meter.hpp"
#include "program/agent_spec_view.hpp"

#include <hearth/hearth.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace hearth::agents {

/// Host memory for an input of this name.  Its size is the driver's: a program that declares
/// another size is rejected.
struct HostInput {
    std::string_view name;
    const void* data = nullptr;
    uint64_t fixed_bytes = 0, row_bytes = 0;
    hearth_dtype dtype = HEARTH_F32;
};

/// An input of an entry and the host memory that it is read from.
struct Source {
    const char* name = nullptr;  ///< the program's
    uint32_t binding = 0;
    const void* data = nullptr;
    uint64_t fixed_bytes = 0, row_bytes = 0;

    uint64_t bytes(uint64_t rows) const { return fixed_bytes + row_bytes * rows; }
};

/// An entry of the program, and how far it is recorded.
struct Entry {
    bool exists = false;
    bool is_learners = false;  ///< recorded on the learner's session
    uint32_t index = 0;
    uint32_t dispatches = 1, commands = 1;
    Array<Source> sources;
    Array<CostMeter::Command> command_costs;  ///< storage of `cost`
    CostMeter cost;
    hearth_run_cursor cursor{};

    Position position() const { return {cursor.next_command, cursor.next_sub_dispatch}; }
    /// Part of it is recorded.
    bool is_cut() const { return !position().is_start(); }
    const Source* find(std::string_view name) const;

    /// Finds the entry and binds its inputs to `inputs`, by name or the name's alias.  Sets `error`
    /// if it fails.  HEARTH_ERROR_NOT_FOUND: no such entry.
    hearth_result find(const hearth_program* program, std::string_view name,
                       std::span<const HostInput> inputs, HostAllocator& allocator,
                       SpecText& error);
    /// Prepares `cost`.  Returns false if out of memory.
    [[nodiscard]] bool measure_cost(const hearth_program* program, HostAllocator& allocator);
};

}  // namespace hearth::agents
