// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An ONNX file as plain data.  Everything protobuf is behind read_onnx_model, and everything that
// an untrusted file may claim about sizes has been checked when it returns.

#pragma once

#include "core/budget.hpp"
#include "core/bytes.hpp"

#include <hearth/host_tensor.hpp>
#include <hearth/io.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/types.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
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

struct OnnxGraph;

/// An attribute that is a graph: a branch of an If, the body of a Loop.
struct OnnxSubgraph {
    std::string name;
    std::shared_ptr<const OnnxGraph> graph;
};

struct OnnxNode {
    /// "name = of": in the body of a function, an attribute given by the call.
    struct Reference {
        std::string name;
        std::string of;
    };

    std::string name;
    std::string op_type;
    std::string domain;  ///< empty for ONNX's own operators
    std::string overload;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
    Attrs attrs;
    std::vector<NamedTensor> tensors;  ///< attributes that are tensors
    std::vector<OnnxSubgraph> graphs;
    std::vector<Reference> references;
    std::vector<std::string> odd_attrs;  ///< names of attributes of other kinds
    bool is_resolved = false;            ///< made by resolved() for one call

    /// "Gemm 'fc1'", or by its first output where it has no name.
    std::string label() const;
    /// The name under which import rules are kept: "Gemm", or "com.microsoft.QGemm".
    std::string rule_name() const;
    /// The name under which a model keeps functions.
    std::string function_key() const;
    const OnnxGraph* graph(std::string_view attribute) const;
    /// A node of a function's body, with the attributes that `call` gives, or else `defaults`.
    /// Copying them is taken from `budget`.
    Result<OnnxNode> resolved(const OnnxNode& call, const OnnxNode& defaults, Budget& budget) const;
};

struct OnnxGraph {
    std::string name;
    std::vector<OnnxPort> inputs;  ///< those that are no initializers
    std::vector<OnnxPort> outputs;
    std::vector<OnnxNode> nodes;
    std::unordered_map<std::string, HostTensor> initializers;
};

/// An operator that the model itself defines.
struct OnnxFunction {
    int opset = 0;
    OnnxGraph body;     ///< ports have names alone
    OnnxNode defaults;  ///< attributes that a call may leave out
};

struct OnnxModel {
    OnnxGraph graph;
    int opset = 0;
    std::unordered_map<std::string, OnnxFunction> functions;  ///< by OnnxNode::function_key()
    /// What the model uses and Hearth does not have, besides operators: element types, kinds of
    /// values.
    std::vector<std::string> unsupported;
    size_t unsupported_more = 0;  ///< how many there are besides
};

/// Reads a serialized ModelProto.  external_data: see ImportOptions; may be empty.  budget: grows by
/// what is read of other files.
/// Errors: kCorruptData if the bytes are no ONNX model or contradict themselves; kUnsupported for a
/// newer format; kOutOfRange where the budget ends; what external_data says.
Result<OnnxModel> read_onnx_model(std::span<const std::byte> bytes,
                                  const ExternalData& external_data, Budget& budget);

}  // namespace hearth
