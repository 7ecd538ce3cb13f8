// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Prints a Program as a human-readable listing.

#include "core/portable.hpp"
#include "program/variable_kind.hpp"

#include <cstdarg>
#include <cstdio>

namespace hearth {

namespace {

HEARTH_PRINTF(2, 3) void line(std::string& out, const char* format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    out.append(text).append("\n");
}

unsigned long long wide(uint64_t value) {
    return value;
}

/// Prints an extent: "256", "64*batch", "16 + 64*batch".
std::string to_string(const Extent& extent) {
    if (extent.is_batch == 0) return std::to_string(extent.fixed);
    const std::string rows = std::to_string(extent.is_batch) + "*batch";
    return extent.fixed == 0 ? rows : std::to_string(extent.fixed) + " + " + rows;
}

/// Prints an operand: "r arena[256, +1024)", "w out", "rw weights[0, +64)".
std::string to_string(const Program& program, const Operand& operand) {
    const char* access = operand.access == Access::kRead    ? "r "
                         : operand.access == Access::kWrite ? "w "
                                                            : "rw ";
    const std::string bytes = ", +" + to_string(operand.bytes) + ")";
    const std::string place = "[" + std::to_string(operand.offset) + bytes;
    switch (operand.region) {
        case Region::kArena:
            return access + ("arena" + place);
        case Region::kWeights:
            return access + ("weights" + place);
        case Region::kExternal:
            return access + program.bindings[operand.binding].name;
        case Region::kRun:
            return access + std::string("run");
    }
    return access;
}

std::string to_string(const GridAxis& axis) {
    if (axis.work == Extent{1, 0} && axis.tile == 1) return "1";
    return "ceil((" + to_string(axis.work) + ")/" + std::to_string(axis.tile) + ")";
}

/// Does not use line(), whose length is limited: there may be many names.
std::string elements_line(const Binding& binding) {
    std::string names;
    for (const std::string& name : binding.elements) names += (names.empty() ? "" : ", ") + name;
    return "  elements of " + binding.name + ": " + names + "\n";
}

void dump_command(std::string& out, const Program& program, const Command& command,
                  uint32_t index) {
    if (command.kind == CommandKind::kBarrier) return line(out, "  %4u -------- barrier", index);
    const char* what = command.kind == CommandKind::kDispatch
                           ? program.kernels[command.kernel].name.c_str()
                       : command.kind == CommandKind::kCopy ? "copy"
                                                            : "fill";
    line(out, "  %4u %s  %s", index, what, command.label.c_str());
    std::string operands;
    for (const Operand& operand : program.operands_of(command))
        operands += (operands.empty() ? "" : "; ") + to_string(program, operand);
    line(out, "         %s", operands.c_str());
    if (command.kind == CommandKind::kDispatch)
        line(out, "         grid %s x %s x %s, %llu flops, %llu bytes",
             to_string(command.grid[0]).c_str(), to_string(command.grid[1]).c_str(),
             to_string(command.grid[2]).c_str(), wide(command.flops), wide(command.bytes_moved));
}

}  // namespace

std::string dump(const Program& program) {
    std::string out;
    line(out, "program %016llx  device target %s  batch 1..%llu  %s%s%s", wide(program.hash),
         program.device_target.c_str(), wide(program.max_batch_size),
         program.binding_model == BindingModel::kDeviceAddress ? "device addresses"
                                                               : "push descriptors",
         program.storage.bits16 ? "  16-bit storage" : "",
         program.storage.bits8 ? "  8-bit storage" : "");
    line(out, "arena %llu bytes, weights %llu bytes, initial data %zu bytes",
         wide(program.arena_bytes), wide(program.weights_bytes), program.data.size());
    line(out, "slots");
    for (const Variable& variable : program.variables)
        line(out, "  %-20s [%llu, +%llu) %s %s %s%s", name_of(variable.kind), wide(variable.offset),
             wide(variable.bytes), std::string(name_of(variable.dtype)).c_str(),
             to_string(variable.shape).c_str(), variable.name.c_str(),
             variable.data_offset == kZeroFilled ? " (zeros)" : "");
    line(out, "bindings");
    for (const Binding& binding : program.bindings)
        line(out, "  %-6s %s %s %s, %s bytes",
             binding.direction == Direction::kInput    ? "input"
             : binding.direction == Direction::kOutput ? "output"
                                                       : "in-out",
             std::string(name_of(binding.dtype)).c_str(), to_string(binding.shape).c_str(),
             binding.name.c_str(), to_string(binding.bytes).c_str());
    for (const Binding& binding : program.bindings)
        if (!binding.elements.empty()) out += elements_line(binding);
    line(out, "kernels");
    for (const Kernel& kernel : program.kernels)
        line(out, "  %s  %u operands, %u words, local size %ux%ux%u, %zu words of SPIR-V",
             kernel.name.c_str(), kernel.operand_count, kernel.word_count, kernel.local_size[0],
             kernel.local_size[1], kernel.local_size[2], kernel.spirv.size());
    for (const Entry& entry : program.entries) {
        uint32_t dispatches = 0, barriers = 0;
        for (const Command& command : program.commands_of(entry)) {
            dispatches += command.kind == CommandKind::kDispatch;
            barriers += command.kind == CommandKind::kBarrier;
        }
        line(out, "entry %s  arena [%llu, +%llu)  %u dispatches, %u barriers", entry.name.c_str(),
             wide(entry.arena_offset), wide(entry.arena_bytes), dispatches, barriers);
        for (uint32_t i = 0; i < entry.command_count; ++i)
            dump_command(out, program, program.commands[entry.first_command + i], i);
    }
    return out;
}

}  // namespace hearth
