// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rebuilding a graph node by node: the framework of the passes.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace hearth {

/// The replacement of a node whose inputs are already rewritten: one tensor for each output, or
/// nullopt to keep the node.
using RewriteRule = std::function<std::optional<std::vector<Tensor>>(
    Trace& trace, const Node& node, std::span<const Tensor> inputs)>;

/// The replacement of a param, state or constant, or nullopt to keep it.
using LeafRule = std::function<std::optional<Tensor>(Trace& trace, const Value& leaf)>;

/// Replays `graph` with `rule` applied to each node and `leaf_rule`, if given, to each leaf.  The
/// result is canonical and verified; inputs, outputs, params and states keep their names.
Result<Graph> rewrite(const Graph& graph, const RewriteRule& rule, const LeafRule& leaf_rule = {});

/// Appends the nodes of `graph` to `trace`, with `inputs[i]` in place of graph.inputs[i]; params
/// and states of one name are unified.  Returns the new tensor of each of the graph's values.
std::vector<Tensor> replay(const Graph& graph, Trace& trace, std::span<const Tensor> inputs);

/// True if the attributes make the operator's result depend on the batch size.
bool asks_for_rows(const Attrs& attrs);

/// Adds the missing attributes that have a default in the operator's record.
void add_defaults(const OpDef& op, Attrs& attrs);

/// Restores topological order, and otherwise keeps the order of nodes: for a graph in which nodes
/// were redirected to values made later.  Values keep their ids.
void restore_order(Graph& graph);

}  // namespace hearth
