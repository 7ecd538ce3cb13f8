// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes ONNX models for tests, through protobuf alone.

#pragma once

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace hearth::testing {

/// A serialized message.
inline std::vector<std::byte> bytes_of(const google::protobuf::MessageLite& message) {
    const std::string text = message.SerializeAsString();
    std::vector<std::byte> bytes(text.size());
    if (!text.empty()) std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

inline onnx::TensorProto float_tensor(const std::string& name, const std::vector<int64_t>& dims,
                                      const std::vector<float>& values) {
    onnx::TensorProto t;
    t.set_name(name);
    t.set_data_type(onnx::TensorProto::FLOAT);
    for (int64_t d : dims) t.add_dims(d);
    t.set_raw_data(values.data(), values.size() * sizeof(float));
    return t;
}

inline onnx::TensorProto int_tensor(const std::string& name, const std::vector<int64_t>& dims,
                                    const std::vector<int64_t>& values) {
    onnx::TensorProto t;
    t.set_name(name);
    t.set_data_type(onnx::TensorProto::INT64);
    for (int64_t d : dims) t.add_dims(d);
    for (int64_t v : values) t.add_int64_data(v);
    return t;
}

/// Sets an attribute of a node.
inline onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name,
                                       onnx::AttributeProto::AttributeType type) {
    onnx::AttributeProto& a = *node.add_attribute();
    a.set_name(name);
    a.set_type(type);
    return a;
}
inline void set_int(onnx::NodeProto& node, const std::string& name, int64_t value) {
    attribute(node, name, onnx::AttributeProto::INT).set_i(value);
}
inline void set_float(onnx::NodeProto& node, const std::string& name, float value) {
    attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
}
inline void set_ints(onnx::NodeProto& node, const std::string& name,
                     const std::vector<int64_t>& values) {
    onnx::AttributeProto& a = attribute(node, name, onnx::AttributeProto::INTS);
    for (int64_t v : values) a.add_ints(v);
}

inline void set_graph(onnx::NodeProto& node, const std::string& name,
                      const onnx::GraphProto& graph) {
    *attribute(node, name, onnx::AttributeProto::GRAPH).mutable_g() = graph;
}

/// An extent of an input: a number, or a name.
struct PortDim {
    PortDim(int64_t n) : count(n) {}
    PortDim(int n) : count(n) {}
    PortDim(const char* unknown) : name(unknown) {}
    int64_t count = -1;
    std::string name;
};

class OnnxBuilder {
  public:
    explicit OnnxBuilder(int64_t opset = 17) {
        proto.set_ir_version(8);
        proto.add_opset_import()->set_version(opset);
        proto.mutable_graph()->set_name("test");
    }

    OnnxBuilder& input(const std::string& name, const std::vector<PortDim>& dims,
                       int32_t type = onnx::TensorProto::FLOAT) {
        port(*graph().add_input(), name, dims, type);
        return *this;
    }
    OnnxBuilder& output(const std::string& name) {
        graph().add_output()->set_name(name);
        return *this;
    }
    OnnxBuilder& initializer(const onnx::TensorProto& tensor) {
        *graph().add_initializer() = tensor;
        return *this;
    }
    /// The new node, for its attributes; valid until the next call.
    onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
        onnx::NodeProto& n = *graph().add_node();
        n.set_op_type(op);
        n.set_name(op + "_" + std::to_string(graph().node_size()));
        for (const std::string& name : inputs) n.add_input(name);
        for (const std::string& name : outputs) n.add_output(name);
        return n;
    }

    onnx::GraphProto& graph() { return *proto.mutable_graph(); }
    std::vector<std::byte> bytes() const { return bytes_of(proto); }

    onnx::ModelProto proto;

  private:
    static void port(onnx::ValueInfoProto& info, const std::string& name,
                     const std::vector<PortDim>& dims, int32_t type) {
        info.set_name(name);
        onnx::TypeProto::Tensor& tensor = *info.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(type);
        tensor.mutable_shape();
        for (const PortDim& d : dims) {
            onnx::TensorShapeProto::Dimension& dim = *tensor.mutable_shape()->add_dim();
            if (d.count >= 0)
                dim.set_dim_value(d.count);
            else
                dim.set_dim_param(d.name);
        }
    }
};

/// A small policy as exporters write it: obs [batch, 6] -> action [batch, 2], with a shape computed
/// from the batch, and a state that is passed through.
inline OnnxBuilder small_policy() {
    OnnxBuilder b;
    b.input("obs", {"batch", 6}).input("state_ins", {"batch"});
    std::vector<float> w1(5 * 6), w2(2 * 5);
    for (size_t i = 0; i < w1.size(); ++i) w1[i] = 0.1f * static_cast<float>(i % 7) - 0.3f;
    for (size_t i = 0; i < w2.size(); ++i) w2[i] = 0.2f * static_cast<float>(i % 3) - 0.1f;
    b.initializer(float_tensor("w1", {5, 6}, w1)).initializer(float_tensor("w2", {2, 5}, w2));
    b.initializer(float_tensor("b1", {5}, {0.1f, -0.1f, 0.2f, 0, 0.3f}));
    b.initializer(int_tensor("zero", {}, {0})).initializer(int_tensor("rest", {1}, {-1}));
    b.initializer(int_tensor("front", {1}, {0}));
    b.node("Shape", {"obs"}, {"shape"});
    set_int(b.node("Gather", {"shape", "zero"}, {"batch"}), "axis", 0);
    b.node("Unsqueeze", {"batch", "front"}, {"batch_list"});
    set_int(b.node("Concat", {"batch_list", "rest"}, {"wanted"}), "axis", 0);
    b.node("Reshape", {"obs", "wanted"}, {"flat"});
    set_int(b.node("Gemm", {"flat", "w1", "b1"}, {"h"}), "transB", 1);
    b.node("Tanh", {"h"}, {"a"});
    set_int(b.node("Gemm", {"a", "w2"}, {"action"}), "transB", 1);
    b.node("Identity", {"state_ins"}, {"state_outs"});
    b.output("action").output("state_outs");
    return b;
}

}  // namespace hearth::testing
