// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The reference: runs operators and graphs with plain loops, in double, each result rounded to its
// element type once.  It exists to be obviously right; everything else is compared with it.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/status.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Runs one operator.  attrs: complete; rows: what symbolic extents in them stand for.  One tensor
/// for each output.  Errors: what the operator's shape rule says of these inputs.
Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& attrs,
                                              std::span<const HostTensor* const> inputs,
                                              int64_t rows = 1);
Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& attrs,
                                              std::span<const HostTensor> inputs, int64_t rows = 1);

/// The first contents of a graph's params and states, by name.
NamedTensors initial_weights(const Graph& graph);

/// Runs a graph.  inputs: by name, of the declared type and shape with `rows` rows.  weights:
/// params and states by name; missing ones are added with their first contents, and those that the
/// graph updates hold their new contents afterwards.  Returns the outputs by name. Errors:
/// kInvalidArgument naming the input or weight that is missing or differs.
Result<NamedTensors> interpret(const Graph& graph, const NamedTensors& inputs,
                               NamedTensors& weights, int64_t rows = 1);

/// The same with inputs in graph.inputs order and params and states as first declared; the results
/// come in graph.outputs order, and updates are dropped.
Result<std::vector<HostTensor>> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                         int64_t rows = 1);

}  // namespace hearth
