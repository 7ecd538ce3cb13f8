// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads ONNX files with libprotobuf and ONNX's schema (onnx.proto of ONNX 1.12; later versions only
// add element types, which are numbers here).  Nothing is allocated on the word of the file: a
// tensor's extents are compared with the payload that is really there first.

#include "io/onnx_model.hpp"
#include "ir/onnx_call.hpp"

#include <onnx/onnx_pb.h>

#include <climits>
#include <cstring>
#include <unordered_set>

namespace hearth {

namespace {

/// How many elements the typed fields of a tensor hold, by the field ONNX prescribes for its type.
int64_t typed_count(const onnx::TensorProto& proto, DType dtype) {
    switch (dtype) {
        case DType::kF32:
            return proto.float_data_size();
        case DType::kF64:
            return proto.double_data_size();
        case DType::kI64:
            return proto.int64_data_size();
        case DType::kU32:
        case DType::kU64:
            return proto.uint64_data_size();
        default:
            return proto.int32_data_size();
    }
}

void copy_typed(const onnx::TensorProto& proto, HostTensor& to) {
    for (int64_t i = 0; i < to.element_count(); ++i) {
        const int at = static_cast<int>(i);
        switch (to.dtype()) {
            case DType::kF32:
                to.as<float>()[static_cast<size_t>(i)] = proto.float_data(at);
                break;
            case DType::kF64:
                to.as<double>()[static_cast<size_t>(i)] = proto.double_data(at);
                break;
            case DType::kI64:
                to.set_int(i, proto.int64_data(at));
                break;
            case DType::kU32:
            case DType::kU64:
                to.set_int(i, static_cast<int64_t>(proto.uint64_data(at)));
                break;
            // 16-bit floats are held as their bits.
            case DType::kF16:
            case DType::kBF16:
                to.as<uint16_t>()[static_cast<size_t>(i)] =
                    static_cast<uint16_t>(proto.int32_data(at));
                break;
            default:
                to.set_int(i, proto.int32_data(at));
                break;
        }
    }
}

Result<HostTensor> read_tensor(const onnx::TensorProto& proto) {
    const std::optional<DType> dtype = dtype_from_onnx(proto.data_type());
    if (!dtype) return unsupported("element type " + onnx_type_name(proto.data_type()));
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
        std::string file = "another file";
        for (const onnx::StringStringEntryProto& entry : proto.external_data())
            if (entry.key() == "location") file = "the file " + quoted(entry.value());
        return unsupported("its data is in " + file + "; only models in one file can be read");
    }
    if (proto.has_segment()) return unsupported("its data is split into segments");
    HEARTH_ASSIGN(
        const Shape shape,
        checked_shape(std::span(proto.dims().data(), static_cast<size_t>(proto.dims_size()))));

    const int64_t count = shape.element_count(1);
    if (proto.has_raw_data() && (count == 0 || !proto.raw_data().empty())) {
        const auto found = static_cast<uint64_t>(proto.raw_data().size());
        const uint64_t expected = static_cast<uint64_t>(count) * size_bytes(*dtype);
        if (found != expected)
            return corrupt_data(std::string(name_of(*dtype)) + to_string(shape) + " takes " +
                                std::to_string(expected) + " bytes, the file has " +
                                std::to_string(found));
        HostTensor tensor(*dtype, shape);
        if (expected > 0) std::memcpy(tensor.bytes().data(), proto.raw_data().data(), expected);
        if (*dtype == DType::kBool)
            for (int64_t i = 0; i < count; ++i) tensor.set_int(i, tensor.get_int(i));
        return tensor;
    }
    if (const int64_t found = typed_count(proto, *dtype); found != count)
        return corrupt_data(std::string(name_of(*dtype)) + to_string(shape) + " has " +
                            std::to_string(count) + " elements, the file has " +
                            std::to_string(found));
    HostTensor tensor(*dtype, shape);
    copy_typed(proto, tensor);
    return tensor;
}

class ModelReader {
  public:
    Result<OnnxModel> read(const onnx::ModelProto& proto) {
        if (!proto.has_graph()) return corrupt_data("the file holds no graph");
        HEARTH_TRY(read_opset(proto));
        const onnx::GraphProto& graph = proto.graph();
        model_.name = graph.name();
        HEARTH_TRY(read_initializers(graph));
        for (const onnx::ValueInfoProto& info : graph.input())
            if (!model_.initializers.contains(info.name()) &&
                !odd_initializers_.contains(info.name()))
                HEARTH_TRY(read_port(info, "input", model_.inputs));
        for (const onnx::ValueInfoProto& info : graph.output())
            HEARTH_TRY(read_port(info, "output", model_.outputs));
        if (model_.outputs.empty()) return corrupt_data("the graph has no outputs");
        for (const onnx::NodeProto& node : graph.node()) HEARTH_TRY(read_node(node));
        return std::move(model_);
    }

  private:
    Status read_opset(const onnx::ModelProto& proto) {
        for (const onnx::OperatorSetIdProto& set : proto.opset_import()) {
            if (!set.domain().empty() && set.domain() != "ai.onnx") continue;
            if (set.version() < 1 || set.version() > INT_MAX)
                return corrupt_data("the operator set has version " +
                                    std::to_string(set.version()));
            model_.opset = static_cast<int>(set.version());
        }
        // A model without the field is of the time before there were versions.
        if (model_.opset == 0) model_.opset = 1;
        return {};
    }

    Status read_initializers(const onnx::GraphProto& graph) {
        for (const onnx::TensorProto& proto : graph.initializer()) {
            Result<HostTensor> tensor = read_tensor(proto);
            const std::string what = "initializer " + quoted(proto.name());
            if (!tensor.ok() && tensor.status().code() == StatusCode::kUnsupported) {
                model_.unsupported.push_back(what + ": " + tensor.status().message());
                odd_initializers_.insert(proto.name());
            } else if (!tensor.ok()) {
                return tensor.status().in(what);
            } else if (!model_.initializers.emplace(proto.name(), std::move(*tensor)).second) {
                return corrupt_data(what + " is there twice");
            }
        }
        for (const onnx::SparseTensorProto& proto : graph.sparse_initializer()) {
            model_.unsupported.push_back("initializer " + quoted(proto.values().name()) +
                                         " is sparse");
            odd_initializers_.insert(proto.values().name());
        }
        return {};
    }

    Status read_port(const onnx::ValueInfoProto& info, std::string_view kind,
                     std::vector<OnnxPort>& ports) {
        const std::string what = std::string(kind) + " " + quoted(info.name());
        if (info.name().empty()) return corrupt_data("an " + std::string(kind) + " has no name");
        OnnxPort port;
        port.name = info.name();
        if (!info.type().has_tensor_type()) {
            // An output's type may be left out: it follows from the graph.
            if (info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET || kind == "input")
                model_.unsupported.push_back(what + " is no tensor");
            ports.push_back(std::move(port));
            return {};
        }
        const onnx::TypeProto::Tensor& type = info.type().tensor_type();
        if (const std::optional<DType> dtype = dtype_from_onnx(type.elem_type()))
            port.dtype = *dtype;
        else if (type.elem_type() != 0 || kind == "input")
            model_.unsupported.push_back(what + " has element type " +
                                         onnx_type_name(type.elem_type()));
        port.has_shape = type.has_shape();
        for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
            OnnxDim& d = port.dims.emplace_back();
            if (dim.has_dim_value() && dim.dim_value() >= 0)
                d.count = dim.dim_value();
            else
                d.name = dim.dim_param();
        }
        if (port.dims.size() > static_cast<size_t>(kMaxRank)) {
            model_.unsupported.push_back(what + " has rank " + std::to_string(port.dims.size()));
            port.dims.clear();
        }
        ports.push_back(std::move(port));
        return {};
    }

    Status read_node(const onnx::NodeProto& proto) {
        OnnxNode node;
        node.name = proto.name();
        node.op_type = proto.op_type();
        if (proto.domain() != "ai.onnx") node.domain = proto.domain();
        node.inputs.assign(proto.input().begin(), proto.input().end());
        node.outputs.assign(proto.output().begin(), proto.output().end());
        if (node.op_type.empty()) return corrupt_data("a node has no operator");
        for (const onnx::AttributeProto& attr : proto.attribute())
            if (Status s = read_attribute(attr, node); !s.ok())
                return s.in(node.label() + ": attribute " + quoted(attr.name()));
        model_.nodes.push_back(std::move(node));
        return {};
    }

    Status read_attribute(const onnx::AttributeProto& attr, OnnxNode& node) {
        if (attr.name().empty()) return corrupt_data("has no name");
        switch (attr.type()) {
            case onnx::AttributeProto::INT:
                node.attrs.set(attr.name(), attr.i());
                return {};
            case onnx::AttributeProto::FLOAT:
                node.attrs.set(attr.name(), static_cast<double>(attr.f()));
                return {};
            case onnx::AttributeProto::STRING:
                node.attrs.set(attr.name(), attr.s());
                return {};
            case onnx::AttributeProto::INTS:
                node.attrs.set(attr.name(),
                               std::vector<int64_t>(attr.ints().begin(), attr.ints().end()));
                return {};
            case onnx::AttributeProto::FLOATS:
                node.attrs.set(attr.name(),
                               std::vector<double>(attr.floats().begin(), attr.floats().end()));
                return {};
            case onnx::AttributeProto::TENSOR: {
                Result<HostTensor> tensor = read_tensor(attr.t());
                if (!tensor.ok() && tensor.status().code() == StatusCode::kUnsupported) {
                    model_.unsupported.push_back(node.label() + ": attribute " +
                                                 quoted(attr.name()) + ": " +
                                                 tensor.status().message());
                    return {};
                }
                if (!tensor.ok()) return tensor.status();
                node.tensors.push_back({attr.name(), std::move(*tensor)});
                return {};
            }
            default:
                node.odd_attrs.push_back(attr.name());
                return {};
        }
    }

    OnnxModel model_;
    std::unordered_set<std::string> odd_initializers_;
};

/// Parses `bytes`; protobuf bounds the depth of nesting (100) and all lengths by what is there.
template <class Proto>
Status parse(std::span<const std::byte> bytes, std::string_view what, Proto& proto) {
    if (bytes.size() > INT_MAX)
        return out_of_range(std::string(what) + " of " + std::to_string(bytes.size()) +
                            " bytes: protobuf messages end at 2 GiB");
    if (bytes.empty() || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return corrupt_data("the " + std::to_string(bytes.size()) + " bytes are no serialized " +
                            std::string(what) + " (truncated or damaged?)");
    return {};
}

}  // namespace

std::string OnnxNode::label() const {
    std::string text = domain.empty() ? op_type : domain + "." + op_type;
    if (!name.empty()) return text + " " + quoted(name);
    return outputs.empty() ? text : text + " giving " + quoted(outputs[0]);
}

Result<OnnxModel> read_onnx_model(std::span<const std::byte> bytes) {
    onnx::ModelProto proto;
    HEARTH_TRY(parse(bytes, "ONNX model", proto));
    return ModelReader().read(proto);
}

Result<NamedTensor> read_onnx_tensor(std::span<const std::byte> bytes) {
    onnx::TensorProto proto;
    HEARTH_TRY(parse(bytes, "ONNX tensor", proto));
    Result<HostTensor> tensor = read_tensor(proto);
    if (!tensor.ok()) return tensor.status().in("tensor " + quoted(proto.name()));
    return NamedTensor{proto.name(), std::move(*tensor)};
}

}  // namespace hearth
