// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matmul prologue: work that a matrix product does before it multiplies. It reduces whole rows of a
// tensor (the mean and variance of a layer norm) and computes its left operand from them, which
// saves a separate kernel.

#pragma once

#include "compiler/ir/graph.hpp"

#include <optional>
#include <vector>

namespace hearth {

struct MatmulPrologue {
    ValueId raw = kInvalidId;   ///< the source tensor, in memory: as many elements as the operand
    std::vector<NodeId> nodes;  ///< all nodes between it and the product, ascending
};

/// Returns the prologue of a product, if it has one. The nodes are element-wise on whole rows or on
/// one scalar per row, casts, reshapes that keep rows, and at least one reduction along rows. Only
/// they and the product read them, and besides `raw` they read only values that are the same for
/// all rows.
std::optional<MatmulPrologue> find_matmul_prologue(const Graph& graph, NodeId product);

}  // namespace hearth
