// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Program lookups, and the operands that its kernels declare.

#include "program/program.hpp"

#include <algorithm>

namespace hearth {

namespace {

template <class T>
const T* find_named(const std::vector<T>& values, std::string_view name) {
    for (const T& value : values)
        if (value.name == name) return &value;
    return nullptr;
}

}  // namespace

const Entry* Program::find_entry(std::string_view name) const {
    return find_named(entries, name);
}
const Variable* Program::find_variable(std::string_view name) const {
    return find_named(variables, name);
}

void declare_operands(Program& program) {
    std::vector<bool> was_declared;
    for (Kernel& kernel : program.kernels) was_declared.push_back(!kernel.operands.empty());
    for (const Command& command : program.commands) {
        if (command.kind != CommandKind::kDispatch || command.kernel >= program.kernels.size() ||
            was_declared[command.kernel])
            continue;
        std::vector<KernelOperand>& declared = program.kernels[command.kernel].operands;
        const bool is_first = declared.empty();
        const std::span<const Operand> given = program.operands_of(command);
        if (is_first) declared.resize(given.size());
        for (size_t i = 0; i < std::min(given.size(), declared.size()); ++i) {
            KernelOperand& d = declared[i];
            const Extent bytes = given[i].bytes;
            d.bytes = is_first ? bytes
                               : Extent{std::min(d.bytes.fixed, bytes.fixed),
                                        std::min(d.bytes.is_batch, bytes.is_batch)};
            const auto both = static_cast<Access>(static_cast<uint8_t>(d.access) &
                                                  static_cast<uint8_t>(given[i].access));
            d.access = is_first || both == Access{} ? given[i].access : both;
        }
    }
    for (Kernel& kernel : program.kernels)
        if (kernel.operands.empty()) kernel.operands.resize(kernel.operand_count);
}

}  // namespace hearth
