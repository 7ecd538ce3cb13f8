// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writes a planned entry into the flat tables of the Program: commands, operands, words and
// barriers.

#include "compiler/plan/stages.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth::planning {

namespace {

class EntryEmitter {
  public:
    EntryEmitter(const EntryPlan& plan, uint64_t arena_offset, Program& program)
        : plan_(plan), program_(program) {
        entry_.name = plan.lowered->name;
        entry_.first_command = static_cast<uint32_t>(program.commands.size());
        entry_.arena_offset = arena_offset;
        entry_.arena_bytes = plan.arena_bytes;
        for (ValueId id : plan.graph->inputs) entry_.bindings.push_back(plan.tables->place_of[id]);
        entry_.bindings.insert(entry_.bindings.end(), plan.tables->output_bindings.begin(),
                               plan.tables->output_bindings.end());
    }

    void emit() {
        const std::vector<bool> barriers = barriers_before(ranges_by_interval());
        uint32_t intervals_begun = 0;
        for (const Operation& op : plan_.operations) {
            for (; intervals_begun <= op.interval; ++intervals_begun)
                if (barriers[intervals_begun]) {
                    Command barrier;
                    barrier.label = "barrier";
                    program_.commands.push_back(std::move(barrier));
                }
            emit_command(op);
        }
        entry_.command_count =
            static_cast<uint32_t>(program_.commands.size()) - entry_.first_command;
        program_.entries.push_back(std::move(entry_));
    }

  private:
    Operand operand_of(const StorageUse& use) const {
        Operand operand;
        operand.access = use.access;
        if (use.storage == kRunStorage) {
            operand.region = Region::kRun;
            operand.bytes = {sizeof(RunBlock), 0};
            return operand;
        }
        const Storage& storage = plan_.storages[use.storage];
        operand.region = storage.region;
        operand.bytes = storage.bytes;
        if (storage.region == Region::kExternal) operand.binding = storage.index;
        operand.offset =
            storage.offset + (storage.region == Region::kArena ? entry_.arena_offset : 0);
        return operand;
    }

    std::vector<std::vector<ByteRange>> ranges_by_interval() const {
        std::vector<std::vector<ByteRange>> intervals;
        for (const Operation& op : plan_.operations) {
            HEARTH_ASSERT(op.interval + 1 >= intervals.size());
            intervals.resize(op.interval + 1);
            for (const StorageUse& use : op.uses) {
                const Operand o = operand_of(use);
                intervals[op.interval].push_back({o.region, o.binding, o.offset,
                                                  o.offset + o.bytes.at(program_.max_batch_size),
                                                  use.writes()});
            }
        }
        return intervals;
    }

    void emit_command(const Operation& op) {
        Command command;
        command.label = op.label;
        command.first_operand = static_cast<uint32_t>(program_.operands.size());
        command.operand_count = static_cast<uint32_t>(op.uses.size());
        command.first_word = static_cast<uint32_t>(program_.words.size());
        for (const StorageUse& use : op.uses) {
            program_.operands.push_back(operand_of(use));
            command.operand_values.push_back(use.value);
        }
        if (op.is_copy()) {
            command.kind = CommandKind::kCopy;
            command.bytes_moved = 2 * program_.operands.back().bytes.at(program_.max_batch_size);
            copy_by_kernel(command);
        } else {
            const KernelCall& call = plan_.lowered->calls[op.call];
            command.kind = CommandKind::kDispatch;
            command.kernel = call.kernel;
            command.word_count = static_cast<uint32_t>(call.words.size());
            program_.words.insert(program_.words.end(), call.words.begin(), call.words.end());
            command.grid = call.grid;
            command.flops = call.flops;
            command.bytes_moved = call.bytes_moved;
            command.computes = call.computes;
            Kernel& kernel = program_.kernels[call.kernel];
            for (uint32_t i = 0; i < kernel.located_count; ++i)
                kernel.spec_constants.push_back(
                    {i, locate(program_.operands[command.first_operand + i])});
        }
        program_.commands.push_back(std::move(command));
    }

    /// Turns a copy into a dispatch of the copy kernel, if the program has one and the copy is a
    /// fixed number of 32-bit words within the arena and the weights.
    void copy_by_kernel(Command& command) {
        const auto kernel = std::find_if(program_.kernels.begin(), program_.kernels.end(),
                                         [](const Kernel& k) { return k.name == kCopyKernel; });
        if (kernel == program_.kernels.end()) return;
        const std::span<const Operand> operands = program_.operands_of(command);
        const Extent bytes = operands[0].bytes;
        const uint64_t words = bytes.fixed / sizeof(uint32_t);
        const bool is_ours = std::all_of(operands.begin(), operands.end(), [](const Operand& o) {
            return o.region == Region::kArena || o.region == Region::kWeights;
        });
        constexpr uint64_t kMostGroups = 65535;  // guaranteed by every device
        const uint32_t threads = kernel->local_size[0];
        if (!is_ours || bytes.is_batch != 0 || bytes.fixed % sizeof(uint32_t) != 0 ||
            words > kMostGroups * threads)
            return;
        command.kind = CommandKind::kDispatch;
        command.kernel = static_cast<uint32_t>(kernel - program_.kernels.begin());
        command.grid[0] = {{words, 0}, threads};
        command.word_count = 1;
        program_.words.push_back(static_cast<uint32_t>(words));
    }

    const EntryPlan& plan_;
    Program& program_;
    Entry entry_;
};

}  // namespace

void emit_entry(const EntryPlan& plan, uint64_t arena_offset, Program& program) {
    EntryEmitter(plan, arena_offset, program).emit();
}

}  // namespace hearth::planning
