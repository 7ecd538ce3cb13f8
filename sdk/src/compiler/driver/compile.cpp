// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles graphs to a Program: passes, lowering, planning, and recomputation within a memory
// budget.

#include "compiler/driver/compile.hpp"

#include "compiler/codegen/lower.hpp"
#include "compiler/driver/device_caps.hpp"
#include "compiler/driver/native_program.hpp"
#include "compiler/driver/param_names.hpp"
#include "compiler/driver/tuning_data.hpp"
#include "compiler/passes/pack_leaves.hpp"
#include "compiler/passes/pass.hpp"
#include "compiler/passes/quantize_weights.hpp"
#include "compiler/passes/wide_types.hpp"
#include "compiler/plan/plan.hpp"
#include "core/device_model.hpp"
#include "core/out_of_memory.hpp"

#include <hearth/core/convert.hpp>

#include <algorithm>

namespace hearth {

uint64_t hash_of_graphs(std::span<const Graph> graphs) {
    Hash hash;
    for (const Graph& graph : graphs) hash.number(content_hash(graph));
    return hash.value();
}

namespace {

bool wants_fused_networks(const CompileOptions& options) {
    // On CPUs calls are cheap, and a fused network has no body.
    if (!options.fuse || options.caps.cpu_isa != CpuIsa::kNone) return false;
    if (options.fuse_mlp != FuseMlp::kAuto) return options.fuse_mlp == FuseMlp::kAlways;
    return !is_software(options.caps);
}

struct Planned {
    Program program;
    std::vector<std::string> remarks;
    std::vector<std::string> tunable;
    std::map<std::string, std::vector<std::string>> listed_variants;
    std::vector<std::shared_ptr<const Body>> bodies;
};

/// The variants of the options' tuning if it is for this device; otherwise adds a note with the
/// reason.
std::map<std::string, std::string> variants_of(const CompileOptions& options,
                                               std::vector<std::string>& remarks) {
    if (options.tuning.empty()) return {};
    Result<Tuning> tuning = parse_tuning(options.tuning);
    const std::string problem = tuning.ok() ? tuning->mismatch(options) : tuning.status().message();
    if (problem.empty()) return std::move(tuning->variants);
    remarks.push_back("tuning is ignored: " + problem);
    return {};
}

Result<Planned> lower_and_plan(const std::vector<Graph>& graphs, const CompileOptions& options,
                               bool spare_memory = false) {
    std::vector<std::string> remarks;
    HEARTH_ASSIGN(LoweredProgram lowered,
                  lower(graphs, {.caps = options.caps,
                                 .binding_model = options.binding_model,
                                 .rows_capacity = options.max_batch_size,
                                 .fuse = options.fuse,
                                 .fused_networks = wants_fused_networks(options),
                                 .spare_memory = spare_memory,
                                 .keep_source = options.keep_source.value_or(false),
                                 .variants = variants_of(options, remarks)}));
    remarks.insert(remarks.end(), lowered.notes.begin(), lowered.notes.end());
    std::vector<std::string> tunable = std::move(lowered.tunable);
    std::map<std::string, std::vector<std::string>> listed_variants =
        std::move(lowered.listed_variants);
    std::vector<std::shared_ptr<const Body>> bodies = std::move(lowered.bodies);
    HEARTH_ASSIGN(Program program, plan(graphs, std::move(lowered),
                                        {.max_batch_size = options.max_batch_size,
                                         .caps = options.caps,
                                         .share_arena = options.share_arena}));
    return Planned{std::move(program), std::move(remarks), std::move(tunable),
                   std::move(listed_variants), std::move(bodies)};
}

/// For each graph, its fraction of the estimated scratch memory of all.
std::vector<double> shares_of_memory(const std::vector<Graph>& graphs, const PassOptions& options) {
    std::vector<double> shares;
    double total = 1;
    for (const Graph& graph : graphs) {
        shares.push_back(static_cast<double>(estimated_scratch_bytes(graph, options)));
        total += shares.back();
    }
    for (double& share : shares) share /= total;
    return shares;
}

/// Recomputes values in `graphs` until the planned arena is within the budget.
Result<Planned> plan_within_budget(std::vector<Graph>& graphs, const CompileOptions& options) {
    HEARTH_ASSIGN(Planned planned, lower_and_plan(graphs, options));
    const uint64_t budget = options.arena_budget_bytes;
    const PassOptions pass_options{.max_batch_size = options.max_batch_size, .caps = options.caps};
    const std::vector<Graph> originals = graphs;
    const std::vector<double> shares = shares_of_memory(originals, pass_options);
    uint64_t least = planned.program.arena_bytes;
    // The estimate ignores alignment and the planner's order, so targets are lowered step by step.
    for (const double aim : {1.0, 0.85, 0.7, 0.5, 0.3, 0.0}) {
        if (planned.program.arena_bytes <= budget) return planned;
        for (size_t i = 0; i < graphs.size(); ++i) {
            // With a shared arena each entry may use the whole budget.
            const double part = options.share_arena ? 1 : shares[i];
            const auto target = saturate_cast<uint64_t>(aim * part * static_cast<double>(budget));
            HEARTH_ASSIGN(graphs[i], rematerialize(originals[i], target, pass_options));
        }
        HEARTH_ASSIGN(planned, lower_and_plan(graphs, options, /*spare_memory=*/true));
        least = std::min(least, planned.program.arena_bytes);
    }
    if (planned.program.arena_bytes <= budget) return planned;
    return out_of_range("the arena takes at least " + std::to_string(least) +
                        " bytes even with recomputation; raise arena_budget_bytes, which is " +
                        std::to_string(budget));
}

/// Runs the passes on `graphs`, in place, and plans them within the budget if there is one.
/// most_parts: as PassOptions has it; passes are observed where it is 0.
Result<Planned> pass_and_plan(std::vector<Graph>& graphs, const CompileOptions& options,
                              int64_t most_parts) {
    for (Graph& graph : graphs) {
        auto observe = [&](std::string_view stage, const Graph& g) {
            if (options.on_pass && most_parts == 0) options.on_pass(graph.name, stage, print(g));
        };
        observe("trace", graph);
        Result<Graph> passed = run_passes(graph,
                                          {.max_batch_size = options.max_batch_size,
                                           .caps = options.caps,
                                           .fused_networks = wants_fused_networks(options),
                                           .any_operands = options.fuse,
                                           .precision = options.precision,
                                           .most_parts = most_parts},
                                          observe);
        if (!passed.ok()) return passed.status().with_context("entry '" + graph.name + "'");
        graph = std::move(passed).value();
    }
    CompileOptions device = options;
    HEARTH_ASSIGN(device.caps, with_wide_types(graphs, options));
    // Fused networks keep their values in words of 32 bits.
    if (device.caps.shader_int64) device.fuse_mlp = FuseMlp::kNever;
    return options.arena_budget_bytes == 0 ? lower_and_plan(graphs, device)
                                           : plan_within_budget(graphs, device);
}

}  // namespace

Result<CompiledProgram> compile_graphs(std::vector<Graph> graphs, const CompileOptions& options) {
    HEARTH_ASSIGN(CompiledProgram compiled, plan_graphs(std::move(graphs), options));
    if (options.caps.cpu_isa == CpuIsa::kNone) return compiled;
    HEARTH_TRY(make_cpu_program(compiled.program, compiled.bodies, options.caps.cpu_isa));
    if (!options.keep_source.value_or(true))
        for (Kernel& kernel : compiled.program.kernels) kernel.source.clear();
    return compiled;
}

Result<CompiledProgram> plan_graphs(std::vector<Graph> graphs, const CompileOptions& wanted) {
    HEARTH_TRY(check_device_caps(wanted.caps));
    CompileOptions options = wanted;
    if (!options.caps.buffer_device_address) options.binding_model = BindingModel::kDescriptor;
    HEARTH_ASSIGN(std::vector<QuantizedWeight> quantized,
                  quantize_weights(graphs, options.quantize));
    const uint64_t graph_hash = hash_of_graphs(graphs);
    HEARTH_TRY(pack_leaves(graphs, options.caps.narrow_storage()));
    const std::vector<Graph> packed =
        options.arena_budget_bytes != 0 ? graphs : std::vector<Graph>();
    Result<Planned> planned = pass_and_plan(graphs, options, 0);
    // Partial sums are the largest values of a training step that recomputation cannot free.
    for (const int64_t most_parts : {16, 4, 1}) {
        if (packed.empty() || planned.ok() || planned.status().code() != StatusCode::kOutOfRange)
            break;
        graphs = packed;
        planned = pass_and_plan(graphs, options, most_parts);
    }
    if (!planned.ok()) return planned.status();
    planned->program.graph_hash = graph_hash;
    return CompiledProgram{std::move(planned->program), std::move(graphs),
                           std::move(planned->remarks), std::move(quantized),
                           std::move(planned->tunable), std::move(planned->listed_variants),
                           std::move(planned->bodies)};
}

Result<std::vector<Graph>> finish_all(std::span<Trace* const> entries) {
    std::vector<Graph> graphs;
    for (Trace* entry : entries) {
        HEARTH_ASSIGN(Graph graph, entry->build());
        if (graph.outputs.empty() && graph.updates.empty())
            return invalid_argument(
                "trace '" + graph.name +
                "' has neither outputs nor updates; call Trace::output or assign");
        graphs.push_back(std::move(graph));
    }
    HEARTH_TRY(check_param_names(graphs));
    return graphs;
}

Compiled describe(const Program& program) {
    Compiled result;
    result.hash = program.hash;
    result.disassembly = dump(program);
    result.weights_bytes = program.weights_bytes;
    result.arena_bytes = program.arena_bytes;
    result.kernel_count = static_cast<uint32_t>(program.kernels.size());
    for (const Command& step : program.commands) {
        result.dispatch_count += step.kind == CommandKind::kDispatch;
        result.barrier_count += step.kind == CommandKind::kBarrier;
    }
    return result;
}

Result<Compiled> compile(std::span<Trace* const> entries, const CompileOptions& options) {
    return or_out_of_memory([&]() -> Result<Compiled> {
        HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
        HEARTH_ASSIGN(CompiledProgram compiled, compile_graphs(std::move(graphs), options));
        Compiled result = describe(compiled.program);
        result.bytes = save_program(compiled.program);
        result.remarks = std::move(compiled.remarks);
        result.quantized = std::move(compiled.quantized);
        result.tunable_kernels = std::move(compiled.tunable);
        return result;
    });
}

}  // namespace hearth
