// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Builds an ONNX model with protobuf: nodes, constants, and extents that depend on the batch size.

#include "import/onnx/onnx_writer.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/op/onnx_call.hpp>

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace hearth {

namespace {

constexpr int kOldestOpset = 18;  // reductions take their axes as an input since 18

void set_tensor(const HostTensor& data, onnx::TensorProto& proto) {
    proto.set_data_type(onnx_type_of(data.dtype()));
    for (Dim d : data.shape().dims()) proto.add_dims(d.count);
    proto.set_raw_data(data.bytes().data(), data.bytes().size());
}

void set_port(const std::string& name, DType dtype, const Shape& shape,
              onnx::ValueInfoProto& port) {
    port.set_name(name);
    onnx::TypeProto::Tensor& type = *port.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx_type_of(dtype));
    type.mutable_shape();
    for (Dim d : shape.dims()) {
        if (d.is_batch)
            type.mutable_shape()->add_dim()->set_dim_param(to_string(d));
        else
            type.mutable_shape()->add_dim()->set_dim_value(d.count);
    }
}

void set_attribute(const Attr& from, onnx::AttributeProto& to) {
    to.set_name(from.name);
    if (const auto* n = std::get_if<int64_t>(&from.value)) {
        to.set_type(onnx::AttributeProto::INT);
        to.set_i(*n);
    } else if (const auto* x = std::get_if<double>(&from.value)) {
        to.set_type(onnx::AttributeProto::FLOAT);
        to.set_f(static_cast<float>(*x));
    } else if (const auto* text = std::get_if<std::string>(&from.value)) {
        to.set_type(onnx::AttributeProto::STRING);
        to.set_s(*text);
    } else if (const auto* ints = std::get_if<std::vector<int64_t>>(&from.value)) {
        to.set_type(onnx::AttributeProto::INTS);
        for (int64_t each : *ints) to.add_ints(each);
    } else if (const auto* reals = std::get_if<std::vector<double>>(&from.value)) {
        to.set_type(onnx::AttributeProto::FLOATS);
        for (double each : *reals) to.add_floats(static_cast<float>(each));
    } else if (const auto* dtype = std::get_if<DType>(&from.value)) {
        to.set_type(onnx::AttributeProto::INT);
        to.set_i(onnx_type_of(*dtype));
    } else {
        HEARTH_ASSERT(false);  // rules write shapes as lists of integers
    }
}

/// The oldest IR version that supports an opset, from the version table of onnx/helper.py.
int ir_version_of(int opset) {
    return opset <= 18 ? 8 : opset <= 20 ? 9 : opset <= 22 ? 10 : opset <= 23 ? 11 : 12;
}

}  // namespace

struct OnnxWriter::Impl {
    onnx::ModelProto model;
    int opset = kOldestOpset;
    std::unordered_set<std::string> names;
    uint32_t next = 0;
    std::unordered_map<uint64_t, std::string> constants;  ///< by type, shape and contents
    std::string rows_input;  ///< an input with extent rows_count * batch size at rows_axis
    int rows_axis = 0;
    int64_t rows_count = 1;
    std::string rows;
    bool lacks_rows = false;
    onnx::GraphProto& graph() { return *model.mutable_graph(); }
};

OnnxWriter::OnnxWriter(const std::string& name) : impl_(std::make_unique<Impl>()) {
    impl_->model.set_producer_name("hearth");
    impl_->graph().set_name(name.empty() ? "graph" : name);
}

OnnxWriter::~OnnxWriter() = default;

void OnnxWriter::input(const std::string& name, DType dtype, const Shape& shape) {
    set_port(name, dtype, shape, *impl_->graph().add_input());
    for (int i = 0; i < shape.rank() && impl_->rows_input.empty(); ++i) {
        if (!shape[i].is_batch || shape[i].count == 0) continue;
        impl_->rows_input = name;
        impl_->rows_axis = i;
        impl_->rows_count = shape[i].count;
    }
}

void OnnxWriter::output(const std::string& name, DType dtype, const Shape& shape) {
    set_port(name, dtype, shape, *impl_->graph().add_output());
}

void OnnxWriter::initializer(const std::string& name, const HostTensor& data) {
    onnx::TensorProto& proto = *impl_->graph().add_initializer();
    proto.set_name(name);
    set_tensor(data, proto);
}

bool OnnxWriter::reserve(const std::string& name) {
    return impl_->names.insert(name).second;
}

std::string OnnxWriter::fresh_name() {
    std::string name;
    do name = "v" + std::to_string(impl_->next++);
    while (!reserve(name));
    return name;
}

void OnnxWriter::node(std::string_view op_type, const Names& inputs, const Names& outputs,
                      const Attrs& attrs, int since) {
    impl_->opset = std::max(impl_->opset, since);
    onnx::NodeProto& proto = *impl_->graph().add_node();
    proto.set_op_type(std::string(op_type));
    proto.set_name(std::string(op_type) + "_" + outputs[0]);
    for (const std::string& name : inputs) proto.add_input(name);
    for (const std::string& name : outputs) proto.add_output(name);
    for (const Attr& attr : attrs.all()) set_attribute(attr, *proto.add_attribute());
}

std::string OnnxWriter::constant(const HostTensor& data) {
    Hash hash;
    hash.number(static_cast<int>(data.dtype())).text(to_string(data.shape())).bytes(data.bytes());
    std::string& name = impl_->constants[hash.value()];
    if (!name.empty()) return name;
    name = fresh_name();
    // Written as a Constant node, because training tools treat initializers as weights.
    onnx::NodeProto& proto = *impl_->graph().add_node();
    proto.set_op_type("Constant");
    proto.set_name("Constant_" + name);
    proto.add_output(name);
    onnx::AttributeProto& attribute = *proto.add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    set_tensor(data, *attribute.mutable_t());
    return name;
}

std::string OnnxWriter::rows() {
    if (!impl_->rows.empty()) return impl_->rows;
    const int64_t axis = impl_->rows_axis;
    std::string rows = value("Shape", {impl_->rows_input}, {{"start", axis}, {"end", axis + 1}});
    if (impl_->rows_count != 1) rows = value("Div", {rows, list({impl_->rows_count})});
    return impl_->rows = rows;
}

std::string OnnxWriter::extents(std::span<const Dim> dims) {
    List fixed;
    Names parts;
    const auto close = [&] {
        if (!fixed.empty()) parts.push_back(list(fixed));
        fixed.clear();
    };
    for (Dim d : dims) {
        if (d.is_batch && impl_->rows_input.empty()) impl_->lacks_rows = true;
        if (!d.is_batch || impl_->rows_input.empty()) {
            fixed.push_back(d.count);
            continue;
        }
        close();
        parts.push_back(d.count == 1 ? rows() : value("Mul", {rows(), list({d.count})}));
    }
    close();
    if (parts.empty()) return list({});
    return parts.size() == 1 ? parts[0] : value("Concat", parts, {{"axis", int64_t{0}}});
}

bool OnnxWriter::lacks_rows() const {
    return impl_->lacks_rows;
}

std::vector<std::byte> OnnxWriter::finish() {
    impl_->model.set_ir_version(ir_version_of(impl_->opset));
    impl_->model.add_opset_import()->set_version(impl_->opset);
    std::vector<std::byte> bytes(impl_->model.ByteSizeLong());
    if (!impl_->model.SerializeToArray(bytes.data(), static_cast<int>(bytes.size()))) bytes.clear();
    return bytes;
}

}  // namespace hearth
