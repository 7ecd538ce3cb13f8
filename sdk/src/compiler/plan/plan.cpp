// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs the stages of planning in order and verifies the result.

#include "compiler/plan/plan.hpp"

#include "compiler/plan/stages.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace hearth {

namespace {

using planning::EntryPlan;

Status check_arguments(std::span<const Graph> graphs, const LoweredProgram& lowered,
                       const PlanOptions& options) {
    if (graphs.size() != lowered.entries.size())
        return invalid_argument("there are " + std::to_string(graphs.size()) + " graphs for " +
                                std::to_string(lowered.entries.size()) + " entries");
    if (options.max_batch_size == 0 || options.max_batch_size > 0xffffffffu)
        return invalid_argument("max_batch_size is " + std::to_string(options.max_batch_size) +
                                "; it must be from 1 to 4294967295");
    if (!std::has_single_bit(options.caps.min_storage_buffer_offset_alignment))
        return invalid_argument("the buffer alignment is " +
                                std::to_string(options.caps.min_storage_buffer_offset_alignment) +
                                "; it must be a power of two");
    for (size_t e = 0; e < lowered.entries.size(); ++e)
        for (size_t other = 0; other < e; ++other)
            if (lowered.entries[e].name == lowered.entries[other].name)
                return invalid_argument("there are two entries named '" + lowered.entries[e].name +
                                        "'");
    return {};
}

void place_storages(EntryPlan& entry, const PlanOptions& options) {
    const std::vector<planning::Block> blocks = planning::find_blocks(entry, options);
    const planning::ArenaLayout layout =
        planning::place_in_arena(blocks, options.caps.min_storage_buffer_offset_alignment);
    for (size_t b = 0; b < blocks.size(); ++b)
        for (uint32_t storage : blocks[b].storages)
            entry.storages[storage].offset = layout.offsets[b];
    entry.arena_bytes = layout.size_bytes;
}

/// Drops the copy kernel if no command uses it: it is added before copies are known.
void leave_out_unused_copy(Program& program) {
    if (program.kernels.empty() || program.kernels.back().name != kCopyKernel) return;
    const auto last = static_cast<uint32_t>(program.kernels.size() - 1);
    const bool is_used = std::any_of(
        program.commands.begin(), program.commands.end(), [last](const Command& command) {
            return command.kind == CommandKind::kDispatch && command.kernel == last;
        });
    if (!is_used) program.kernels.pop_back();
}

}  // namespace

Result<Program> plan(std::span<const Graph> graphs, LoweredProgram lowered,
                     const PlanOptions& options) {
    HEARTH_TRY(check_arguments(graphs, lowered, options).with_context("plan"));
    auto tables = planning::make_tables(graphs, lowered.entries, options);
    if (!tables.ok()) return tables.status().with_context("plan");

    Program program;
    program.device_target = lowered.profile;
    program.binding_model = lowered.binding_model;
    program.storage = options.caps.narrow_storage();
    program.max_batch_size = options.max_batch_size;
    program.weights_bytes = tables->weights_bytes;
    program.variables = tables->variables;
    program.bindings = tables->bindings;
    program.data = std::move(tables->data);
    program.kernels = std::move(lowered.kernels);
    for (size_t e = 0; e < graphs.size(); ++e) {
        auto entry =
            planning::make_operations(graphs[e], lowered.entries[e], program.kernels, *tables, e);
        if (!entry.ok()) return entry.status().with_context("plan");
        planning::add_updates(*entry, *tables, options);
        planning::schedule(*entry, options);
        place_storages(*entry, options);

        const uint64_t arena_offset = options.share_arena ? 0 : program.arena_bytes;
        program.arena_bytes = std::max(program.arena_bytes, arena_offset + entry->arena_bytes);
        if (program.arena_bytes > options.caps.max_storage_buffer_range)
            return out_of_range("plan: the arena with entry '" + lowered.entries[e].name +
                                "' takes " + std::to_string(program.arena_bytes) +
                                " bytes, the largest buffer has " +
                                std::to_string(options.caps.max_storage_buffer_range));
        planning::emit_entry(*entry, arena_offset, program);
    }
    leave_out_unused_copy(program);
    declare_operands(program);
    program.hash = content_hash(program);
    HEARTH_TRY(verify_plan(program, graphs, lowered.entries, options));
    return program;
}

}  // namespace hearth
