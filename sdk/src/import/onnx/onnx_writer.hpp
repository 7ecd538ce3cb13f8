// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builder of an ONNX model.  Values are referred to by name; protobuf is hidden.

#pragma once

#include "compiler/ir/graph.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/op/onnx_export.hpp>
#include <hearth/types.hpp>

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace hearth {

class OnnxWriter final : public OnnxNodes {
  public:
    using List = std::vector<int64_t>;

    explicit OnnxWriter(const std::string& name);
    ~OnnxWriter() override;

    void input(const std::string& name, DType dtype, const Shape& shape);
    void output(const std::string& name, DType dtype, const Shape& shape);
    void initializer(const std::string& name, const HostTensor& data);

    std::string fresh_name() override;
    /// Reserves a name; returns false if it is in use.
    bool reserve(const std::string& name);

    void node(std::string_view op_type, const Names& inputs, const Names& outputs,
              const Attrs& attrs = {}, int since = 0) override;
    std::string constant(const HostTensor& data) override;
    std::string extents(std::span<const Dim> dims) override;
    /// True if the batch size was needed and no input has it in its shape.
    bool lacks_rows() const;

    std::vector<std::byte> finish();

  private:
    std::string rows();

    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace hearth
