// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hearth's operators, implemented with LibTorch's.
//
// Values are carried in few types: f16, bf16 and f32 as Float, f64 as Double, bool as Bool, and
// every integer as Long. Results are then rounded, or wrapped around, to their element type
// (as_held()).

#pragma once

#include <hearth/graph.hpp>
#include <hearth/op/op_def.hpp>

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace hearth::libtorch {

using List = std::vector<int64_t>;

/// The extents at this batch size.
List extents_of(const Shape& shape, int64_t batch_size);
at::ScalarType carrier_of(DType dtype);
/// Rounds or wraps the tensor to its element type, in its carrier.
at::Tensor as_held(const at::Tensor& tensor, DType dtype);

at::Tensor from_host(const HostTensor& tensor);
HostTensor to_host(const at::Tensor& tensor, DType dtype, const Shape& shape);

/// One operator to evaluate.
struct Call {
    const Graph& graph;
    const Node& node;
    int64_t batch_size;
    std::vector<at::Tensor> in;

    const Attrs& attrs() const { return node.attrs; }
    int64_t integer(std::string_view name) const { return node.attrs.integer(name); }
    double real(std::string_view name) const { return node.attrs.real(name); }
    bool flag(std::string_view name) const { return node.attrs.flag(name); }
    const List& integers(std::string_view name) const { return node.attrs.integers(name); }
    List shape(std::string_view name) const {
        return extents_of(node.attrs.shape(name), batch_size);
    }
    DType dtype(size_t input) const { return graph.value(node.inputs[input]).dtype; }
    DType out_dtype() const { return graph.value(node.outputs[0]).dtype; }
    List out_shape() const { return extents_of(graph.value(node.outputs[0]).shape, batch_size); }
    /// Options of a tensor with the output's carrier type.
    at::TensorOptions options() const { return at::TensorOptions(carrier_of(out_dtype())); }
};

/// Computes the single output, in its carrier or a type that as_held() converts.
using Rule = at::Tensor (*)(const Call&);
using Rules = std::map<std::string_view, Rule>;

void add_element_rules(Rules& rules);
void add_reduction_rules(Rules& rules);
void add_shape_rules(Rules& rules);
void add_index_rules(Rules& rules);
void add_order_rules(Rules& rules);
void add_window_rules(Rules& rules);
void add_image_rules(Rules& rules);
void add_random_rules(Rules& rules);

/// The rules of all operators.
const Rules& rules();

}  // namespace hearth::libtorch
