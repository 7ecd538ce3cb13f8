// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates tensors of a trace with the reference interpreter or a given backend.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "core/out_of_memory.hpp"

#include <hearth/eval.hpp>

#include <algorithm>
#include <cstdio>
#include <string>

namespace hearth {

namespace {

/// The subgraph that computes the tensors, with outputs "0", "1", ... and no updates.
Result<Graph> graph_of(std::span<const Tensor> tensors) {
    Trace* const trace = tensors[0].trace();
    if (trace == nullptr)
        return invalid_argument(
            "eval: the tensor belongs to no trace; make it by operators on tensors of a Trace");
    if (!trace->status().ok()) return trace->status().with_context("eval");
    Graph graph = trace->graph();
    graph.inputs.clear();
    graph.outputs.clear();
    graph.updates.clear();
    for (const Tensor& t : tensors) {
        if (t.trace() != trace || !t.ok())
            return invalid_argument(
                "eval: the tensors belong to different traces; evaluate those of one trace at a "
                "time");
        graph.outputs.push_back({std::to_string(graph.outputs.size()), t.value()});
    }
    graph = canonical(graph);
    for (ValueId v = 0; v < graph.values.size(); ++v)
        if (graph.value(v).kind == ValueKind::kInput) graph.inputs.push_back(v);
    return graph;
}

/// Replaces initial values by `weights`.
Status set_weights(Graph& graph, const NamedTensors& weights) {
    for (Value& v : graph.values) {
        const auto known = weights.find(v.name);
        const bool persists = v.kind == ValueKind::kParam || v.kind == ValueKind::kState;
        if (!persists || known == weights.end()) continue;
        if (known->second.dtype() != v.dtype || known->second.shape() != v.shape)
            return invalid_argument("eval: '" + v.name + "' is " + std::string(name_of(v.dtype)) +
                                    to_string(v.shape) + ", the weight " +
                                    std::string(name_of(known->second.dtype())) +
                                    to_string(known->second.shape()));
        v.data = std::make_shared<const HostTensor>(known->second);
    }
    return {};
}

Result<NamedTensors> run(Graph graph, const EvalOptions& options) {
    NamedTensors inputs;
    for (ValueId v : graph.inputs)
        if (const auto given = options.inputs.find(graph.value(v).name);
            given != options.inputs.end())
            inputs.insert(*given);
    if (!options.backend) {
        NamedTensors weights;
        return interpret(graph, inputs, weights, options.batch_size);
    }
    Trace entry("eval");
    graph.name = "eval";
    mutable_graph(entry) = std::move(graph);
    return options.backend(entry, inputs, options.batch_size);
}

}  // namespace

Result<std::vector<HostTensor>> eval(std::span<const Tensor> tensors, const EvalOptions& options) {
    if (tensors.empty()) return std::vector<HostTensor>();
    return or_out_of_memory([&]() -> Result<std::vector<HostTensor>> {
        HEARTH_ASSIGN(Graph graph, graph_of(tensors));
        HEARTH_TRY(set_weights(graph, options.weights));
        HEARTH_ASSIGN(NamedTensors outputs, run(std::move(graph), options));
        std::vector<HostTensor> values;
        for (size_t i = 0; i < tensors.size(); ++i) {
            const auto at = outputs.find(std::to_string(i));
            if (at == outputs.end())
                return internal_error("eval: the backend returned no output " + std::to_string(i));
            values.push_back(std::move(at->second));
        }
        return values;
    });
}

Result<HostTensor> eval(const Tensor& tensor, const EvalOptions& options) {
    HEARTH_ASSIGN(std::vector<HostTensor> values, eval(std::span(&tensor, 1), options));
    return std::move(values[0]);
}

namespace {

/// Elements shown at each end of a longer axis.
constexpr int64_t kShownAtEnds = 4;

void append_axis(const HostTensor& x, int axis, int64_t first, std::string& text) {
    if (axis == x.shape().rank()) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.6g", x.get(first));
        text += digits;
        return;
    }
    int64_t stride = 1;
    for (int a = axis + 1; a < x.shape().rank(); ++a) stride *= x.shape()[a].count;
    const int64_t count = x.shape()[axis].count;
    text += '[';
    for (int64_t i = 0; i < count; ++i) {
        if (i > 0) text += ", ";
        if (i == kShownAtEnds && count > 2 * kShownAtEnds + 1) {
            text += "...";
            i = count - kShownAtEnds - 1;
            continue;
        }
        append_axis(x, axis + 1, first + i * stride, text);
    }
    text += ']';
}

}  // namespace

std::string to_string(const Tensor& tensor, const EvalOptions& options) {
    EvalOptions filled = options;
    std::string drawn;
    if (tensor.ok())
        for (const Value& v : tensor.trace()->graph().values) {
            if (v.kind != ValueKind::kInput || filled.inputs.contains(v.name)) continue;
            const Shape shape = v.shape.resolve(options.batch_size);
            const Init init = is_floating(v.dtype) ? Init::normal(0, 1) : Init::zeros();
            filled.inputs.emplace(v.name, init.make(v.name, v.dtype, shape));
            drawn += (drawn.empty() ? "" : ", ") + v.name;
        }
    const Result<HostTensor> value = eval(tensor, filled);
    if (!value.ok()) return value.status().message();
    const std::string& name = tensor.trace()->graph().value(tensor.value()).name;
    std::string text = name.empty() ? "" : name + ": ";
    text += std::string(name_of(value->dtype())) + to_string(value->shape()) + " = ";
    append_axis(*value, 0, 0, text);
    return drawn.empty() ? text : text + "  (random inputs: " + drawn + ")";
}

std::string parameter_table(const Trace& trace) {
    std::vector<const Value*> params;
    size_t width = 0;
    for (const Value& v : trace.graph().values)
        if (v.kind == ValueKind::kParam) {
            params.push_back(&v);
            width = std::max(width, v.name.size());
        }
    std::string text;
    int64_t total = 0;
    for (const Value* const v : params) {
        const int64_t elements = v->shape.element_count().count;
        total += elements;
        text += v->name + std::string(width - v->name.size() + 2, ' ') +
                std::string(name_of(v->dtype)) + to_string(v->shape) + "  " +
                std::to_string(elements) + '\n';
    }
    return text + std::to_string(params.size()) + " params, " + std::to_string(total) +
           " elements\n";
}

}  // namespace hearth
