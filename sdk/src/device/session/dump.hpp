// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Layout of a dump of one recording, the same in the readback and in the file. record.cpp copies
// the data, dump.cpp writes the .safetensors file.

#pragma once

#include "program/view.hpp"

#include <hearth/hearth.h>

namespace hearth::runtime {

class Session;

/// Sources of a dump's items, and when they are copied.
enum class DumpPart {
    kVariableBefore,  ///< each variable, before the first command
    kInput,           ///< each input, before the first command
    kCommand,         ///< each operand that the chosen command writes, right after it
    kOutput,          ///< each binding that is written, after the last command
    kVariableAfter,   ///< each variable that the entry writes, after the last command
};

struct DumpItem {
    DumpPart part = DumpPart::kVariableBefore;
    uint32_t index = 0;   ///< of the variable, binding or operand
    uint64_t offset = 0;  ///< in the readback, a multiple of 16
    uint64_t bytes = 0;
};

/// True if a dump can hold the results of `step`: any command but a barrier, or HEARTH_NO_COMMAND.
inline bool is_dump_command(const ProgramView& view, const file::EntryRecord& entry,
                            uint32_t command) {
    return command == HEARTH_NO_COMMAND ||
           (command < entry.commands.count &&
            view.commands_of(entry)[command].kind != static_cast<uint32_t>(CommandKind::kBarrier));
}

/// True if a command of the entry writes to the variable.
bool writes_variable(const ProgramView& view, const file::EntryRecord& entry,
                     const file::VariableRecord& variable);
/// True if a command of the entry writes the binding, or it is an output.
bool writes_binding(const ProgramView& view, const file::EntryRecord& entry, uint32_t binding);

/// Calls visit(DumpItem) for each item of a dump of the entry at batch size `rows`. Returns its
/// size. step: HEARTH_NO_COMMAND, or one that is_dump_command() allows.
template <class Visit>
uint64_t for_each_dumped(const ProgramView& view, uint32_t entry_index, uint64_t rows,
                         uint32_t command, Visit visit) {
    const file::EntryRecord& entry = view.entries()[entry_index];
    uint64_t at = 0;
    const auto add = [&](DumpPart part, uint32_t index, uint64_t bytes) {
        if (bytes == 0) return;
        visit(DumpItem{part, index, at, bytes});
        at += (bytes + 15) / 16 * 16;
    };
    const std::span<const file::VariableRecord> variables = view.variables();
    const std::span<const uint32_t> bindings = view.bindings_of(entry);
    for (uint32_t s = 0; s < variables.size(); ++s)
        add(DumpPart::kVariableBefore, s, variables[s].bytes);
    for (const uint32_t b : bindings)
        if (view.bindings()[b].direction != static_cast<uint32_t>(Direction::kOutput))
            add(DumpPart::kInput, b, extent_at(view.bindings()[b].bytes, rows));
    if (command != HEARTH_NO_COMMAND) {
        const auto operands = view.operands_of(view.commands_of(entry)[command]);
        for (uint32_t i = 0; i < operands.size(); ++i)
            if ((operands[i].access & static_cast<uint32_t>(Access::kWrite)) != 0)
                add(DumpPart::kCommand, i, extent_at(operands[i].bytes, rows));
    }
    for (const uint32_t b : bindings)
        if (writes_binding(view, entry, b))
            add(DumpPart::kOutput, b, extent_at(view.bindings()[b].bytes, rows));
    for (uint32_t s = 0; s < variables.size(); ++s)
        if (writes_variable(view, entry, variables[s]))
            add(DumpPart::kVariableAfter, s, variables[s].bytes);
    return at;
}

/// Implements hearth_dump_encode.
hearth_result encode_dump(Session& session, const hearth_dump_info& info, std::byte* out,
                          uint64_t* byte_count);

}  // namespace hearth::runtime
