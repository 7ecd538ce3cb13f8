// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matmul prologue: what a matrix product can do before it multiplies.  It can reduce whole rows of a tensor (the mean and
// variance of a layer norm) and make its left operand of them, so that no kernel of its own does.

#pragma once

#include "compiler/ir/graph.hpp"

#include <optional>
#include <vector>

namespace hearth {

struct MatmulPrologue {
    ValueId raw = kNone;        ///< the tensor, in memory: as many elements as the operand
    std::vector<NodeId> nodes;  ///< all between it and the product, ascending
};

/// The prologue of a product.  Its nodes are element-wise on whole rows or on one number of each
/// row, casts, reshapes that keep rows, and at least one reduction along rows; nothing but they and
/// the product reads them, and besides `raw` they read only what is the same for all rows.
std::optional<MatmulPrologue> find_matmul_prologue(const Graph& graph, NodeId product);

}  // namespace hearth
