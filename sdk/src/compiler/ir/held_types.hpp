// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graphs with the element types that a device holds in memory.

#pragma once

#include <hearth/graph.hpp>

namespace hearth {

/// The graph with the types that `storage` holds in 32 bits instead of 64.  Values keep their ids.
/// For code generation: bindings keep the graph's own types.
Graph with_held_types(const Graph& graph, NarrowStorage storage);
/// True if with_held_types() changes nothing.
bool are_types_held(const Graph& graph, NarrowStorage storage);

}  // namespace hearth
