// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"
#include "program/program.hpp"

#include <hearth/glsl.hpp>

namespace hearth {

/// export_glsl() of a graph, as traced, and a finished program that contains it.
Result<GlslFunction> export_glsl_of(Graph graph, const Program& program,
                                    const CompileOptions& options, std::string_view name);

}  // namespace hearth
