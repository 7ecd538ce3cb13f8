// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Canonicalizes, hashes, prints and verifies graphs.

#include "compiler/ir/graph.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <functional>

namespace hearth {

ValueId Graph::find(std::string_view wanted) const {
    for (ValueId id = 0; id < values.size(); ++id)
        if (values[id].kind != ValueKind::kNode && values[id].name == wanted) return id;
    return kInvalidId;
}

std::vector<std::vector<NodeId>> readers_of(const Graph& graph) {
    std::vector<std::vector<NodeId>> readers(graph.values.size());
    for (NodeId n = 0; n < graph.nodes.size(); ++n)
        for (ValueId v : graph.nodes[n].inputs)
            if (readers[v].empty() || readers[v].back() != n) readers[v].push_back(n);
    return readers;
}

std::vector<bool> leaves_graph(const Graph& graph) {
    std::vector<bool> leaves(graph.values.size());
    for (const GraphOutput& o : graph.outputs) leaves[o.value] = true;
    for (const Assignment& u : graph.updates) leaves[u.value] = true;
    return leaves;
}

std::vector<bool> external_values(const Graph& graph) {
    std::vector<bool> external(graph.values.size());
    for (ValueId v = 0; v < graph.values.size(); ++v)
        external[v] = graph.values[v].kind == ValueKind::kInput;
    for (const Assignment& u : graph.updates)
        if (graph.values[u.target].kind == ValueKind::kInput) external[u.value] = true;
    for (const GraphOutput& o : graph.outputs) external[o.value] = true;
    return external;
}

bool writes_in_place(const Graph& graph, const Node& node) {
    return node.op->writes_in_place && updates_first_input(graph, node);
}

bool updates_first_input(const Graph& graph, const Node& node) {
    if (node.inputs.empty()) return false;
    const ValueId target = node.inputs[0], result = node.outputs[0];
    if (!may_be_updated(graph.values[target].kind)) return false;
    int updates = 0;
    for (const Assignment& u : graph.updates) {
        if (u.value != result) continue;
        if (u.target != target) return false;
        ++updates;
    }
    const auto reads_result = [&](const Node& n) {
        return std::find(n.inputs.begin(), n.inputs.end(), result) != n.inputs.end();
    };
    return updates == 1 && std::none_of(graph.nodes.begin(), graph.nodes.end(), reads_result) &&
           std::none_of(graph.outputs.begin(), graph.outputs.end(),
                        [&](const GraphOutput& o) { return o.value == result; });
}

namespace {

// Copies the nodes that outputs and updates need, depth first.  The explicit stack keeps deep
// graphs (long chains from hostile files) from overflowing the call stack.
class Canonicalizer {
  public:
    explicit Canonicalizer(const Graph& from)
        : from_(from), new_id_(from.values.size(), kInvalidId) {}

    Graph run() {
        out_.name = from_.name;
        for (ValueId id : from_.inputs) out_.inputs.push_back(take_leaf(id));
        for (const GraphOutput& o : from_.outputs)
            out_.outputs.push_back({o.name, take(o.value), o.scalars});
        std::vector<Assignment> updates = from_.updates;
        for (Assignment& u : updates) u = {take(u.target), take(u.value)};
        out_.updates = std::move(updates);
        return std::move(out_);
    }

  private:
    ValueId take_leaf(ValueId id) {
        if (new_id_[id] == kInvalidId) {
            new_id_[id] = static_cast<ValueId>(out_.values.size());
            out_.values.push_back(from_.values[id]);
        }
        return new_id_[id];
    }

    ValueId take(ValueId root) {
        std::vector<ValueId> stack{root};
        while (!stack.empty()) {
            const ValueId id = stack.back();
            const Node* node = from_.producer(id);
            if (new_id_[id] != kInvalidId) {
                stack.pop_back();
            } else if (node == nullptr) {
                take_leaf(id);
                stack.pop_back();
            } else if (!push_missing_inputs(*node, stack)) {
                take_node(*node);
                stack.pop_back();
            }
        }
        return new_id_[root];
    }

    bool push_missing_inputs(const Node& node, std::vector<ValueId>& stack) const {
        const size_t before = stack.size();
        for (size_t i = node.inputs.size(); i-- > 0;)
            if (new_id_[node.inputs[i]] == kInvalidId) stack.push_back(node.inputs[i]);
        return stack.size() > before;
    }

    void take_node(const Node& node) {
        Node copy = node;
        for (ValueId& v : copy.inputs) v = new_id_[v];
        const auto index = static_cast<NodeId>(out_.nodes.size());
        for (ValueId& v : copy.outputs) {
            const ValueId old = v;
            v = static_cast<ValueId>(out_.values.size());
            out_.values.push_back(from_.values[old]);
            out_.values.back().node = index;
            new_id_[old] = v;
        }
        out_.nodes.push_back(std::move(copy));
    }

    const Graph& from_;
    Graph out_;
    std::vector<ValueId> new_id_;
};

std::string value_name(const Graph& graph, ValueId id) {
    const Value& v = graph.values[id];
    return v.kind == ValueKind::kNode || v.name.empty() ? "%" + std::to_string(id) : "@" + v.name;
}

std::string_view kind_name(ValueKind kind) {
    switch (kind) {
        case ValueKind::kNode:
            return "node";
        case ValueKind::kInput:
            return "input";
        case ValueKind::kParam:
            return "param";
        case ValueKind::kState:
            return "state";
        case ValueKind::kConstant:
            return "constant";
    }
    return "?";
}

/// "[loss, kl]".
std::string to_text(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "[" : ", ") + name;
    return text + "]";
}

std::string typed(const Value& v) {
    return std::string(name_of(v.dtype)) + to_string(v.shape);
}

}  // namespace

Graph canonical(const Graph& graph) {
    return Canonicalizer(graph).run();
}

uint64_t content_hash(const Graph& graph) {
    Hash hash;
    hash.text(graph.name).number(graph.values.size());
    for (const Value& v : graph.values) {
        hash.number(static_cast<int>(v.kind)).number(static_cast<int>(v.dtype)).text(v.name);
        hash.number(v.shape.rank());
        for (Dim d : v.shape.dims()) hash.number(d.count).number(d.is_batch ? 1 : 0);
        if (v.kind == ValueKind::kConstant && v.data) hash.bytes(v.data->bytes());
        if (!v.is_persistent) hash.text("transient");
    }
    for (const Node& n : graph.nodes) {
        hash.text(n.op->name);
        add_to(hash, n.attrs);
        for (ValueId v : n.inputs) hash.number(v);
        for (ValueId v : n.outputs) hash.number(v);
    }
    for (ValueId v : graph.inputs) hash.number(v);
    for (const GraphOutput& o : graph.outputs) {
        hash.text(o.name).number(o.value);
        for (const std::string& name : o.scalars) hash.text(name);
    }
    for (const Assignment& u : graph.updates) hash.number(u.target).number(u.value);
    return hash.value();
}

std::string print(const Graph& graph) {
    std::string text = "graph " + graph.name + "\n";
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        if (v.kind == ValueKind::kNode) continue;
        text += "  " + std::string(v.is_persistent ? kind_name(v.kind) : "transient") + " " +
                value_name(graph, id) + " : " + typed(v);
        if (v.kind == ValueKind::kConstant && v.data && v.data->element_count() == 1)
            text += " = " + to_string(AttrValue(v.data->get(0)));
        text += "\n";
    }
    for (const Node& n : graph.nodes) {
        text += "  ";
        for (size_t i = 0; i < n.outputs.size(); ++i)
            text += (i > 0 ? ", " : "") + value_name(graph, n.outputs[i]) + " : " +
                    typed(graph.values[n.outputs[i]]);
        text += " = " + std::string(n.op->name) + "(";
        for (size_t i = 0; i < n.inputs.size(); ++i)
            text += (i > 0 ? ", " : "") + value_name(graph, n.inputs[i]);
        text += ")";
        if (!n.attrs.all().empty()) text += " {" + to_string(n.attrs) + "}";
        text += "\n";
    }
    for (const GraphOutput& o : graph.outputs)
        text += "  output " + o.name + (o.scalars.empty() ? "" : " " + to_text(o.scalars)) + " = " +
                value_name(graph, o.value) + "\n";
    for (const Assignment& u : graph.updates)
        text +=
            "  update " + value_name(graph, u.target) + " := " + value_name(graph, u.value) + "\n";
    return text;
}

namespace {

Status verify_value(const Graph& graph, ValueId id) {
    const Value& v = graph.values[id];
    const std::string what = "value " + std::to_string(id);
    if (v.kind == ValueKind::kNode) {
        if (v.node >= graph.nodes.size()) return internal_error(what + " has no producer");
        const Node& n = graph.nodes[v.node];
        if (v.output >= n.outputs.size() || n.outputs[v.output] != id)
            return internal_error(what + " is not an output of its producer");
    } else if (v.name.empty() && v.kind != ValueKind::kConstant) {
        return internal_error(what + " is a " + std::string(kind_name(v.kind)) + " without name");
    }
    if (v.data && (v.data->dtype() != v.dtype || v.data->shape() != v.shape))
        return internal_error(what + " is " + typed(v) + " but its data is " +
                              std::string(name_of(v.data->dtype())) + to_string(v.data->shape()));
    if (v.kind == ValueKind::kConstant && !v.data)
        return internal_error(what + " is a constant without data");
    int symbolic = 0;
    for (Dim d : v.shape.dims()) {
        if (d.count < 0) return internal_error(what + " has a negative extent");
        symbolic += d.is_batch;
    }
    if (symbolic > 1) return internal_error(what + " has more than one symbolic extent");
    return {};
}

Status verify_node(const Graph& graph, NodeId index) {
    const Node& n = graph.nodes[index];
    const std::string what = "node " + std::to_string(index) + " (" + std::string(n.op->name) + ")";
    std::vector<TensorType> inputs, outputs;
    for (ValueId v : n.inputs) {
        if (v >= graph.values.size()) return internal_error(what + " reads a missing value");
        const Value& in = graph.values[v];
        if (in.kind == ValueKind::kNode && in.node >= index)
            return internal_error(what + " reads value " + std::to_string(v) +
                                  " before it is computed");
        inputs.push_back({in.dtype, in.shape});
    }
    if (Status s = infer_types(*n.op, n.attrs, inputs, outputs); !s.ok())
        return s.with_context(what);
    if (outputs.size() != n.outputs.size())
        return internal_error(what + " has " + std::to_string(n.outputs.size()) +
                              " outputs, its rule says " + std::to_string(outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i) {
        const Value& out = graph.values[n.outputs[i]];
        if (out.dtype != outputs[i].dtype || out.shape != outputs[i].shape)
            return internal_error(what + " output is " + typed(out) + ", its rule says " +
                                  std::string(name_of(outputs[i].dtype)) +
                                  to_string(outputs[i].shape));
    }
    return {};
}

}  // namespace

Status verify(const Graph& graph) {
    for (ValueId id = 0; id < graph.values.size(); ++id) HEARTH_TRY(verify_value(graph, id));
    for (NodeId n = 0; n < graph.nodes.size(); ++n) HEARTH_TRY(verify_node(graph, n));
    for (const GraphOutput& o : graph.outputs) {
        if (o.value >= graph.values.size())
            return internal_error("output '" + o.name + "' names a missing value");
        const auto count = static_cast<int64_t>(o.scalars.size());
        if (count > 0 && graph.values[o.value].shape != Shape{count})
            return internal_error("output '" + o.name + "' has " + std::to_string(count) +
                                  " names for " + to_string(graph.values[o.value].shape));
    }
    for (const Assignment& u : graph.updates) {
        if (u.target >= graph.values.size() || u.value >= graph.values.size())
            return internal_error("an update names a missing value");
        const Value &target = graph.values[u.target], &value = graph.values[u.value];
        if (!may_be_updated(target.kind))
            return internal_error("an update's target must be a param, state or input");
        if (target.dtype != value.dtype || target.shape != value.shape)
            return internal_error("update of '" + target.name + "' is " + typed(value) +
                                  ", the target is " + typed(target));
    }
    return {};
}

}  // namespace hearth
