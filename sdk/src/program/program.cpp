// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Program lookups, its content hash, and the operands that its kernels declare.

#include "program/program.hpp"

#include <hearth/core/hash.hpp>

#include <algorithm>

namespace hearth {

namespace {

void add(Hash& hash, const Extent& extent) {
    hash.number(extent.fixed).number(extent.is_batch);
}

void add(Hash& hash, const Shape& shape) {
    hash.number(shape.rank());
    for (Dim d : shape.dims()) hash.number(d.count).number(d.is_batch);
}

void add(Hash& hash, const Kernel& k) {
    hash.text(k.name).number(k.spirv.size()).bytes(std::as_bytes(std::span(k.spirv)));
    hash.number(k.spec_constants.size());
    for (const SpecConstant& c : k.spec_constants) hash.number(c.id).number(c.value);
    hash.number(k.operand_count).number(k.word_count).number(k.located_count);
    hash.number(k.access_bytes).number(k.operands.size());
    for (const KernelOperand& o : k.operands) {
        hash.number(static_cast<uint8_t>(o.access)).number(o.bytes_per_word);
        add(hash, o.bytes);
    }
    for (uint32_t extent : k.local_size) hash.number(extent);
    hash.number(k.needs_fp16_storage).number(k.needs_fp16_arithmetic);
    hash.number(k.needs_subgroup_arithmetic).number(k.needs_int8_storage);
    hash.number(static_cast<uint8_t>(k.needs_matrix_cores)).number(k.subgroup_size);
    hash.number(k.matrix.m).number(k.matrix.n).number(k.matrix.k);
    if (k.needs_workgroup_matrices) hash.number(true);
}

void add(Hash& hash, const Operand& o) {
    hash.number(static_cast<uint8_t>(o.region)).number(static_cast<uint8_t>(o.access));
    hash.number(o.binding).number(o.offset);
    add(hash, o.bytes);
}

void add(Hash& hash, const Command& s) {
    hash.number(static_cast<uint8_t>(s.kind)).number(s.kernel);
    hash.number(s.first_operand).number(s.operand_count);
    hash.number(s.first_word).number(s.word_count);
    for (const GridAxis& axis : s.grid) {
        add(hash, axis.work);
        hash.number(axis.tile);
    }
}

void add(Hash& hash, const Entry& e) {
    hash.text(e.name).number(e.first_command).number(e.command_count);
    hash.number(e.arena_offset).number(e.arena_bytes).number(e.bindings.size());
    for (uint32_t binding : e.bindings) hash.number(binding);
}

void add(Hash& hash, const Binding& b) {
    hash.text(b.name).number(static_cast<uint8_t>(b.direction));
    hash.number(static_cast<uint8_t>(b.dtype));
    add(hash, b.shape);
    add(hash, b.bytes);
    hash.number(b.elements.size());
    for (const std::string& name : b.elements) hash.text(name);
}

void add(Hash& hash, const Variable& s) {
    hash.text(s.name).number(static_cast<uint8_t>(s.kind)).number(static_cast<uint8_t>(s.dtype));
    add(hash, s.shape);
    hash.number(s.offset).number(s.bytes).number(s.data_offset);
}

template <class T>
void add_all(Hash& hash, const std::vector<T>& values) {
    hash.number(values.size());
    for (const T& value : values) add(hash, value);
}

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

uint64_t content_hash(const Program& program) {
    Hash hash;
    hash.number(program.format_version).text(program.device_target);
    hash.number(static_cast<uint8_t>(program.binding_model));
    hash.number(program.storage.bits16).number(program.storage.bits8);
    if (program.cpu != CpuIsa::kNone) hash.number(static_cast<uint8_t>(program.cpu));
    hash.number(program.max_batch_size).number(program.arena_bytes).number(program.weights_bytes);
    add_all(hash, program.kernels);
    add_all(hash, program.operands);
    hash.number(program.words.size()).bytes(std::as_bytes(std::span(program.words)));
    add_all(hash, program.commands);
    add_all(hash, program.entries);
    add_all(hash, program.bindings);
    add_all(hash, program.variables);
    hash.number(program.data.size()).bytes(program.data);
    return hash.value();
}

}  // namespace hearth
