// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes a Graph as an ONNX model: operators without an export rule are decomposed first,
// repeatedly until nothing changes.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/rewrite.hpp"
#include "core/bytes.hpp"
#include "import/onnx/onnx_export_groups.hpp"
#include "import/onnx/onnx_writer.hpp"

#include <hearth/io.hpp>
#include <hearth/ops.hpp>

#include <map>

namespace hearth {

namespace {

/// Decomposes composite operators that have no export rule, and unpacks constants.
class Decomposition {
  public:
    static Result<Graph> of(const Graph& from) {
        constexpr int kMostRounds = 16;  // composites may decompose into composites
        Graph graph = from;
        for (int round = 0; round < kMostRounds; ++round) {
            bool changed = false;
            HEARTH_ASSIGN(graph, rewrite(graph, [&](Trace& trace, const Node& node,
                                                    std::span<const Tensor> inputs) {
                              const auto parts = decompose(trace, node, inputs);
                              changed = changed || parts.has_value();
                              return parts;
                          }));
            if (!changed) break;
        }
        return graph;
    }

  private:
    using Parts = std::optional<std::vector<Tensor>>;

    static Parts decompose(Trace& trace, const Node& node, std::span<const Tensor> inputs) {
        if (node.op->traits.unpacks_elements) return unpacked(trace, node, inputs[0]);
        if (node.op->decompose == nullptr || export_rule(*node.op) != nullptr) return {};
        if (node.op->name == "normalize" &&
            is_layer_normalization(node.attrs, inputs[0].dtype(), inputs[0].shape()))
            return {};
        if (is_plain_attention(node, inputs)) return attention_by_softmax(node.attrs, inputs);
        DecomposeContext call{trace, node.attrs, inputs};
        return node.op->decompose(call);
    }

    /// The elements of packed constants: ONNX has no operator that unpacks words.
    static Parts unpacked(Trace& trace, const Node& node, const Tensor& words) {
        const Value& packed = trace.graph().values[words.value()];
        if (packed.kind != ValueKind::kConstant) return {};
        const HostTensor* operands[] = {packed.data.get()};
        Result<std::vector<HostTensor>> elements = evaluate_node(*node.op, node.attrs, operands);
        if (!elements.ok()) return {};
        return {{trace.constant(std::move(elements->front()))}};
    }

    /// True if every query attends to at least one key, so that no row of the softmax is empty.
    static bool is_plain_attention(const Node& node, std::span<const Tensor> inputs) {
        if (node.op->name != "attention") return false;
        const Attrs& a = node.attrs;
        return !a.flag("mask") && !a.flag("lengths") && a.integer("left") < 0 &&
               a.integer("past") >= 0 && a.real("scale") != 0 &&
               inputs[0].dim(1) == inputs[1].dim(1);
    }

    /// Writes attention as a softmax between two matrix products, like other exporters.
    static Parts attention_by_softmax(const Attrs& attrs, std::span<const Tensor> inputs) {
        const DType dtype = inputs[0].dtype();
        const auto wide = [&](const Tensor& t) {
            return dtype == DType::kF64 || dtype == DType::kF32 ? t : cast(t, DType::kF32);
        };
        AttentionOptions options;
        options.scale = attrs.real("scale");
        options.softcap = attrs.real("softcap");
        options.causal = attrs.flag("causal");
        options.right_window = attrs.integer("right");
        options.kv_cache_length = attrs.integer("past");
        const Tensor v = wide(inputs[2]);
        const Tensor scores = attention_scores(wide(inputs[0]), wide(inputs[1]), v, {}, options,
                                               AttentionStage::kMasked);
        const Tensor y = matmul(softmax(scores), v);
        return std::vector{y.dtype() == dtype ? y : cast(y, dtype), logsumexp(scores, {-1})};
    }
};

class Exporter {
  public:
    Exporter(const Graph& graph, const NamedTensors& weights)
        : graph_(graph), weights_(weights), writer_(graph.name), names_(graph.values.size()) {}

    Result<std::vector<std::byte>> run() {
        if (!graph_.updates.empty())
            return unsupported("'" + graph_.values[graph_.updates[0].target].name +
                               "' is assigned, and ONNX has no mutable state; export an entry "
                               "without assignments");
        HEARTH_TRY(write_inputs());
        HEARTH_TRY(write_weights());
        HEARTH_TRY(reserve_outputs());
        write_nodes();
        if (!missing_.empty()) return unsupported("not in ONNX: " + missing_text());
        if (writer_.lacks_rows())
            return unsupported(
                "it depends on the batch size, which no input has; give an input a batch axis");
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
        return invalid_argument("two inputs, outputs or weights are named " + quoted(name));
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

    /// The value of a computed output gets the output's name; further outputs of it are copies.
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

    void write_nodes() {
        const std::unordered_map<NodeId, OnnxGroup> groups = find_onnx_groups(graph_);
        std::vector<bool> is_absorbed(graph_.nodes.size());
        for (const auto& [last, group] : groups)
            for (NodeId id : group.absorbed) is_absorbed[id] = true;
        for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
            if (is_absorbed[id]) continue;
            const Node& node = graph_.nodes[id];
            const auto group = groups.find(id);
            if (group == groups.end())
                write({id, node.inputs, SIZE_MAX, {}, export_rule(*node.op)}, node);
            else
                write(group->second, node);
        }
    }

    void write(const OnnxGroup& group, const Node& last) {
        const Node& core = graph_.nodes[group.core];
        OnnxExportCall call{writer_, *core.op, core.attrs};
        for (ValueId v : core.inputs) call.input_types.push_back(type_of(v));
        for (ValueId v : core.outputs) call.output_types.push_back(type_of(v));
        for (size_t i = 0; i < group.inputs.size(); ++i)
            call.inputs.push_back(input_name(group.inputs[i], i >= group.first_flat));
        for (ValueId id : last.outputs) call.outputs.push_back(name_of_value(id));
        if (!group.write || !group.write(call)) ++missing_[core.op->name];
    }

    TensorType type_of(ValueId v) const { return {graph_.values[v].dtype, graph_.values[v].shape}; }

    std::string input_name(ValueId id, bool is_flat) {
        if (id == kInvalidId) return {};
        const Value& v = graph_.values[id];
        if (!is_flat || v.kind != ValueKind::kConstant) return name_of_value(id);
        return writer_.constant(v.data->reshaped({v.data->element_count()}));
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
    HEARTH_ASSIGN(const Graph simple, Decomposition::of(graph));
    Result<std::vector<std::byte>> bytes = Exporter(simple, weights).run();
    if (!bytes.ok()) return bytes.status().with_context("export of " + quoted(graph.name));
    return bytes;
}

Result<std::vector<std::byte>> export_onnx(Trace& trace, const NamedTensors& weights) {
    HEARTH_ASSIGN(const Graph graph, trace.build());
    return export_onnx(graph, weights);
}

}  // namespace hearth
