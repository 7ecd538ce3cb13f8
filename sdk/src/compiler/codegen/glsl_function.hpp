// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A network as a GLSL function that a game's own shader calls for one row: a pixel, a vertex, an agent.
// It reads its weights where the session keeps them that trains them.

#pragma once

#include "compiler/ir/graph.hpp"
#include "program/program.hpp"

#include <hearth/glsl.hpp>
#include <hearth/status.hpp>

#include <string>

namespace hearth {

/// See export_glsl in hearth/glsl.hpp.
///
/// graph    after the passes (run_passes): no composites; its updates are left out.
/// program  has the graph's entry: its slots say where the weights lie.
///
/// Errors: kUnsupported naming an operator that has no `at` rule or mixes rows, a random number, or a
/// tensor that is too large for a function; kInvalidArgument for a name that is no identifier and for a
/// weight that the program does not have.
Result<GlslFunction> glsl_function(const Graph& graph, const Program& program,
                                   const std::string& name);

}  // namespace hearth
