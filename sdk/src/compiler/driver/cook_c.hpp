// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"
#include "program/program.hpp"

#include <hearth/c.hpp>

namespace hearth {

/// cook_c() of graphs instead of traces.  program: if not null, receives the plan, for tests and
/// tools.
Result<CProgram> cook_c_of(std::vector<Graph> graphs, const CompileToCOptions& options,
                           Program* program = nullptr);

}  // namespace hearth
