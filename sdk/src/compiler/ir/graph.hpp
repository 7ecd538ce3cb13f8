// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Graph queries, canonical form, content hash, text form and verification.

#pragma once

#include <hearth/graph.hpp>
#include <hearth/tensor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// The graph of a trace, for what Trace has no method for: renaming values, rewriting updates.
Graph& mutable_graph(Trace& trace);

/// For each value, the nodes that read it (each node once, even if it reads the value repeatedly).
std::vector<std::vector<NodeId>> readers_of(const Graph& graph);

/// For each value, true if it leaves the graph as an output or an update.
std::vector<bool> leaves_graph(const Graph& graph);

/// For each value, true if it may lie in a buffer of the application: an input, what an input is
/// set to, or an output.
std::vector<bool> external_values(const Graph& graph);

/// True if a node whose operator has OpDef::writes_in_place can write in place: its result is
/// nothing but the one update of its first input.
bool writes_in_place(const Graph& graph, const Node& node);
/// As above, whether or not the operator has writes_in_place.
bool updates_first_input(const Graph& graph, const Node& node);

/// A copy with only the nodes that outputs and updates need, values and nodes renumbered in a
/// canonical order (post-order from outputs, then updates), so that equal computations hash equal.
Graph canonical(const Graph& graph);

/// Content hash of a canonical graph, including constants but not the initial values of params.
uint64_t content_hash(const Graph& graph);

/// Text form, one node a line.
std::string print(const Graph& graph);

/// Checks all invariants of a graph: references in range and in order, one producer per value,
/// shapes and types equal to those that the operators infer, updates of equal shape.
Status verify(const Graph& graph);

}  // namespace hearth
