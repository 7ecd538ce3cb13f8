// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Export rules of operators to ONNX: OpDef::onnx_export.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/op/op_def.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// Nodes of an ONNX model that is written.  Values are referred to by name.
class OnnxNodes {
  public:
    using Names = std::vector<std::string>;

    virtual ~OnnxNodes() = default;

    /// Returns an unused name.
    virtual std::string fresh_name() = 0;
    /// Appends a node.  since: the opset that introduced the features it uses.
    virtual void node(std::string_view op_type, const Names& inputs, const Names& outputs,
                      const Attrs& attrs = {}, int since = 0) = 0;
    /// Returns the name of a constant with these contents.
    virtual std::string constant(const HostTensor& data) = 0;
    /// Extents as an integer list; symbolic ones are computed from an input's shape.
    virtual std::string extents(std::span<const Dim> dims) = 0;

    /// Appends a node with one output; returns the output's fresh name.
    std::string value(std::string_view op_type, const Names& inputs, const Attrs& attrs = {},
                      int since = 0) {
        std::string name = fresh_name();
        node(op_type, inputs, {name}, attrs, since);
        return name;
    }
    std::string scalar(double value, DType dtype) {
        return constant(HostTensor::scalar(value, dtype));
    }
    /// An i64 list [values.size()].
    std::string list(const std::vector<int64_t>& values) {
        HostTensor data(DType::kI64, Shape{static_cast<int64_t>(values.size())});
        for (size_t i = 0; i < values.size(); ++i) data.set_int(static_cast<int64_t>(i), values[i]);
        return constant(data);
    }
};

/// Context of an export rule: the node to be written.
struct OnnxExportCall {
    OnnxNodes& to;
    const OpDef& op;
    const Attrs& attributes;
    std::vector<TensorType> input_types = {}, output_types = {};
    OnnxNodes::Names inputs = {};
    OnnxNodes::Names outputs = {};  ///< names for the written node's outputs

    const Attrs& attrs() const { return attributes; }
    const std::string& in(size_t k) const { return inputs[k]; }
    const Shape& shape(size_t k) const { return input_types[k].shape; }
    DType dtype(size_t k) const { return input_types[k].dtype; }
    const Shape& out_shape() const { return output_types[0].shape; }
    DType out_dtype() const { return output_types[0].dtype; }
    void write(std::string_view op_type, const OnnxNodes::Names& from, const Attrs& with = {},
               int since = 0) const {
        to.node(op_type, from, outputs, with, since);
    }
};

}  // namespace hearth
