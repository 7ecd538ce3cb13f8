// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// An ONNX file as plain data.  read_onnx_model hides protobuf, and has validated all sizes in the
// untrusted file when it returns.

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
#include <unordered_set>
#include <utility>
#include <vector>

namespace hearth {

struct OnnxDim {
    int64_t count = -1;  ///< negative: unknown
    std::string name;    ///< of a symbolic extent; equal names mean equal extents
};

/// An input or output of the model.
struct OnnxPort {
    std::string name;
    DType dtype = DType::kF32;
    bool has_shape = false;
    std::vector<OnnxDim> dims;
};

struct OnnxGraph;

/// An attribute that is a graph: a branch of an If, or the body of a Loop.
struct OnnxSubgraph {
    std::string name;
    std::shared_ptr<const OnnxGraph> graph;
};

struct OnnxNode {
    /// In a function body: attribute `name` takes the value of the call's attribute `of`.
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
    std::vector<std::string> odd_attrs;  ///< names of attributes of unsupported kinds
    bool is_resolved = false;            ///< created by resolved() for one call

    /// Value of an integer attribute, or `fallback` if it is absent or of another type.
    int64_t integer(std::string_view attribute, int64_t fallback) const;
    /// "Gemm 'fc1'", or with the name of its first output if it has none.
    std::string label() const;
    /// Key of import rules: "Gemm", or "com.microsoft.QGemm".
    std::string rule_name() const;
    /// Key of the model's functions.
    std::string function_key() const;
    const OnnxGraph* graph(std::string_view attribute) const;
    /// A node of a function's body with its attribute references replaced by the attributes of
    /// `call`, or else `defaults`.  Copies are charged to `budget`.
    Result<OnnxNode> resolved(const OnnxNode& call, const OnnxNode& defaults, Budget& budget) const;
};

struct OnnxGraph {
    std::string name;
    std::vector<OnnxPort> inputs;  ///< without initializers
    std::vector<OnnxPort> outputs;
    std::vector<OnnxNode> nodes;
    std::unordered_map<std::string, std::shared_ptr<HostTensor>> initializers;
    std::unordered_set<std::string> int4_initializers;  ///< i8 and u8 that the file has as 4 bits
};

/// An operator that the model itself defines.
struct OnnxFunction {
    int opset = 0;
    OnnxGraph body;     ///< ports have only names
    OnnxNode defaults;  ///< attributes that a call may leave out
};

/// Distinct strings of a model.  Tensors and lists of strings hold positions in it, as i64.
class StringTable {
  public:
    int64_t position_of(const std::string& text) {
        const auto [at, is_new] = positions_.emplace(text, static_cast<int64_t>(strings_.size()));
        if (is_new) strings_.push_back(text);
        return at->second;
    }
    const std::vector<std::string>& strings() const { return strings_; }

  private:
    std::vector<std::string> strings_;
    std::unordered_map<std::string, int64_t> positions_;
};

struct OnnxModel {
    OnnxGraph graph;
    StringTable strings;
    int opset = 0;
    std::unordered_map<std::string, OnnxFunction> functions;  ///< keyed by OnnxNode::function_key()
    /// Unsupported features of the model other than operators: element types, kinds of values.
    std::vector<std::string> unsupported;
    size_t unsupported_more = 0;  ///< number of further ones
};

/// Reads a serialized ModelProto.  external_data: see ImportOptions; may be empty.  budget: grows
/// by the bytes read from other files.
/// Errors: kCorruptData if the bytes are not a consistent ONNX model; kUnsupported for a newer
/// format; kOutOfRange if the budget is exhausted; errors of external_data.
Result<OnnxModel> read_onnx_model(std::span<const std::byte> bytes,
                                  const ExternalData& external_data, Budget& budget);

}  // namespace hearth
