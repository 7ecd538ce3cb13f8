// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The reference interpreter: runs operators and graphs with plain loops, in double, and rounds each
// result to its element type once.  It is kept simple enough to be obviously correct; all other
// execution is compared with it.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/op_def.hpp>
#include <hearth/status.hpp>

#include <span>
#include <string>
#include <vector>

namespace hearth {

/// Runs one operator.  attrs: complete; rows: the batch size for symbolic extents in them.  Returns
/// one tensor for each output.
/// Errors: those of the operator's shape rule for these inputs.
Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& attrs,
                                              std::span<const HostTensor* const> inputs,
                                              int64_t rows = 1);
Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& attrs,
                                              std::span<const HostTensor> inputs, int64_t rows = 1);

/// The initial values of a graph's params and states, by name.
NamedTensors initial_weights(const Graph& graph);

/// Runs a graph.  inputs: by name, of the declared type and shape for a batch of `rows`.  weights:
/// params and states by name; missing ones are added with their initial values, and those that the
/// graph updates hold their new contents afterwards.  Returns the outputs by name.
/// Errors: kInvalidArgument naming the input or weight that is missing or differs.
Result<NamedTensors> interpret(const Graph& graph, const NamedTensors& inputs,
                               NamedTensors& weights, int64_t rows = 1);

/// interpret() with inputs in graph.inputs order and initial values for params and states; returns
/// the results in graph.outputs order, and drops updates.
Result<std::vector<HostTensor>> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                         int64_t rows = 1);

}  // namespace hearth
