// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles graphs to a C header and source file.

#include "compiler/driver/cook_c.hpp"

#include "compiler/driver/compile.hpp"
#include "compiler/print/c_program.hpp"
#include "core/out_of_memory.hpp"
#include "program/brain.hpp"

namespace hearth {

namespace {

struct BrainHashes {
    uint64_t schema = 0, alias_schema = 0, parent = 0;
};

/// Hashes of brains, which depend on a program's variables and bindings but not on its kernels.
Result<BrainHashes> brain_hashes(const Program& program) {
    Program tables;
    tables.storage = program.storage;
    tables.max_batch_size = program.max_batch_size;
    tables.weights_bytes = program.weights_bytes;
    tables.bindings = program.bindings;
    tables.variables = program.variables;
    for (const Entry& entry : program.entries) {
        Entry& copy = tables.entries.emplace_back();
        copy.name = entry.name;
        copy.bindings = entry.bindings;
    }
    const std::vector<std::byte> bytes = save_program_without_data(tables, program.data.size());
    ProgramView view;
    ViewError error;
    if (!view.open(bytes, &error, program.data)) return internal_error(error.text.c_str());
    return BrainHashes{brain_schema_hash(view), brain_schema_hash(view, HashedNames::kAlias),
                       brain_parent_hash(view)};
}

}  // namespace

Result<CProgram> cook_c_of(std::vector<Graph> graphs, const CompileToCOptions& options,
                           Program* program) {
    if (options.cpu_isa == CpuIsa::kNone)
        return invalid_argument("compile_to_c: cpu_isa is kNone; choose the CPU to compile for");
    CompileOptions compile_options;
    compile_options.caps = cpu_caps(options.cpu_isa);
    compile_options.max_batch_size = options.max_batch_size;
    compile_options.fuse_mlp = FuseMlp::kNever;
    compile_options.share_arena = options.share_arena;
    compile_options.keep_source = false;
    compile_options.quantize = options.quantize;
    compile_options.precision = options.precision;
    HEARTH_ASSIGN(CompiledProgram compiled, plan_graphs(std::move(graphs), compile_options));
    HEARTH_ASSIGN(const BrainHashes hashes, brain_hashes(compiled.program));
    HEARTH_ASSIGN(PrintedC printed,
                  print_c_program({.program = compiled.program,
                                   .bodies = compiled.bodies,
                                   .cpu = options.cpu_isa,
                                   .name = options.name,
                                   .schema_hash = hashes.schema,
                                   .parent_hash = hashes.parent,
                                   .alias_schema_hash = hashes.alias_schema,
                                   .has_weights_in_source = options.embed_weights}));
    CProgram cooked;
    cooked.header = std::move(printed.header);
    cooked.source = std::move(printed.source);
    cooked.weights = std::move(printed.weights);
    cooked.brain_bytes = printed.brain_bytes;
    cooked.graph_hash = compiled.program.graph_hash;
    cooked.weights_bytes = compiled.program.weights_bytes;
    cooked.arena_bytes = compiled.program.arena_bytes;
    cooked.kernel_count = static_cast<uint32_t>(compiled.program.kernels.size());
    for (const Command& step : compiled.program.commands)
        cooked.command_count += step.kind != CommandKind::kBarrier;
    cooked.quantized = std::move(compiled.quantized);
    if (program != nullptr) *program = std::move(compiled.program);
    return cooked;
}

Result<CProgram> compile_to_c(std::span<Trace* const> entries, const CompileToCOptions& options) {
    return or_out_of_memory([&]() -> Result<CProgram> {
        HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
        return cook_c_of(std::move(graphs), options);
    });
}

}  // namespace hearth
