// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Questions about graphs, and their text.

#pragma once

#include <hearth/graph.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// For each value, the nodes that read it (a node once, however often it reads).
std::vector<std::vector<NodeId>> readers_of(const Graph& graph);

/// For each value, whether it leaves the graph: as an output or an update.
std::vector<bool> leaves_graph(const Graph& graph);

/// Whether a node whose operator writes in place (OpDef::writes_in_place) may: its result is nothing
/// but the one update of what it reads first.
bool writes_in_place(const Graph& graph, const Node& node);
/// The same without asking whether the operator does.
bool updates_first_input(const Graph& graph, const Node& node);

/// A graph with only what outputs and updates need, values and nodes renumbered in a canonical
/// order (post-order from outputs, then updates), so that equal computations hash equal.
Graph canonical(const Graph& graph);

/// Content hash of a canonical graph; constants included, first contents of params not.
uint64_t content_hash(const Graph& graph);

/// Text form, one node a line.
std::string print(const Graph& graph);

/// Checks everything a graph must satisfy: references in range and in order, one producer per
/// value, shapes and types equal to what the operators' rules infer, updates of equal shape.
Status verify(const Graph& graph);

}  // namespace hearth
