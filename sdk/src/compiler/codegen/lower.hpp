// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// From graphs to kernels: fuses each graph into groups and turns each group into one kernel call.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/lowered_program.hpp"
#include "compiler/ir/graph.hpp"

#include <hearth/status.hpp>

#include <span>

namespace hearth {

/// Lowers graphs without composites.  Kernels with equal text are shared among all entries.
/// Errors: kUnsupported naming the operator that has no kernel, or the type no kernel can hold.
Result<LoweredProgram> lower(std::span<const Graph> graphs, const LowerOptions& options);

}  // namespace hearth
