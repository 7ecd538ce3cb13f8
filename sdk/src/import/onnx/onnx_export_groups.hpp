// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Groups of nodes that ONNX has one operator for: a matrix product or convolution with bias,
// normalizations with scale and bias, means.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/op/onnx_export.hpp>

#include <functional>
#include <unordered_map>

namespace hearth {

struct OnnxGroup {
    NodeId core = kInvalidId;      ///< the node whose attributes the operator takes
    std::vector<ValueId> inputs;   ///< of the ONNX operator; kNone: absent
    size_t first_flat = SIZE_MAX;  ///< constant inputs from here on are written as [channels]
    std::vector<NodeId> absorbed;  ///< not written: only the group reads them
    /// Writes the operator for `core` with these inputs ("" if absent) and the outputs of the
    /// group's last node; returns false if ONNX cannot express it.
    std::function<bool(OnnxExportCall&)> write;
};

/// The operator's rule, or null: it is exported as its decomposition.
OnnxExportRule export_rule(const OpDef& op);

/// Finds groups, keyed by their last node; a node belongs to at most one group.
std::unordered_map<NodeId, OnnxGroup> find_onnx_groups(const Graph& graph);

/// True if `normalize` of x with these attributes is a LayerNormalization, with or without scale.
bool is_layer_normalization(const Attrs& attrs, DType dtype, const Shape& x);

}  // namespace hearth
