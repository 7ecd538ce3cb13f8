// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Evaluates tensors of a trace with the reference interpreter or a given backend.

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/ir/graph.hpp"
#include "core/out_of_memory.hpp"

#include <hearth/eval.hpp>

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

}  // namespace hearth
