// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An ONNX file as plain data.  Everything protobuf is behind read_onnx_model, and everything that
// an untrusted file may claim about sizes has been checked when it returns.

#pragma once

#include "core/bytes.hpp"
#include "ir/attrs.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/io.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hearth {

struct OnnxDim {
    int64_t count = -1;  ///< negative: not known
    std::string name;    ///< of an unknown extent; equal names are equal extents
};

/// An input or output of the model.
struct OnnxPort {
    std::string name;
    DType dtype = DType::kF32;
    bool has_shape = false;
    std::vector<OnnxDim> dims;
};

struct OnnxNode {
    std::string name;
    std::string op_type;
    std::string domain;  ///< empty for ONNX's own operators
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    Attrs attrs;
    std::vector<NamedTensor> tensors;    ///< attributes that are tensors
    std::vector<std::string> odd_attrs;  ///< "body (a graph)": attributes of other kinds

    /// "Gemm 'fc1'", or by its first output where it has no name.
    std::string label() const;
};

struct OnnxModel {
    std::string name;
    int opset = 0;
    std::vector<OnnxPort> inputs;  ///< those that are no initializers
    std::vector<OnnxPort> outputs;
    std::vector<OnnxNode> nodes;
    std::unordered_map<std::string, HostTensor> initializers;
    /// What the model uses and Hearth does not have, besides operators: element types, kinds of
    /// values.
    std::vector<std::string> unsupported;
};

/// Reads a serialized ModelProto.
/// Errors: kCorruptData if the bytes are no ONNX model or contradict themselves; kUnsupported for
/// data kept in other files.
Result<OnnxModel> read_onnx_model(std::span<const std::byte> bytes);

}  // namespace hearth
