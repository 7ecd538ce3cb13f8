// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a planned Program on the CPU, in memory laid out exactly as on a device: every command reads
// its operands' bytes, computes the values of its debug table by the interpreter's rules, and
// writes bytes.  Exposes the effects of fusion, order and aliasing without a GPU.

#pragma once

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "program/program.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace hearth {

/// Device memory of a Program's session.
struct ProgramMemory {
    std::vector<std::byte> arena;
    std::vector<std::byte> weights;
    NarrowStorage storage;

    /// Weights have their initial values; the arena is filled with bytes that are NaN as any float,
    /// so that reads of unwritten memory show in the results.
    explicit ProgramMemory(const Program& program);

    /// The contents of a variable, as its logical type.
    HostTensor read(const Variable& variable) const;
    void write(const Variable& variable, const HostTensor& contents);
};

/// Runs one entry.  graph: of the entry, as compiled.  inputs: by name, for a batch of `rows`.
/// Returns the outputs by name.
/// Errors: kInvalidArgument for inputs that are missing or differ; kInternal naming the command for
/// a range out of bounds, or a value that is neither held by an operand nor computed.
Result<NamedTensors> run_program(const Program& program, std::string_view entry, const Graph& graph,
                                 const NamedTensors& inputs, ProgramMemory& memory,
                                 int64_t rows = 1);

}  // namespace hearth
