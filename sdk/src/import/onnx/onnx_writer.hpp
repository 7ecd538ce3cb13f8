// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builder of an ONNX model.  Values are referred to by name; protobuf is hidden.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/types.hpp>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth {

class OnnxWriter {
  public:
    using Names = std::vector<std::string>;
    using List = std::vector<int64_t>;

    explicit OnnxWriter(const std::string& name);
    ~OnnxWriter();

    void input(const std::string& name, DType dtype, const Shape& shape);
    void output(const std::string& name, DType dtype, const Shape& shape);
    void initializer(const std::string& name, const HostTensor& data);

    /// Returns an unused name.
    std::string fresh_name();
    /// Reserves a name; returns false if it is in use.
    bool reserve(const std::string& name);

    /// Appends a node.  since: the opset that introduced the features it uses.
    void node(std::string_view op_type, const Names& inputs, const Names& outputs,
              const Attrs& attrs = {}, int since = 0);
    /// Appends a node with one output; returns the output's fresh name.
    std::string value(std::string_view op_type, const Names& inputs, const Attrs& attrs = {},
                      int since = 0);

    std::string constant(const HostTensor& data);
    std::string scalar(double value, DType dtype) {
        return constant(HostTensor::scalar(value, dtype));
    }
    std::string list(const List& values);
    /// Extents as an integer list; symbolic ones are computed from an input's shape.
    std::string extents(std::span<const Dim> dims);
    /// True if the batch size was needed and no input has it in its shape.
    bool lacks_rows() const;

    std::vector<std::byte> finish();

  private:
    std::string rows();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace hearth
