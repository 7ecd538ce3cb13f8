// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Building a graph anew, node by node: the frame that passes share.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/op_def.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace hearth {

/// What to put in place of a node whose inputs are already rewritten: one tensor for each output,
/// or nothing to keep the node as it is.
using RewriteRule = std::function<std::optional<std::vector<Tensor>>(
    Trace& trace, const Node& node, std::span<const Tensor> inputs)>;

/// What to put in place of a param, state or constant, or nothing to keep it.
using LeafRule = std::function<std::optional<Tensor>(Trace& trace, const Value& leaf)>;

/// Replays `graph` with `rule` applied to each node and `leaf_rule`, if there is one, to each leaf.  The result is canonical and verified; inputs,
/// outputs, params and states keep their names.
Result<Graph> rewrite(const Graph& graph, const RewriteRule& rule, const LeafRule& leaf_rule = {});

/// Appends the nodes of `graph` to `trace`, with `inputs[i]` in place of graph.inputs[i]; params and
/// states are unified by name.  Returns the new tensor of each of the graph's values.
std::vector<Tensor> replay(const Graph& graph, Trace& trace, std::span<const Tensor> inputs);

/// Whether what the operator computes depends on the number of rows by its attributes.
bool asks_for_rows(const Attrs& attrs);

/// Adds the attributes that are absent and have a value for that in the operator's record.
void add_defaults(const OpDef& op, Attrs& attrs);

/// Moves nodes behind the makers of what they read, and keeps their order otherwise: for a graph in
/// which readers were given values made later.  Values keep their numbers.
void restore_order(Graph& graph);

}  // namespace hearth
