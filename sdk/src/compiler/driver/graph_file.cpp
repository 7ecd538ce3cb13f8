// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Serializes graphs, and reads them from untrusted bytes.

#include "compiler/driver/graph_file.hpp"

#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/op_table.hpp"
#include "core/budget.hpp"
#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"

#include <hearth/core/extents.hpp>
#include <hearth/op/op_def.hpp>

#include <limits>
#include <map>

namespace hearth {

namespace {

constexpr uint32_t kGraphMagic = 0x52475248;  // "HRGR"
constexpr uint64_t kNoData = ~uint64_t{0};
/// Extends the ValueKind numbers: a kState that is not kept.  Since version 2.
constexpr uint8_t kTransientState = 5;

template <class T>
void write_list(ByteWriter& out, const std::vector<T>& list) {
    out.number(static_cast<uint32_t>(list.size()));
    for (T value : list) out.number(value);
}

void write(ByteWriter& out, const Shape& shape) {
    out.number(static_cast<uint32_t>(shape.rank()));
    for (Dim d : shape.dims()) out.number(d.count).number(static_cast<uint8_t>(d.is_batch));
}

void write(ByteWriter& out, const Attrs& attrs) {
    out.number(static_cast<uint32_t>(attrs.all().size()));
    for (const Attr& a : attrs.all()) {
        out.counted_text(a.name).number(static_cast<uint8_t>(a.value.index()));
        if (const auto* i = std::get_if<int64_t>(&a.value)) out.number(*i);
        if (const auto* d = std::get_if<double>(&a.value)) out.number(*d);
        if (const auto* s = std::get_if<std::string>(&a.value)) out.counted_text(*s);
        if (const auto* list = std::get_if<std::vector<int64_t>>(&a.value)) write_list(out, *list);
        if (const auto* list = std::get_if<std::vector<double>>(&a.value)) write_list(out, *list);
        if (const auto* t = std::get_if<DType>(&a.value)) out.number(static_cast<uint8_t>(*t));
        if (const auto* shape = std::get_if<Shape>(&a.value)) write(out, *shape);
    }
}

void write(ByteWriter& out, const Value& v, const StoreData& store) {
    out.number(v.is_persistent ? static_cast<uint8_t>(v.kind) : kTransientState);
    out.number(static_cast<uint8_t>(v.dtype));
    write(out, v.shape);
    out.number(v.node).number(v.output).counted_text(v.name);
    out.number(v.data ? store(v.data->bytes()) : kNoData);
}

void write(ByteWriter& out, const Graph& graph, const StoreData& store) {
    out.counted_text(graph.name).number(static_cast<uint32_t>(graph.values.size()));
    for (const Value& v : graph.values) write(out, v, store);
    out.number(static_cast<uint32_t>(graph.nodes.size()));
    for (const Node& n : graph.nodes) {
        out.counted_text(n.op->name);
        write(out, n.attrs);
        write_list(out, n.inputs);
        write_list(out, n.outputs);
    }
    write_list(out, graph.inputs);
    out.number(static_cast<uint32_t>(graph.outputs.size()));
    for (const GraphOutput& o : graph.outputs) {
        out.counted_text(o.name).number(o.value);
        out.number(static_cast<uint32_t>(o.scalars.size()));
        for (const std::string& name : o.scalars) out.counted_text(name);
    }
    out.number(static_cast<uint32_t>(graph.updates.size()));
    for (const Assignment& u : graph.updates) out.number(u.target).number(u.value);
}

/// Reads one file; keeps the first error.
class Reader {
  public:
    Reader(std::span<const std::byte> bytes, std::span<const std::byte> data)
        : in_(bytes), data_(data), budget_(bytes.size() + data.size()) {}

    Result<std::vector<Graph>> run() {
        if (in_.number<uint32_t>() != kGraphMagic)
            return corrupt_data(
                "graph: not a stored graph; expected the graph section of a package");
        version_ = in_.number<uint32_t>();
        if (version_ < 1 || version_ > kGraphFormatVersion)
            return unsupported("graph: format version " + std::to_string(version_) +
                               ", this library reads versions up to " +
                               std::to_string(kGraphFormatVersion));
        std::vector<Graph> graphs;
        const uint32_t count = in_.count(1);
        for (uint32_t i = 0; i < count; ++i) {
            Graph graph = read_graph();
            if (!status_.ok()) return status_;
            if (in_.failed())
                return corrupt_data(
                    "graph: its bytes end too early; the package is damaged, copy it again");
            if (Status s = check(graph); !s.ok()) return corrupt_data("graph: " + s.message());
            graphs.push_back(std::move(graph));
        }
        if (in_.failed() || in_.left() > 0)
            return corrupt_data(
                "graph: its bytes end too early or too late; the package is damaged, copy it "
                "again");
        return graphs;
    }

  private:
    void fail(Status status) {
        if (status_.ok()) status_ = std::move(status);
    }

    /// Checks that references are in range, then everything that verify() checks.
    static Status check(const Graph& graph) {
        const auto in_range = [&](const std::vector<ValueId>& ids) {
            for (ValueId id : ids)
                if (id >= graph.values.size()) return false;
            return true;
        };
        for (NodeId n = 0; n < graph.nodes.size(); ++n) {
            if (!in_range(graph.nodes[n].inputs) || !in_range(graph.nodes[n].outputs))
                return corrupt_data("a node names a missing value");
            for (size_t k = 0; k < graph.nodes[n].outputs.size(); ++k) {
                const Value& v = graph.values[graph.nodes[n].outputs[k]];
                if (v.kind != ValueKind::kNode || v.node != n || v.output != k)
                    return corrupt_data("a node lists an output of another node");
            }
        }
        if (!in_range(graph.inputs)) return corrupt_data("an input is missing");
        for (ValueId id : graph.inputs)
            if (graph.values[id].kind != ValueKind::kInput)
                return corrupt_data("an input does not have the kind of one");
        return verify(graph);
    }

    DType read_dtype() {
        const auto dtype = in_.number<uint8_t>();
        if (dtype >= kDTypeCount) fail(corrupt_data("graph: unknown element type"));
        return dtype < kDTypeCount ? static_cast<DType>(dtype) : DType::kF32;
    }

    Shape read_shape() {
        const auto rank = in_.number<uint32_t>();
        if (rank > static_cast<uint32_t>(kMaxRank)) {
            fail(corrupt_data("graph: a shape of rank " + std::to_string(rank)));
            return {};
        }
        Shape shape;
        for (uint32_t i = 0; i < rank; ++i) {
            const auto count = in_.number<int64_t>();
            shape.push_back(Dim(count, in_.number<uint8_t>() != 0));
        }
        if (Status s = check_extents(shape); !s.ok())
            return fail(corrupt_data("graph: " + s.message())), Shape();
        return shape;
    }

    template <class T>
    std::vector<T> read_list() {
        std::vector<T> list(in_.count(sizeof(T)));
        for (T& value : list) value = in_.number<T>();
        return list;
    }

    AttrValue read_attr_value() {
        switch (static_cast<AttrType>(in_.number<uint8_t>())) {
            case AttrType::kInteger:
                return in_.number<int64_t>();
            case AttrType::kFloat:
                return in_.number<double>();
            case AttrType::kString:
                return std::string(in_.counted_text());
            case AttrType::kIntegers:
                return read_list<int64_t>();
            case AttrType::kFloats:
                return read_list<double>();
            case AttrType::kDType:
                return read_dtype();
            case AttrType::kShape:
                return read_shape();
        }
        fail(corrupt_data("graph: an attribute of unknown type"));
        return int64_t{0};
    }

    Attrs read_attrs() {
        std::vector<Attr> attrs;
        const uint32_t count = in_.count(5);
        for (uint32_t i = 0; i < count && goes_on(); ++i) {
            spend(Budget::Of::kCopiedBytes, sizeof(Attr));
            std::string name(in_.counted_text());
            attrs.push_back({std::move(name), read_attr_value()});
        }
        return Attrs(std::move(attrs));
    }

    /// The contents of a tensor of this type and shape, stored at `offset`.
    std::shared_ptr<const HostTensor> read_data(DType dtype, const Shape& shape, uint64_t offset) {
        uint64_t bytes = size_bytes(dtype);
        bool fits = !shape.has_batch() && offset <= data_.size();
        for (Dim d : shape.dims()) {
            const auto count = static_cast<uint64_t>(d.count);
            fits = fits && d.count >= 0 && (count == 0 || bytes <= data_.size() / count);
            if (fits) bytes *= count;
        }
        if (!fits || bytes > data_.size() - offset) {
            fail(corrupt_data("graph: a tensor's contents lie outside the data"));
            return nullptr;
        }
        // Equal contents are stored once in the file, and shared here, too.
        std::shared_ptr<const HostTensor>& known = known_data_[offset];
        if (known != nullptr && known->dtype() == dtype && known->shape() == shape) return known;
        spend(Budget::Of::kCopiedBytes, bytes);
        if (!status_.ok()) return nullptr;
        HostTensor tensor(dtype, shape);
        const auto from = data_.subspan(offset, bytes);
        std::copy(from.begin(), from.end(), tensor.bytes().begin());
        known = std::make_shared<const HostTensor>(std::move(tensor));
        return known;
    }

    Value read_value() {
        Value v;
        const auto kind = in_.number<uint8_t>();
        v.is_persistent = version_ < 2 || kind != kTransientState;
        if (v.is_persistent && kind > static_cast<uint8_t>(ValueKind::kConstant))
            fail(corrupt_data("graph: a value of unknown kind"));
        v.kind = v.is_persistent ? static_cast<ValueKind>(kind) : ValueKind::kState;
        v.dtype = read_dtype();
        v.shape = read_shape();
        v.node = in_.number<NodeId>();
        v.output = in_.number<uint32_t>();
        v.name = in_.counted_text();
        const auto offset = in_.number<uint64_t>();
        if (!in_.failed() && status_.ok() && offset != kNoData)
            v.data = read_data(v.dtype, v.shape, offset);
        return v;
    }

    Node read_node() {
        Node node;
        const std::string_view name = in_.counted_text();
        node.op = find_op(name);
        if (node.op == nullptr && !in_.failed())
            fail(unsupported("graph: there is no operator " + quoted(name) + " in this version"));
        node.attrs = read_attrs();
        // Operators may gain attributes; files from before rely on the defaults.
        if (node.op != nullptr) {
            spend(Budget::Of::kCopiedBytes, node.op->attrs.size() * sizeof(Attr));
            add_defaults(*node.op, node.attrs);
        }
        node.inputs = read_list<ValueId>();
        node.outputs = read_list<ValueId>();
        return node;
    }

    void spend(Budget::Of of, uint64_t amount) {
        if (Status s = budget_.spend(of, amount); !s.ok()) fail(s.with_context("graph"));
    }

    bool goes_on() const { return !in_.failed() && status_.ok(); }

    Graph read_graph() {
        Graph graph;
        graph.name = in_.counted_text();
        const uint32_t values = in_.count(26);  // minimum bytes of a value
        for (uint32_t i = 0; i < values && goes_on(); ++i) graph.values.push_back(read_value());
        const uint32_t nodes = in_.count(16);
        for (uint32_t i = 0; i < nodes && goes_on(); ++i) graph.nodes.push_back(read_node());
        graph.inputs = read_list<ValueId>();
        const uint32_t outputs = in_.count(8);
        for (uint32_t i = 0; i < outputs; ++i) {
            std::string name(in_.counted_text());
            graph.outputs.push_back({std::move(name), in_.number<ValueId>()});
            if (version_ < 2) continue;
            const uint32_t elements = in_.count(4);
            for (uint32_t e = 0; e < elements; ++e)
                graph.outputs.back().scalars.emplace_back(in_.counted_text());
        }
        const uint32_t updates = in_.count(8);
        for (uint32_t i = 0; i < updates; ++i) {
            const auto target = in_.number<ValueId>();
            graph.updates.push_back({target, in_.number<ValueId>()});
        }
        return graph;
    }

    ByteReader in_;
    uint32_t version_ = 0;
    std::span<const std::byte> data_;
    Budget budget_;
    std::map<uint64_t, std::shared_ptr<const HostTensor>> known_data_;  ///< by offset
    Status status_;
};

}  // namespace

std::vector<std::byte> save_graphs(std::span<const Graph> graphs, const StoreData& store) {
    ByteWriter out;
    out.number(kGraphMagic).number(kGraphFormatVersion);
    out.number(static_cast<uint32_t>(graphs.size()));
    for (const Graph& graph : graphs) write(out, graph, store);
    return out.finish();
}

Result<std::vector<Graph>> load_graphs(std::span<const std::byte> bytes,
                                       std::span<const std::byte> data) {
    return or_out_of_memory([&] { return Reader(bytes, data).run(); });
}

Result<std::vector<Graph>> load_graphs(const PackageView& package) {
    HEARTH_ASSIGN(const std::vector<std::byte> bytes,
                  contents_of(package, package.graph_section()));
    return load_graphs(bytes, package.weights());
}

}  // namespace hearth
