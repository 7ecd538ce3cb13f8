// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compile/compile.hpp"

#include "codegen/lower.hpp"
#include "passes/pass.hpp"
#include "plan/plan.hpp"

namespace hearth {

uint64_t hash_of_graphs(std::span<const Graph> graphs) {
    Hash hash;
    for (const Graph& graph : graphs) hash.number(content_hash(graph));
    return hash.value();
}

Result<CompiledProgram> compile_graphs(std::vector<Graph> graphs, const CompileOptions& options) {
    const uint64_t graph_hash = hash_of_graphs(graphs);
    for (Graph& graph : graphs) {
        auto observe = [&](std::string_view stage, const Graph& g) {
            if (options.observer) options.observer(graph.name, stage, print(g));
        };
        observe("trace", graph);
        Result<Graph> passed = run_passes(
            graph,
            {.rows_capacity = options.rows_capacity,
             .caps = options.caps,
             .row_programs = options.fuse && options.binding_model == BindingModel::kDeviceAddress},
            observe);
        if (!passed.ok()) return passed.status().in("entry '" + graph.name + "'");
        graph = std::move(passed).value();
    }
    HEARTH_ASSIGN(LoweredProgram lowered, lower(graphs, {.caps = options.caps,
                                                         .binding_model = options.binding_model,
                                                         .rows_capacity = options.rows_capacity,
                                                         .fuse = options.fuse,
                                                         .keep_source = options.keep_source}));
    std::vector<std::string> notes = std::move(lowered.notes);
    HEARTH_ASSIGN(Program program, plan(graphs, std::move(lowered),
                                        {.rows_capacity = options.rows_capacity,
                                         .caps = options.caps,
                                         .share_arena = options.share_arena}));
    program.graph_hash = graph_hash;
    return CompiledProgram{std::move(program), std::move(graphs), std::move(notes)};
}

Result<std::vector<Graph>> finish_all(std::span<Trace* const> entries) {
    std::vector<Graph> graphs;
    for (Trace* entry : entries) {
        HEARTH_ASSIGN(Graph graph, entry->finish());
        graphs.push_back(std::move(graph));
    }
    return graphs;
}

Compiled describe(const Program& program) {
    Compiled result;
    result.bytes = save_program(program);
    result.hash = program.hash;
    result.listing = dump(program);
    result.weights_bytes = program.weights_bytes;
    result.arena_bytes = program.arena_bytes;
    result.kernel_count = static_cast<uint32_t>(program.kernels.size());
    for (const Step& step : program.steps) {
        result.dispatch_count += step.kind == StepKind::kDispatch;
        result.barrier_count += step.kind == StepKind::kBarrier;
    }
    return result;
}

Result<Compiled> compile(std::span<Trace* const> entries, const CompileOptions& options) {
    HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
    HEARTH_ASSIGN(const CompiledProgram compiled, compile_graphs(std::move(graphs), options));
    Compiled result = describe(compiled.program);
    result.notes = compiled.notes;
    return result;
}

}  // namespace hearth
