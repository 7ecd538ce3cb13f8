// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"

namespace hearth {

/// Evaluates, with the CPU reference, what a graph without updates computes from constants and
/// params alone and would store at each run, such as weights whose gates are brought into another
/// order. A result that depends on a param `w` becomes a param `w.folded`, or `w.folded2`, ...;
/// others become constants. Values that would take more memory than the weights that they replace
/// stay as they are.
Result<Graph> fold_weights(const Graph& graph);

}  // namespace hearth
