// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// For tools and tests inside the project: compile() with the parts it is made of.

#pragma once

#include "ir/graph.hpp"
#include "program/program.hpp"

#include <hearth/compile.hpp>

namespace hearth {

/// A Program beside the graphs, as compiled, that its debug tables speak of.
struct CompiledProgram {
    Program program;
    std::vector<Graph> graphs;  ///< one for each entry
};

Result<CompiledProgram> compile_graphs(std::vector<Graph> graphs, const CompileOptions& options);

}  // namespace hearth
