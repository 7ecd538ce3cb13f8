// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/ir/graph.hpp"
#include "import/onnx/onnx_writer.hpp"

#include <hearth/op/op_def.hpp>

namespace hearth {

/// Context of an export rule: the node to be written.
struct OnnxExportCall {
    OnnxWriter& to;
    const Graph& graph;
    const Node& node;
    OnnxWriter::Names inputs;
    OnnxWriter::Names outputs;  ///< names for the written node's outputs

    const Attrs& attrs() const { return node.attrs; }
    const std::string& in(size_t k) const { return inputs[k]; }
    const Shape& shape(size_t k) const { return graph.values[node.inputs[k]].shape; }
    DType dtype(size_t k) const { return graph.values[node.inputs[k]].dtype; }
    const Shape& out_shape() const { return graph.values[node.outputs[0]].shape; }
    DType out_dtype() const { return graph.values[node.outputs[0]].dtype; }
    void write(std::string_view op_type, const OnnxWriter::Names& from, const Attrs& with = {},
               int since = 0) const {
        to.node(op_type, from, outputs, with, since);
    }
};

/// Writes a node, or returns false if ONNX cannot express this use of the operator.
using OnnxExportRule = bool (*)(OnnxExportCall&);

/// The rule for an operator, or null.
OnnxExportRule find_export_rule(const OpDef& op);

/// AveragePool for a `window_sum` whose sums are divided by the number of elements in a window, and
/// a check whether ONNX has such windows.
bool write_average_pool(OnnxExportCall& c);
bool is_average_pool(const Attrs& attrs, const Shape& x, const Shape& y);

}  // namespace hearth
