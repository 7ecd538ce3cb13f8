// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes a Graph as an ONNX model: what no rule can write is decomposed first, until nothing changes.

#include "core/bytes.hpp"
#include "io/onnx_export_rules.hpp"
#include "ir/rewrite.hpp"

#include <hearth/io.hpp>

#include <map>

namespace hearth {

namespace {

bool must_decompose(const Node& node) {
    return find_export_rule(*node.op) == nullptr && node.op->decompose != nullptr;
}

Result<Graph> decomposed(const Graph& from) {
    constexpr int kMostRounds = 16;  // composites of composites
    Graph graph = from;
    for (int round = 0; round < kMostRounds; ++round) {
        if (std::none_of(graph.nodes.begin(), graph.nodes.end(), must_decompose)) break;
        HEARTH_ASSIGN(
            graph,
            rewrite(graph,
                    [](Trace& trace, const Node& node,
                       std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
                        if (!must_decompose(node)) return {};
                        DecomposeCall call{trace, node.attrs, inputs};
                        return node.op->decompose(call);
                    }));
    }
    return graph;
}

class Exporter {
  public:
    Exporter(const Graph& graph, const NamedTensors& weights)
        : graph_(graph), weights_(weights), writer_(graph.name), names_(graph.values.size()) {}

    Result<std::vector<std::byte>> run() {
        if (!graph_.updates.empty())
            return unsupported("'" + graph_.values[graph_.updates[0].target].name +
                               "' is assigned, and ONNX has no states that change; export an entry "
                               "that only computes");
        HEARTH_TRY(write_inputs());
        HEARTH_TRY(write_weights());
        HEARTH_TRY(reserve_outputs());
        for (const Node& node : graph_.nodes) write_node(node);
        if (!missing_.empty()) return unsupported("not in ONNX: " + missing_text());
        if (writer_.lacks_rows())
            return unsupported("it depends on the number of rows, which no input has");
        write_outputs();
        return writer_.finish();
    }

  private:
    Status write_inputs() {
        for (ValueId id : graph_.inputs) {
            const Value& v = graph_.values[id];
            if (!writer_.reserve(v.name)) return twice(v.name);
            names_[id] = v.name;
            writer_.input(v.name, v.dtype, v.shape);
        }
        return {};
    }

    static Status twice(const std::string& name) {
        return invalid_argument("two inputs, outputs or weights are called " + quoted(name));
    }

    Status write_weights() {
        for (ValueId id = 0; id < graph_.values.size(); ++id) {
            const Value& v = graph_.values[id];
            if (v.kind != ValueKind::kParam && v.kind != ValueKind::kState) continue;
            if (!writer_.reserve(v.name)) return twice(v.name);
            names_[id] = v.name;
            const auto given = weights_.find(v.name);
            if (given == weights_.end()) {
                writer_.initializer(v.name, v.data ? *v.data : HostTensor(v.dtype, v.shape));
                continue;
            }
            const HostTensor& data = given->second;
            if (data.dtype() != v.dtype || data.shape() != v.shape)
                return invalid_argument(quoted(v.name) + " is " + std::string(name_of(v.dtype)) +
                                        to_string(v.shape) + ", the weights have " +
                                        std::string(name_of(data.dtype())) +
                                        to_string(data.shape()));
            writer_.initializer(v.name, data);
        }
        return {};
    }

    /// Outputs that a node computes get its value's name; others are copies.
    Status reserve_outputs() {
        for (const GraphOutput& o : graph_.outputs) {
            if (!writer_.reserve(o.name)) return twice(o.name);
            if (graph_.values[o.value].kind == ValueKind::kNode && names_[o.value].empty())
                names_[o.value] = o.name;
        }
        return {};
    }

    const std::string& name_of_value(ValueId id) {
        std::string& name = names_[id];
        if (!name.empty()) return name;
        const Value& v = graph_.values[id];
        return name = v.kind == ValueKind::kConstant ? writer_.constant(*v.data)
                                                     : writer_.fresh_name();
    }

    void write_node(const Node& node) {
        OnnxExportCall call{writer_, graph_, node, {}, {}};
        for (ValueId id : node.inputs) call.inputs.push_back(name_of_value(id));
        for (ValueId id : node.outputs) call.outputs.push_back(name_of_value(id));
        const OnnxExportRule rule = find_export_rule(*node.op);
        if (rule == nullptr || !rule(call)) ++missing_[node.op->name];
    }

    std::string missing_text() const {
        std::string text;
        for (const auto& [name, count] : missing_)
            text += (text.empty() ? "operator " : ", operator ") + std::string(name) + " (" +
                    std::to_string(count) + (count == 1 ? " node)" : " nodes)");
        return text;
    }

    void write_outputs() {
        for (const GraphOutput& o : graph_.outputs) {
            const Value& v = graph_.values[o.value];
            if (names_[o.value] != o.name)
                writer_.node("Identity", {name_of_value(o.value)}, {o.name});
            writer_.output(o.name, v.dtype, v.shape);
        }
    }

    const Graph& graph_;
    const NamedTensors& weights_;
    OnnxWriter writer_;
    std::vector<std::string> names_;  ///< by value
    std::map<std::string_view, int> missing_;
};

}  // namespace

Result<std::vector<std::byte>> export_onnx(const Graph& graph, const NamedTensors& weights) {
    HEARTH_ASSIGN(const Graph simple, decomposed(graph));
    Result<std::vector<std::byte>> bytes = Exporter(simple, weights).run();
    if (!bytes.ok()) return bytes.status().in("export of " + quoted(graph.name));
    return bytes;
}

Result<std::vector<std::byte>> export_onnx(Trace& trace, const NamedTensors& weights) {
    HEARTH_ASSIGN(const Graph graph, trace.finish());
    return export_onnx(graph, weights);
}

}  // namespace hearth
