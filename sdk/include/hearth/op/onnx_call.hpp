// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// View of one ONNX node for an operator's import function: plain data, no protobuf.
//
//     std::vector<Tensor> import_flatten(OnnxCall& c) {
//         return {flatten(c.in(0), c.integer("axis", 1))};
//     }

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/core/extents.hpp>
#include <hearth/host_tensor.hpp>
#include <hearth/op/attrs.hpp>
#include <hearth/tensor.hpp>
#include <hearth/types.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hearth {

/// One operand of an ONNX node.
struct OnnxInput {
    Tensor tensor = {};                 ///< not ok() when absent or known only as extents
    const HostTensor* value = nullptr;  ///< contents, where they are known at import
    /// A list of extents that depends on the batch size: exists only at import, to be used as a
    /// shape.
    const std::vector<Dim>* extents = nullptr;
};

/// An axis of a node's output whose extent depends on data.
struct OnnxPadding {
    size_t output = 0;
    int axis = 0;
    Tensor count = {};  ///< i64 []: number of elements in use; the importer cuts it at the extent
};

/// One ONNX node, as passed to its import function.  Accessors that find another kind of value fail
/// the trace with a message that names the input or attribute, and return a default; the importer
/// adds the node's name.
struct OnnxCall {
    Trace& trace;
    std::string_view op_type = {};
    int opset = 0;
    const Attrs& attrs;  ///< integers, floats, strings and lists of integers and floats
    std::span<const OnnxInput> inputs = {};
    size_t output_count = 1;
    std::string_view label = {};        ///< name of the node or of its first output
    std::optional<int64_t> bound = {};  ///< from ImportOptions::bounds, at least 1
    std::string_view bound_flag_name = "bounds";
    std::string_view value_flag_name = "constant_inputs";
    std::vector<OnnxPadding> paddings = {};  ///< filled by the import function
    /// The input whose contents an accessor required in vain.
    std::optional<size_t> unknown_input = {};

    size_t input_count() const { return inputs.size(); }
    bool has(size_t k) const {
        return k < inputs.size() &&
               (inputs[k].tensor.trace() != nullptr || inputs[k].extents != nullptr);
    }
    /// Input k as a tensor; it must be present.
    Tensor in(size_t k);
    /// All inputs; none may be absent.
    std::vector<Tensor> all();

    int64_t integer(std::string_view name, int64_t fallback);
    bool flag(std::string_view name, bool fallback) { return integer(name, fallback) != 0; }
    /// The attribute `name` as an axis counted from the front; nullopt after failing the trace.
    std::optional<int> axis(std::string_view name, int64_t fallback, int rank);
    double real(std::string_view name, double fallback);
    std::string text(std::string_view name, std::string_view fallback);
    /// A list of strings, which the attributes store as one string, a line for each.
    std::vector<std::string> texts(std::string_view name);
    /// Clamps values to +-kMaxExtent: no extent is larger, so "to the end" keeps its meaning and
    /// sums of a few values cannot overflow.  integers_in and list do the same.
    std::vector<int64_t> integers(std::string_view name, std::vector<int64_t> fallback = {});
    std::vector<double> reals(std::string_view name, std::vector<double> fallback = {});

    /// The contents of input k, which must be known at import.
    const HostTensor* value(size_t k);
    std::vector<int64_t> integers_in(size_t k);
    std::vector<double> reals_in(size_t k);
    double real_in(size_t k, double fallback);  ///< one element; the fallback if absent
    /// real_in() truncated to an integer, clamped to +-kMaxExtent as in integers(); NaN: zero.
    int64_t integer_in(size_t k, int64_t fallback);
    /// A shape given as data: constants, or extents that depend on the batch size.
    std::vector<Dim> extents_in(size_t k);
    /// Extent of an output whose size depends on data: the bound, or else `largest`, the largest
    /// possible one, if that is small.  Fails the trace and returns nothing if it needs a bound.
    std::optional<int64_t> bounded_extent(Dim largest);
    /// Only the first `count` (i64 []) elements of the output's axis are in use.
    void pad_output(size_t output, int axis, const Tensor& count) {
        paddings.push_back({output, axis, count});
    }
    /// `dims` as a shape, if no extent is negative or too large and the rank is within kMaxRank.
    std::optional<Shape> shape(std::span<const Dim> dims);
    /// A list that is an attribute in older opsets and an input in newer ones; nullopt if neither.
    std::optional<std::vector<int64_t>> list(std::string_view name, size_t k);

    bool has_failed() const { return !trace.status().ok(); }
    /// Fails the trace: the model may be valid, but this is not supported.
    std::vector<Tensor> unsupported(std::string_view what);
    /// Fails the trace: the model breaks a rule of ONNX.
    std::vector<Tensor> invalid(std::string_view what);
};

/// The element type with this number in ONNX's TensorProto.DataType; nullopt for types (strings,
/// complex numbers, floats of 8 bits and less, ...) that Hearth does not have.
std::optional<DType> dtype_from_onnx(int64_t number);

/// The TensorProto.DataType number of an element type.
int32_t onnx_type_of(DType dtype);

/// The name of an element type, for messages; known also for types that Hearth does not have.
std::string onnx_type_name(int64_t number);

}  // namespace hearth
