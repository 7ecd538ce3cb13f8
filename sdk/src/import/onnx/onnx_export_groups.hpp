// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Several nodes that ONNX has one operator for: a product or convolution with a bias, normalizations
// with scale and bias, means.

#pragma once

#include "import/onnx/onnx_export_rules.hpp"

#include <functional>
#include <unordered_map>

namespace hearth {

struct OnnxGroup {
    NodeId core = kNone;           ///< the node whose attributes count
    std::vector<ValueId> inputs;   ///< that the operator is given; kNone: left out
    size_t first_flat = SIZE_MAX;  ///< of inputs: constants from here on are written as [channels]
    std::vector<NodeId> absorbed;  ///< not written: only the group reads them
    /// Writes the operator for `core` with those inputs, "" for what is left out, and with the
    /// outputs of the group's last node; or says false.
    std::function<bool(OnnxExportCall&)> write;
};

/// Groups by their last node, each node in one of them at most.
std::unordered_map<NodeId, OnnxGroup> find_onnx_groups(const Graph& graph);

/// Whether `normalize` of x with these attributes is a LayerNormalization, scaled or not.
bool is_layer_normalization(const Attrs& attrs, DType dtype, const Shape& x);

}  // namespace hearth
