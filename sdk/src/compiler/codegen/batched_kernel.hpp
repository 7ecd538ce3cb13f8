// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Batched kernels (horizontal fusion): independent groups as one kernel, of which each has some of the workgroups.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/planned_call.hpp"
#include "compiler/fusion/levels.hpp"

#include <vector>

namespace hearth {

/// The calls, of which those of a level become parts of one kernel where they can: elementwise
/// groups, reductions and rows in place, with a fixed number of workgroups.
std::vector<PlannedCall> batch_calls(const Graph& graph, const std::vector<bool>& inlined,
                                     const GroupLevels& levels, std::vector<PlannedCall> calls,
                                     const LowerOptions& options);

}  // namespace hearth
