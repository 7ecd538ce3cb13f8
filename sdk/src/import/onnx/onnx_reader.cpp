// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads ONNX files with libprotobuf and ONNX's schema (onnx.proto of ONNX 1.12; later versions only
// add element types, which are numbers here).  No size in the file is trusted: before a tensor is
// allocated, its extents are compared with its payload.

#include "core/out_of_memory.hpp"
#include "core/portable.hpp"
#include "import/onnx/onnx_model.hpp"

#include <hearth/core/extents.hpp>
#include <hearth/op/onnx_call.hpp>

#include <google/protobuf/unknown_field_set.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <map>
#include <unordered_set>

namespace hearth {

namespace {

/// Element count of the typed field that ONNX prescribes for the element type.
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
            // 16-bit floats are stored as their bits.
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

/// True for a relative path inside the model's folder that is valid on every system.
bool is_safe_location(std::string_view location) {
    if (location.empty() || location.front() == '/') return false;
    if (location.find_first_of(std::string_view("\\:\0", 3)) != std::string_view::npos)
        return false;
    for (size_t at = 0; at <= location.size();) {
        const size_t end = std::min(location.find('/', at), location.size());
        if (location.substr(at, end - at) == "..") return false;
        at = end + 1;
    }
    return true;
}

/// The set of byte ranges of a file that have been read.
class ReadRanges {
  public:
    /// Adds [begin, end); returns the number of bytes that were not in the set.
    uint64_t add(uint64_t begin, uint64_t end) {
        uint64_t known = 0, first = begin, last = end;
        auto at = ends_.upper_bound(begin);  // disjoint ranges, ordered by their end
        while (at != ends_.end() && at->second <= end) {
            known += std::min(at->first, end) - std::min(end, std::max(at->second, begin));
            first = std::min(first, at->second);
            last = std::max(last, at->first);
            at = ends_.erase(at);
        }
        ends_[last] = first;
        return end - begin - known;
    }

  private:
    std::map<uint64_t, uint64_t> ends_;  ///< maps the end of a range to its begin
};

/// External data files of a model.
class ExternalFiles {
  public:
    ExternalFiles(const ExternalData& read, Budget* budget) : read_(read), budget_(budget) {}

    /// Reads the bytes of a tensor with `size` bytes.
    Result<std::vector<std::byte>> bytes_of(const onnx::TensorProto& proto, uint64_t size) {
        std::string location;
        uint64_t offset = 0, length = size;
        for (const onnx::StringStringEntryProto& entry : proto.external_data()) {
            if (entry.key() == "location") location = entry.value();
            if (entry.key() == "offset") HEARTH_TRY(read_number(entry, offset));
            if (entry.key() == "length") HEARTH_TRY(read_number(entry, length));
        }
        if (!is_safe_location(location))
            return corrupt_data("its data is in the file " + quoted(location) +
                                ", which is not a path inside the model's folder");
        if (length != size)
            return corrupt_data("it takes " + std::to_string(size) + " bytes, in the file " +
                                quoted(location) + " it has " + std::to_string(length));
        if (!read_)
            return unsupported("its data is in the file " + quoted(location) +
                               ", so ImportOptions::external_data must be given");
        uint64_t end = 0;
        if (add_overflows(offset, size, &end))
            return corrupt_data("its data is at byte " + std::to_string(offset) + " of the file " +
                                quoted(location));
        // Limits repeated reads, so that a small model cannot fill memory with copies of one range.
        File& file = files_[location];
        const uint64_t added = file.ranges.add(offset, end);
        file.left += kMostReads * added;
        if (size > file.left)
            return out_of_range("its tensors take more than " + std::to_string(kMostReads) +
                                " times the bytes that they refer to in the file " +
                                quoted(location));
        file.left -= size;
        Result<std::vector<std::byte>> bytes = read_(location, offset, size);
        if (!bytes.ok()) return bytes.status();
        if (bytes->size() != size)
            return corrupt_data("its data is at the bytes " + std::to_string(offset) + " to " +
                                std::to_string(end) + " of the file " + quoted(location) +
                                ", of which " + std::to_string(bytes->size()) + " are there");
        if (budget_ != nullptr) budget_->add_file_bytes(added);
        return bytes;
    }

  private:
    static constexpr uint64_t kMostReads = 4;
    struct File {
        ReadRanges ranges;
        uint64_t left = 0;  ///< bytes that may still be copied from it
    };

    static Status read_number(const onnx::StringStringEntryProto& entry, uint64_t& to) {
        const std::string& text = entry.value();
        const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), to);
        if (failure == std::errc() && end == text.data() + text.size()) return {};
        return corrupt_data("the " + entry.key() + " of its data is " + quoted(text));
    }

    const ExternalData& read_;
    Budget* budget_;
    std::unordered_map<std::string, File> files_;
};

/// Fills `tensor` from the file's raw bytes; normalizes bools to 0 and 1.
void copy_raw(std::span<const std::byte> from, HostTensor& tensor) {
    std::copy(from.begin(), from.end(), tensor.bytes().begin());
    if (tensor.dtype() == DType::kBool)
        for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.set_int(i, tensor.get_int(i));
}

// TensorProto.DataType of later versions of ONNX than the schema's.
constexpr int32_t kUint4 = 21, kInt4 = 22;

bool is_int4(int32_t type) {
    return type == kUint4 || type == kInt4;
}

/// Unpacks integers of 4 bits, two to a byte and the lower one first, to a byte each.
Result<HostTensor> read_nibbles(const onnx::TensorProto& proto, const Shape& shape,
                                ExternalFiles& files) {
    const bool is_signed = proto.data_type() == kInt4;
    const int64_t count = shape.element_count(1);
    const auto expected = static_cast<uint64_t>((count + 1) / 2);
    std::vector<std::byte> bytes;
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
        HEARTH_ASSIGN(bytes, files.bytes_of(proto, expected));
    } else if (proto.has_raw_data()) {
        const auto raw = std::as_bytes(std::span(proto.raw_data()));
        bytes.assign(raw.begin(), raw.end());
    } else {
        for (int32_t packed : proto.int32_data()) bytes.push_back(static_cast<std::byte>(packed));
    }
    if (bytes.size() != expected)
        return corrupt_data(onnx_type_name(proto.data_type()) + to_string(shape) + " takes " +
                            std::to_string(expected) + " bytes, the file has " +
                            std::to_string(bytes.size()));
    HostTensor tensor(is_signed ? DType::kI8 : DType::kU8, shape);
    for (int64_t i = 0; i < count; ++i) {
        const int shift = i % 2 == 0 ? 0 : 4;
        const int64_t bits =
            (std::to_integer<int64_t>(bytes[static_cast<size_t>(i / 2)]) >> shift) & 15;
        tensor.set_int(i, is_signed && bits > 7 ? bits - 16 : bits);
    }
    return tensor;
}

/// Reads a tensor of strings as positions in `strings`.
Result<HostTensor> read_strings(const onnx::TensorProto& proto, const Shape& shape,
                                StringTable& strings) {
    const int64_t count = shape.element_count(1);
    if (proto.string_data_size() != count)
        return corrupt_data("string" + to_string(shape) + " has " + std::to_string(count) +
                            " elements, the file has " + std::to_string(proto.string_data_size()));
    HostTensor tensor(DType::kI64, shape);
    for (int64_t i = 0; i < count; ++i)
        tensor.set_int(i, strings.position_of(proto.string_data(static_cast<int>(i))));
    return tensor;
}

/// strings: null where strings are not supported.
Result<HostTensor> read_tensor(const onnx::TensorProto& proto, ExternalFiles& files,
                               StringTable* strings) {
    const bool is_text = proto.data_type() == onnx::TensorProto::STRING && strings != nullptr;
    const bool is_packed = is_int4(proto.data_type());
    const std::optional<DType> dtype = dtype_from_onnx(proto.data_type());
    if (!dtype && !is_text && !is_packed)
        return unsupported("element type " + onnx_type_name(proto.data_type()));
    if (proto.has_segment()) return unsupported("its data is split into segments");
    HEARTH_ASSIGN(
        const Shape shape,
        checked_shape(std::span(proto.dims().data(), static_cast<size_t>(proto.dims_size()))));
    if (is_text) return read_strings(proto, shape, *strings);
    const int64_t count = shape.element_count(1);
    if (is_packed) return read_nibbles(proto, shape, files);
    const uint64_t expected = static_cast<uint64_t>(count) * size_bytes(*dtype);
    if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
        HEARTH_ASSIGN(const std::vector<std::byte> bytes, files.bytes_of(proto, expected));
        HostTensor tensor(*dtype, shape);
        copy_raw(bytes, tensor);
        return tensor;
    }
    if (proto.has_raw_data() && (count == 0 || !proto.raw_data().empty())) {
        if (const uint64_t found = proto.raw_data().size(); found != expected)
            return corrupt_data(std::string(name_of(*dtype)) + to_string(shape) + " takes " +
                                std::to_string(expected) + " bytes, the file has " +
                                std::to_string(found));
        HostTensor tensor(*dtype, shape);
        copy_raw(std::as_bytes(std::span(proto.raw_data())), tensor);
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

/// Reads a text field that ONNX 1.12's schema does not have yet from protobuf's unknown fields.
std::string later_text(const google::protobuf::Message& message, int field) {
    const google::protobuf::UnknownFieldSet& unknown =
        message.GetReflection()->GetUnknownFields(message);
    for (int i = 0; i < unknown.field_count(); ++i)
        if (unknown.field(i).number() == field &&
            unknown.field(i).type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
            return unknown.field(i).length_delimited();
    return {};
}

int opset_of(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& sets) {
    int64_t opset = 1;  // models without the field predate opset versions
    for (const onnx::OperatorSetIdProto& set : sets)
        if (set.domain().empty() || set.domain() == "ai.onnx") opset = set.version();
    return static_cast<int>(std::clamp<int64_t>(opset, 0, INT_MAX));
}

std::string own_domain(const std::string& domain) {
    return domain == "ai.onnx" ? std::string() : domain;
}

constexpr std::string_view kMlDomain = "ai.onnx.ml";

class ModelReader {
  public:
    ModelReader(const ExternalData& external_data, Budget& budget)
        : files_(external_data, &budget) {}

    /// Clears the initializers of `proto` as it reads them.
    Result<OnnxModel> read(onnx::ModelProto& proto) {
        constexpr int64_t kOldestIr = 3, kNewestIr = 14;
        if (!proto.has_graph()) return corrupt_data("the file contains no graph");
        if (const int64_t ir = proto.ir_version(); ir < kOldestIr || ir > kNewestIr)
            return unsupported("format (IR) version " + std::to_string(ir) + "; known are " +
                               std::to_string(kOldestIr) + " to " + std::to_string(kNewestIr));
        model_.opset = opset_of(proto.opset_import());
        for (onnx::FunctionProto& function : *proto.mutable_functions())
            HEARTH_TRY(read_function(function));
        HEARTH_TRY(read_graph(*proto.mutable_graph(), model_.graph, false));
        if (model_.graph.outputs.empty()) return corrupt_data("the graph has no outputs");
        return std::move(model_);
    }

  private:
    /// is_inner: the graph is an attribute of a node; its inputs' types follow from the node.
    Status read_graph(onnx::GraphProto& proto, OnnxGraph& graph, bool is_inner) {
        graph.name = proto.name();
        std::unordered_set<std::string> odd, named;
        HEARTH_TRY(read_initializers(proto, graph, odd));
        for (const onnx::ValueInfoProto& info : proto.input())
            if (!graph.initializers.contains(info.name()) && !odd.contains(info.name()))
                HEARTH_TRY(read_port(info, is_inner ? "body input" : "input", graph.inputs));
        // A list of maps from classes to scores is imported as the scores.
        for (const onnx::NodeProto& node : proto.node())
            if (node.op_type() == "ZipMap" && node.domain() == kMlDomain)
                named.insert(node.output().begin(), node.output().end());
        for (const onnx::ValueInfoProto& info : proto.output()) {
            if (named.contains(info.name()))
                graph.outputs.emplace_back().name = info.name();
            else
                HEARTH_TRY(read_port(info, "output", graph.outputs));
        }
        for (onnx::NodeProto& node : *proto.mutable_node())
            HEARTH_TRY(read_node(node, graph.nodes));
        return {};
    }

    /// Notes nodes that would compute with what stands for strings or for integers of 4 bits.
    void check_stand_ins(const OnnxNode& node) {
        static const std::unordered_set<std::string> kMoves = {"ArrayFeatureExtractor",
                                                               "Concat",
                                                               "Expand",
                                                               "Flatten",
                                                               "Gather",
                                                               "GatherElements",
                                                               "Identity",
                                                               "Reshape",
                                                               "Slice",
                                                               "Split",
                                                               "Squeeze",
                                                               "Tile",
                                                               "Transpose",
                                                               "Unsqueeze",
                                                               "Where"};
        static const std::unordered_set<std::string> kReads = {"Equal", "LabelEncoder",
                                                               "OneHotEncoder", "Shape", "Size"};
        const bool is_ml = node.domain == kMlDomain;
        const bool moves = kMoves.contains(node.op_type);
        bool gives_text =
            is_ml && (node.attrs.has("classlabels_strings") || node.attrs.has("values_strings"));
        for (const std::string& in : node.inputs) {
            if (text_values_.contains(in) && !moves && !kReads.contains(node.op_type))
                note_unsupported(node.label() + " reads " + quoted(in) + ", which holds strings");
            gives_text = gives_text || (moves && text_values_.contains(in));
            if (packed_values_.contains(in) && node.op_type == "QuantizeLinear")
                note_unsupported(node.label() + " quantizes to 4 bits");
        }
        // A classifier has its labels in output 0, and scores after it.
        if (gives_text && !node.outputs.empty())
            text_values_.insert(node.outputs.begin(),
                                moves ? node.outputs.end() : node.outputs.begin() + 1);
    }

    /// Remembers the values that stand for strings or for integers of 4 bits.
    void note_stand_in(const std::string& name, int32_t type) {
        if (type == onnx::TensorProto::STRING) text_values_.insert(name);
        if (is_int4(type)) packed_values_.insert(name);
    }

    Status read_function(onnx::FunctionProto& proto) {
        OnnxFunction function;
        function.opset = opset_of(proto.opset_import());
        function.body.name = proto.name();
        for (const std::string& name : proto.input())
            function.body.inputs.emplace_back().name = name;
        for (const std::string& name : proto.output())
            function.body.outputs.emplace_back().name = name;
        OnnxNode& defaults = function.defaults;
        defaults.op_type = proto.name();
        defaults.domain = own_domain(proto.domain());
        constexpr int kOverload = 13, kDefaultAttributes = 11;  // since ONNX 1.16 and 1.13
        defaults.overload = later_text(proto, kOverload);
        HEARTH_TRY(read_defaults(proto, kDefaultAttributes, defaults));
        for (onnx::NodeProto& node : *proto.mutable_node())
            if (Status s = read_node(node, function.body.nodes); !s.ok())
                return s.with_context("function " + quoted(proto.name()));
        const std::string key = defaults.function_key();
        if (!model_.functions.emplace(key, std::move(function)).second)
            return corrupt_data("the function " + quoted(key) + " is there twice");
        return {};
    }

    Status read_defaults(const onnx::FunctionProto& proto, int field, OnnxNode& defaults) {
        const google::protobuf::UnknownFieldSet& unknown =
            proto.GetReflection()->GetUnknownFields(proto);
        std::vector<Attr> attrs;
        for (int i = 0; i < unknown.field_count(); ++i) {
            if (unknown.field(i).number() != field ||
                unknown.field(i).type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
                continue;
            onnx::AttributeProto attr;
            if (!attr.ParseFromString(unknown.field(i).length_delimited()))
                return corrupt_data("function " + quoted(proto.name()) +
                                    ": an attribute is damaged");
            HEARTH_TRY(read_attribute(attr, defaults, attrs));
        }
        defaults.attrs = Attrs(std::move(attrs));
        return {};
    }

    /// Only a few are listed: a list of all could be longer than the file.
    void note_unsupported(std::string what) {
        constexpr size_t kMostNoted = 16;
        if (model_.unsupported.size() < kMostNoted)
            model_.unsupported.push_back(std::move(what));
        else
            ++model_.unsupported_more;
    }

    Status read_initializers(onnx::GraphProto& proto, OnnxGraph& graph,
                             std::unordered_set<std::string>& odd) {
        for (onnx::TensorProto& initializer : *proto.mutable_initializer()) {
            Result<HostTensor> tensor = read_tensor(initializer, files_, &model_.strings);
            const std::string name = initializer.name(), what = "initializer " + quoted(name);
            note_stand_in(name, initializer.data_type());
            if (is_int4(initializer.data_type())) graph.int4_initializers.insert(name);
            initializer = {};  // so that no more than one tensor is in memory twice
            if (!tensor.ok() && tensor.status().code() == StatusCode::kUnsupported) {
                note_unsupported(what + ": " + tensor.status().message());
                odd.insert(name);
            } else if (!tensor.ok()) {
                return tensor.status().with_context(what);
            } else if (!graph.initializers
                            .emplace(name, std::make_shared<HostTensor>(std::move(*tensor)))
                            .second) {
                return corrupt_data(what + " is there twice");
            }
        }
        for (const onnx::SparseTensorProto& sparse : proto.sparse_initializer()) {
            note_unsupported("initializer " + quoted(sparse.values().name()) + " is sparse");
            odd.insert(sparse.values().name());
        }
        return {};
    }

    static std::string kind_of(const onnx::TypeProto& type) {
        switch (type.value_case()) {
            case onnx::TypeProto::kSequenceType:
                return "a sequence";
            case onnx::TypeProto::kOptionalType:
                return "an optional";
            case onnx::TypeProto::kMapType:
                return "a map";
            case onnx::TypeProto::kSparseTensorType:
                return "a sparse tensor";
            default:
                return "has no declared type";
        }
    }

    Status read_port(const onnx::ValueInfoProto& info, std::string_view kind,
                     std::vector<OnnxPort>& ports) {
        const std::string what = std::string(kind) + " " + quoted(info.name());
        if (info.name().empty()) return corrupt_data("an " + std::string(kind) + " has no name");
        OnnxPort port;
        port.name = info.name();
        if (!info.type().has_tensor_type()) {
            // The type may be omitted, except for the model's inputs.
            if (info.type().value_case() != onnx::TypeProto::VALUE_NOT_SET || kind == "input")
                note_unsupported(what + " is " + kind_of(info.type()) + "; expected a tensor");
            ports.push_back(std::move(port));
            return {};
        }
        const onnx::TypeProto::Tensor& type = info.type().tensor_type();
        if (const std::optional<DType> dtype = dtype_from_onnx(type.elem_type()))
            port.dtype = *dtype;
        else if (type.elem_type() == onnx::TensorProto::STRING)
            port.dtype = DType::kI64;
        else if (type.elem_type() != 0 || kind == "input")
            note_unsupported(what + " has element type " + onnx_type_name(type.elem_type()));
        if (kind != "output") note_stand_in(port.name, type.elem_type());
        port.has_shape = type.has_shape();
        for (const onnx::TensorShapeProto::Dimension& dim : type.shape().dim()) {
            OnnxDim& d = port.dims.emplace_back();
            if (dim.has_dim_value() && dim.dim_value() >= 0)
                d.count = dim.dim_value();
            else
                d.name = dim.dim_param();
        }
        if (port.dims.size() > static_cast<size_t>(kMaxRank)) {
            note_unsupported(what + " has rank " + std::to_string(port.dims.size()));
            port.dims.clear();
        }
        ports.push_back(std::move(port));
        return {};
    }

    Status read_node(onnx::NodeProto& proto, std::vector<OnnxNode>& nodes) {
        OnnxNode node;
        node.name = proto.name();
        node.op_type = proto.op_type();
        node.domain = own_domain(proto.domain());
        constexpr int kOverload = 8;  // since ONNX 1.16
        node.overload = later_text(proto, kOverload);
        node.inputs.assign(proto.input().begin(), proto.input().end());
        node.outputs.assign(proto.output().begin(), proto.output().end());
        if (node.op_type.empty()) return corrupt_data("a node has no operator type");
        std::vector<Attr> attrs;
        for (onnx::AttributeProto& attr : *proto.mutable_attribute())
            if (Status s = read_attribute(attr, node, attrs); !s.ok())
                return s.with_context(node.label() + ": attribute " + quoted(attr.name()));
        node.attrs = Attrs(std::move(attrs));
        check_stand_ins(node);
        nodes.push_back(std::move(node));
        return {};
    }

    /// The tensors among the attributes of ai.onnx.ml are lists.
    static AttrValue as_list(const HostTensor& tensor) {
        std::vector<int64_t> integers;
        std::vector<double> reals;
        for (int64_t i = 0; i < tensor.element_count(); ++i) {
            if (is_floating(tensor.dtype()))
                reals.push_back(tensor.get(i));
            else
                integers.push_back(tensor.get_int(i));
        }
        return is_floating(tensor.dtype()) ? AttrValue(std::move(reals))
                                           : AttrValue(std::move(integers));
    }

    /// attrs: receives the attributes that node.attrs can hold.
    Status read_attribute(onnx::AttributeProto& attr, OnnxNode& node, std::vector<Attr>& attrs) {
        if (attr.name().empty()) return corrupt_data("has no name");
        if (!attr.ref_attr_name().empty()) {
            node.references.push_back({attr.name(), attr.ref_attr_name()});
            return {};
        }
        switch (attr.type()) {
            case onnx::AttributeProto::INT:
                attrs.push_back({attr.name(), attr.i()});
                return {};
            case onnx::AttributeProto::FLOAT:
                attrs.push_back({attr.name(), static_cast<double>(attr.f())});
                return {};
            case onnx::AttributeProto::STRING:
                if (node.domain == kMlDomain && attr.name() == "default_string")
                    attrs.push_back({attr.name(), model_.strings.position_of(attr.s())});
                else
                    attrs.push_back({attr.name(), attr.s()});
                return {};
            case onnx::AttributeProto::STRINGS: {
                if (node.domain == kMlDomain && attr.name().ends_with("_strings")) {
                    std::vector<int64_t> positions;
                    for (const std::string& text : attr.strings())
                        positions.push_back(model_.strings.position_of(text));
                    attrs.push_back({attr.name(), std::move(positions)});
                    return {};
                }
                std::string lines;  // split again by OnnxCall::texts
                for (const std::string& line : attr.strings()) lines += line + "\n";
                attrs.push_back({attr.name(), std::move(lines)});
                return {};
            }
            case onnx::AttributeProto::INTS:
                attrs.push_back(
                    {attr.name(), std::vector<int64_t>(attr.ints().begin(), attr.ints().end())});
                return {};
            case onnx::AttributeProto::FLOATS:
                attrs.push_back(
                    {attr.name(), std::vector<double>(attr.floats().begin(), attr.floats().end())});
                return {};
            case onnx::AttributeProto::TENSOR: {
                Result<HostTensor> tensor = read_tensor(attr.t(), files_, &model_.strings);
                if (node.op_type == "Constant" && !node.outputs.empty())
                    note_stand_in(node.outputs[0], attr.t().data_type());
                if (!tensor.ok() && tensor.status().code() == StatusCode::kUnsupported) {
                    note_unsupported(node.label() + ": attribute " + quoted(attr.name()) + ": " +
                                     tensor.status().message());
                    return {};
                }
                if (!tensor.ok()) return tensor.status();
                if (node.domain == kMlDomain)
                    attrs.push_back({attr.name(), as_list(*tensor)});
                else
                    node.tensors.push_back({attr.name(), std::move(*tensor)});
                return {};
            }
            case onnx::AttributeProto::GRAPH: {
                auto graph = std::make_shared<OnnxGraph>();
                HEARTH_TRY(read_graph(*attr.mutable_g(), *graph, true));
                node.graphs.push_back({attr.name(), std::move(graph)});
                return {};
            }
            default:
                node.odd_attrs.push_back(attr.name());
                return {};
        }
    }

    OnnxModel model_;
    ExternalFiles files_;
    std::unordered_set<std::string> text_values_, packed_values_;
};

// Charges messages to the budget before they are parsed: protobuf allocates an object of a few
// hundred bytes for each message, and an empty message takes only two bytes in the file.  Counts
// nodes, attributes, and all other messages in these and in graphs.
class MessageCounter {
  public:
    explicit MessageCounter(Budget& budget) : budget_(budget) {}

    Status count_model(std::span<const std::byte> bytes) { return count(bytes, kModel, 0); }

  private:
    // Approximate sizes of ONNX's largest message, and of a string.
    static constexpr uint64_t kMessageBytes = 256, kTextBytes = 40;
    static constexpr int kDeepest = 100;  // also protobuf's limit
    enum Kind : uint8_t { kModel, kGraph, kFunction, kNode, kAttribute, kOther };

    /// Kind of the message in field `number`, by the numbers in onnx.proto.
    static Kind kind_in(Kind outer, uint64_t number) {
        switch (outer) {
            case kModel:
                return number == 7 ? kGraph : number == 25 ? kFunction : kOther;
            case kGraph:
                return number == 1 ? kNode : kOther;
            case kFunction:
                return number == 7 ? kNode : number == 11 ? kAttribute : kOther;
            case kNode:
                return number == 5 ? kAttribute : kOther;
            case kAttribute:
                return number == 6 || number == 11 ? kGraph : kOther;
            default:
                return kOther;
        }
    }

    static bool is_text(Kind outer, uint64_t number) {
        if (outer == kNode) return number != 5;
        return outer == kAttribute && (number < 5 || (number > 6 && number < 10));
    }

    static uint64_t varint(ByteReader& in) {
        uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            const auto byte = in.number<uint8_t>();
            value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) break;
        }
        return value;
    }

    /// Malformed input is left to protobuf, which reports it.
    Status count(std::span<const std::byte> bytes, Kind kind, int depth) {
        if (depth > kDeepest) return {};
        ByteReader in(bytes);
        while (in.left() > 0) {
            const uint64_t key = varint(in);
            switch (key & 7) {
                case 0:
                    (void)varint(in);
                    break;
                case 1:
                    (void)in.take(8);
                    break;
                case 5:
                    (void)in.take(4);
                    break;
                case 2: {
                    const std::span<const std::byte> inner = in.take(varint(in));
                    if (in.failed()) return {};
                    const bool is_small = is_text(kind, key >> 3);
                    HEARTH_TRY(budget_.spend(Budget::Of::kCopiedBytes,
                                             is_small ? kTextBytes : kMessageBytes));
                    const Kind holds = kind_in(kind, key >> 3);
                    if (holds != kOther) HEARTH_TRY(count(inner, holds, depth + 1));
                    break;
                }
                default:
                    return {};
            }
        }
        return {};
    }

    Budget& budget_;
};

/// Parses `bytes`; protobuf limits nesting to 100 and validates all lengths against the input.
template <class Proto>
Status parse(std::span<const std::byte> bytes, std::string_view what, Proto& proto) {
    if (bytes.size() > INT_MAX)
        return out_of_range(
            std::string(what) + " of " + std::to_string(bytes.size()) +
            " bytes, and protobuf messages have at most 2 GiB; store the weights as external data");
    if (bytes.empty() || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        return corrupt_data("the " + std::to_string(bytes.size()) + " bytes are not a serialized " +
                            std::string(what) +
                            "; the file is truncated or damaged, copy it again");
    return {};
}

}  // namespace

int64_t OnnxNode::integer(std::string_view attribute, int64_t fallback) const {
    const AttrValue* value = attrs.find(attribute);
    const int64_t* n = value != nullptr ? std::get_if<int64_t>(value) : nullptr;
    return n != nullptr ? *n : fallback;
}

std::string OnnxNode::label() const {
    std::string text = shown(rule_name());
    if (!name.empty()) return text + " " + quoted(name);
    return outputs.empty() ? text : text + " giving " + quoted(outputs[0]);
}

std::string OnnxNode::rule_name() const {
    return domain.empty() ? op_type : domain + "." + op_type;
}

std::string OnnxNode::function_key() const {
    return domain + "." + op_type + (overload.empty() ? "" : "." + overload);
}

const OnnxGraph* OnnxNode::graph(std::string_view attribute) const {
    for (const OnnxSubgraph& g : graphs)
        if (g.name == attribute) return g.graph.get();
    return nullptr;
}

namespace {

/// Copies the attribute `reference.of` of `from` to `to` under its new name; returns true if it
/// exists.
bool take_attribute(const OnnxNode& from, const OnnxNode::Reference& reference, OnnxNode& to) {
    if (const AttrValue* value = from.attrs.find(reference.of)) {
        to.attrs.set(reference.name, *value);
        return true;
    }
    for (const NamedTensor& t : from.tensors)
        if (t.name == reference.of) return to.tensors.push_back({reference.name, t.tensor}), true;
    for (const OnnxSubgraph& g : from.graphs)
        if (g.name == reference.of) return to.graphs.push_back({reference.name, g.graph}), true;
    for (const std::string& odd : from.odd_attrs)
        if (odd == reference.of) return to.odd_attrs.push_back(reference.name), true;
    return false;
}

}  // namespace

namespace {

uint64_t bytes_of(const OnnxNode& node) {
    uint64_t bytes = 0;
    for (const NamedTensor& t : node.tensors) bytes += t.tensor.bytes().size();
    for (const Attr& a : node.attrs.all()) {
        if (const auto* text = std::get_if<std::string>(&a.value)) bytes += text->size();
        if (const auto* list = std::get_if<std::vector<int64_t>>(&a.value))
            bytes += 8 * list->size();
        if (const auto* list = std::get_if<std::vector<double>>(&a.value))
            bytes += 8 * list->size();
    }
    return bytes;
}

/// Number of attributes of all kinds, inputs and outputs.
uint64_t part_count(const OnnxNode& node) {
    return 1 + node.inputs.size() + node.outputs.size() + node.attrs.all().size() +
           node.tensors.size() + node.graphs.size() + node.references.size() +
           node.odd_attrs.size();
}

}  // namespace

Result<OnnxNode> OnnxNode::resolved(const OnnxNode& call, const OnnxNode& defaults,
                                    Budget& budget) const {
    // Each reference may search all of the call's attributes and copy one of them.
    const uint64_t looks = part_count(call) + part_count(defaults);
    HEARTH_TRY(budget.spend(Budget::Of::kVisits, part_count(*this) + references.size() * looks));
    const uint64_t copied = bytes_of(call) + bytes_of(defaults);
    HEARTH_TRY(
        budget.spend(Budget::Of::kCopiedBytes, bytes_of(*this) + references.size() * copied));
    OnnxNode node = *this;
    node.is_resolved = true;
    node.references.clear();
    for (const Reference& r : references)
        if (!take_attribute(call, r, node)) (void)take_attribute(defaults, r, node);
    return node;
}

Result<OnnxModel> read_onnx_model(std::span<const std::byte> bytes,
                                  const ExternalData& external_data, Budget& budget) {
    HEARTH_TRY(MessageCounter(budget).count_model(bytes));
    onnx::ModelProto proto;
    HEARTH_TRY(parse(bytes, "ONNX model", proto));
    return ModelReader(external_data, budget).read(proto);
}

Result<NamedTensor> read_onnx_tensor(std::span<const std::byte> bytes) {
    return or_out_of_memory([&]() -> Result<NamedTensor> {
        onnx::TensorProto proto;
        HEARTH_TRY(parse(bytes, "ONNX tensor", proto));
        const ExternalData none;
        ExternalFiles files(none, nullptr);
        Result<HostTensor> tensor = read_tensor(proto, files, nullptr);
        if (!tensor.ok()) return tensor.status().with_context("tensor " + quoted(proto.name()));
        return NamedTensor{proto.name(), std::move(*tensor)};
    });
}

}  // namespace hearth
