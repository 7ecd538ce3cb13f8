// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs operators and graphs with plain loops in double: the reference for all other execution.

#include "compiler/interpreter/interpreter.hpp"

#include "compiler/ops/shared/elements.hpp"

#include <limits>
#include <memory>
#include <optional>

namespace hearth {

namespace {

using Operands = std::span<const HostTensor* const>;

template <class V>
V at_rule(const ComputeRule& rule, CpuAt<V>& context) {
    if constexpr (std::is_same_v<V, double>)
        return rule.on_doubles(context);
    else
        return rule.on_integers(context);
}

template <class V>
void run_at(const OpDef& op, const Attrs& attrs, Operands inputs, HostTensor& output) {
    std::vector<std::vector<V>> data;
    std::vector<CpuInput<V>> views;
    for (const HostTensor* t : inputs) data.push_back(elements_of<V>(*t));
    for (size_t k = 0; k < inputs.size(); ++k)
        views.push_back({data[k].data(), inputs[k]->shape()});
    CpuAt<V> context(attrs, views, output.shape(), output.dtype());
    for (int64_t i = 0; i < output.element_count(); ++i) {
        context.seek(i);
        store(output, i, at_rule(op.compute, context));
    }
}

template <class V>
V neutral(ReduceOp fold) {
    constexpr bool has_infinity = std::numeric_limits<V>::has_infinity;
    switch (fold) {
        case ReduceOp::kSum:
            return 0;
        case ReduceOp::kProduct:
            return 1;
        case ReduceOp::kMax:
            return has_infinity ? -std::numeric_limits<V>::infinity()
                                : std::numeric_limits<V>::lowest();
        case ReduceOp::kMin:
            return has_infinity ? std::numeric_limits<V>::infinity()
                                : std::numeric_limits<V>::max();
    }
    return 0;
}

template <class V>
V combine(ReduceOp fold, V a, V b) {
    switch (fold) {
        case ReduceOp::kSum:
            return a + b;
        case ReduceOp::kProduct:
            return a * b;
        case ReduceOp::kMax:
            return max(a, b);
        case ReduceOp::kMin:
            return min(a, b);
    }
    return a;
}

template <class V>
void run_fold(const OpDef& op, const HostTensor& input, HostTensor& output) {
    const Shape &from = input.shape(), &to = output.shape();
    const std::vector<V> data = elements_of<V>(input);
    std::vector<V> totals(static_cast<size_t>(output.element_count()), neutral<V>(op.reduce));
    for (int64_t i = 0; i < input.element_count(); ++i) {
        int64_t rest = i, at = 0, stride = 1;
        for (int axis = from.rank() - 1; axis >= 0; --axis) {
            if (to[axis].count != 1) at += rest % from[axis].count * stride;
            rest /= from[axis].count;
            stride *= to[axis].count;
        }
        V& total = totals[static_cast<size_t>(at)];
        total = combine(op.reduce, total, data[static_cast<size_t>(i)]);
    }
    const bool is_empty = input.element_count() == 0;
    for (size_t i = 0; i < totals.size(); ++i) {
        // An extremum of no elements is the end of the type's range: set() saturates.
        if (is_empty)
            output.set(static_cast<int64_t>(i), static_cast<double>(totals[i]));
        else
            store(output, static_cast<int64_t>(i), totals[i]);
    }
}

bool computes_in_double(const OpDef& op, Operands inputs, const HostTensor& output) {
    bool any_floating = is_floating(output.dtype());
    for (const HostTensor* t : inputs) any_floating = any_floating || is_floating(t->dtype());
    if (op.op_class == OpClass::kReduce) return any_floating;
    if (op.compute.on_integers == nullptr) return true;
    return any_floating && op.compute.on_doubles != nullptr;
}

// Runs a composite as its decomposition, node by node.
Result<std::vector<HostTensor>> run_decomposition(const OpDef& op, const Attrs& attrs,
                                                  Operands inputs) {
    Trace trace{std::string(op.name)};
    std::vector<Tensor> traced;
    std::vector<HostTensor> copies;
    for (const HostTensor* t : inputs) {
        traced.push_back(trace.input(std::to_string(traced.size()), t->shape(), t->dtype()));
        copies.push_back(*t);
    }
    DecomposeContext call{trace, attrs, traced};
    const std::vector<Tensor> results = op.decompose(call);
    for (size_t i = 0; i < results.size(); ++i) trace.output(std::to_string(i), results[i]);
    HEARTH_ASSIGN(const Graph graph, trace.build());
    return evaluate(graph, copies);
}

// The attributes with shapes resolved for a batch of `rows`.
Attrs at_rows(const Attrs& attrs, int64_t rows) {
    Attrs fixed = attrs;
    for (const Attr& a : attrs.all())
        if (const auto* shape = std::get_if<Shape>(&a.value))
            fixed.set(a.name, shape->resolve(rows));
    return fixed;
}

}  // namespace

Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& symbolic_attrs,
                                              Operands inputs, int64_t rows) {
    const Attrs attrs = at_rows(symbolic_attrs, rows);
    std::vector<TensorType> types, results;
    for (const HostTensor* t : inputs) types.push_back({t->dtype(), t->shape()});
    if (Status s = infer_types(op, attrs, types, results); !s.ok()) return s.with_context(op.name);
    if (op.reference == nullptr && op.decompose != nullptr)
        return run_decomposition(op, attrs, inputs);

    std::vector<HostTensor> outputs;
    for (const TensorType& type : results) outputs.emplace_back(type.dtype, type.shape);
    if (op.reference != nullptr) {
        std::vector<HostTensor> copies;
        for (const HostTensor* t : inputs) copies.push_back(*t);
        ReferenceContext call{attrs, copies, outputs};
        op.reference(call);
    } else if (computes_in_double(op, inputs, outputs[0])) {
        if (op.op_class == OpClass::kReduce)
            run_fold<double>(op, *inputs[0], outputs[0]);
        else
            run_at<double>(op, attrs, inputs, outputs[0]);
    } else {
        if (op.op_class == OpClass::kReduce)
            run_fold<int64_t>(op, *inputs[0], outputs[0]);
        else
            run_at<int64_t>(op, attrs, inputs, outputs[0]);
    }
    return outputs;
}

Result<std::vector<HostTensor>> evaluate_node(const OpDef& op, const Attrs& attrs,
                                              std::span<const HostTensor> inputs, int64_t rows) {
    std::vector<const HostTensor*> pointers;
    for (const HostTensor& t : inputs) pointers.push_back(&t);
    return evaluate_node(op, attrs, Operands(pointers), rows);
}

namespace {

std::string typed(DType dtype, const Shape& shape) {
    return std::string(name_of(dtype)) + to_string(shape);
}

HostTensor initial_values(const Value& v) {
    return v.data ? *v.data : HostTensor(v.dtype, v.shape);
}

// The contents of a graph's values, as they are computed.  Leaves are borrowed.
class Contents {
  public:
    Contents(const Graph& graph, int64_t rows)
        : graph_(graph), rows_(rows), computed_(graph.values.size()), known_(graph.values.size()) {
        for (ValueId id = 0; id < graph.values.size(); ++id)
            if (graph.values[id].kind == ValueKind::kConstant)
                known_[id] = graph.values[id].data.get();
    }

    /// Sets an input, param or state to `tensor`, which must outlive this.
    Status set(ValueId id, const HostTensor& tensor) {
        const Value& v = graph_.values[id];
        if (tensor.dtype() != v.dtype || tensor.shape() != v.shape.resolve(rows_))
            return invalid_argument("'" + v.name + "' is " + typed(v.dtype, v.shape) + " with " +
                                    std::to_string(rows_) + " rows, found " +
                                    typed(tensor.dtype(), tensor.shape()));
        known_[id] = &tensor;
        return {};
    }

    Status run() {
        for (const Node& node : graph_.nodes) {
            std::vector<const HostTensor*> operands;
            for (ValueId v : node.inputs) operands.push_back(known_[v]);
            HEARTH_ASSIGN(std::vector<HostTensor> results,
                          evaluate_node(*node.op, node.attrs, Operands(operands), rows_));
            for (size_t i = 0; i < node.outputs.size(); ++i) {
                const ValueId id = node.outputs[i];
                computed_[id] = std::move(results[i]);
                known_[id] = &*computed_[id];
            }
        }
        return {};
    }

    const HostTensor& of(ValueId id) const { return *known_[id]; }

  private:
    const Graph& graph_;
    int64_t rows_;
    std::vector<std::optional<HostTensor>> computed_;
    std::vector<const HostTensor*> known_;
};

bool persists(const Value& v) {
    return v.kind == ValueKind::kParam || v.kind == ValueKind::kState;
}

}  // namespace

NamedTensors initial_weights(const Graph& graph) {
    NamedTensors weights;
    for (const Value& v : graph.values)
        if (persists(v)) weights.emplace(v.name, initial_values(v));
    return weights;
}

Result<NamedTensors> interpret(const Graph& graph, const NamedTensors& inputs,
                               NamedTensors& weights, int64_t rows) {
    weights.merge(initial_weights(graph));
    Contents contents(graph, rows);
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const Value& v = graph.values[id];
        if (v.kind == ValueKind::kInput) {
            const auto given = inputs.find(v.name);
            if (given == inputs.end()) return invalid_argument("input '" + v.name + "' is missing");
            HEARTH_TRY(contents.set(id, given->second));
        } else if (persists(v)) {
            HEARTH_TRY(contents.set(id, weights.find(v.name)->second));
        }
    }
    HEARTH_TRY(contents.run());
    NamedTensors outputs;
    for (const GraphOutput& o : graph.outputs) outputs.emplace(o.name, contents.of(o.value));
    // All new contents are read before the first is written: an update may read another's old
    // value.
    NamedTensors updated;
    for (const Assignment& u : graph.updates) {
        const Value& target = graph.values[u.target];
        NamedTensors& where = target.kind == ValueKind::kInput ? outputs : updated;
        where.emplace(target.name, contents.of(u.value));
    }
    for (auto& [name, tensor] : updated) weights.find(name)->second = std::move(tensor);
    return outputs;
}

Result<std::vector<HostTensor>> evaluate(const Graph& graph, std::span<const HostTensor> inputs,
                                         int64_t rows) {
    if (inputs.size() != graph.inputs.size())
        return invalid_argument("the graph has " + std::to_string(graph.inputs.size()) +
                                " inputs, found " + std::to_string(inputs.size()));
    const NamedTensors weights = initial_weights(graph);
    Contents contents(graph, rows);
    for (ValueId id = 0; id < graph.values.size(); ++id)
        if (persists(graph.values[id]))
            HEARTH_TRY(contents.set(id, weights.find(graph.values[id].name)->second));
    for (size_t i = 0; i < inputs.size(); ++i) HEARTH_TRY(contents.set(graph.inputs[i], inputs[i]));
    HEARTH_TRY(contents.run());
    std::vector<HostTensor> outputs;
    for (const GraphOutput& o : graph.outputs) outputs.push_back(contents.of(o.value));
    return outputs;
}

}  // namespace hearth
