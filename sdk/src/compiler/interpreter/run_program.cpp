// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Runs a planned Program on the CPU, command by command, at its real memory offsets.

#include "compiler/interpreter/run_program.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

namespace hearth {

namespace {

std::vector<std::byte> to_device(const HostTensor& tensor, NarrowStorage storage) {
    const HostTensor held = tensor.cast(device_dtype(tensor.dtype(), storage));
    return {held.bytes().begin(), held.bytes().end()};
}

HostTensor from_device(std::span<const std::byte> bytes, DType dtype, const Shape& shape,
                       NarrowStorage storage) {
    HostTensor held(device_dtype(dtype, storage), shape);
    HEARTH_ASSERT(bytes.size() == held.bytes().size());
    std::ranges::copy(bytes, held.bytes().begin());
    return held.cast(dtype);
}

}  // namespace

ProgramMemory::ProgramMemory(const Program& program)
    : arena(program.arena_bytes, std::byte{0xff}),
      weights(program.weights_bytes),
      storage(program.storage) {
    for (const Variable& variable : program.variables)
        if (variable.data_offset != kZeroFilled)
            std::copy_n(program.data.begin() + static_cast<ptrdiff_t>(variable.data_offset),
                        variable.bytes, weights.begin() + static_cast<ptrdiff_t>(variable.offset));
}

HostTensor ProgramMemory::read(const Variable& variable) const {
    return from_device(std::span(weights).subspan(variable.offset, variable.bytes), variable.dtype,
                       variable.shape, storage);
}

void ProgramMemory::write(const Variable& variable, const HostTensor& contents) {
    HEARTH_ASSERT(contents.dtype() == variable.dtype && contents.shape() == variable.shape);
    std::ranges::copy(to_device(contents, storage),
                      weights.begin() + static_cast<ptrdiff_t>(variable.offset));
}

namespace {

class EntryRun {
  public:
    EntryRun(const Program& program, const Graph& graph, ProgramMemory& memory, int64_t rows)
        : program_(program),
          graph_(graph),
          memory_(memory),
          rows_(rows),
          external_(program.bindings.size()) {}

    Status bind(const Entry& entry, const NamedTensors& inputs) {
        for (uint32_t index : entry.bindings) {
            const Binding& binding = program_.bindings[index];
            const Shape shape = binding.shape.resolve(rows_);
            external_[index].assign(binding.bytes.at(static_cast<uint64_t>(rows_)),
                                    std::byte{0xff});
            if (binding.direction == Direction::kOutput) continue;
            const auto given = inputs.find(binding.name);
            if (given == inputs.end())
                return invalid_argument("input '" + binding.name + "' is missing");
            if (given->second.dtype() != binding.dtype || given->second.shape() != shape)
                return invalid_argument("input '" + binding.name + "' must be " +
                                        std::string(name_of(binding.dtype)) + to_string(shape) +
                                        ", found " + std::string(name_of(given->second.dtype())) +
                                        to_string(given->second.shape()));
            external_[index] = to_device(given->second, program_.storage);
        }
        return {};
    }

    Status run(const Entry& entry) {
        for (const Command& command : program_.commands_of(entry))
            if (Status s = run_command(command); !s.ok())
                return s.with_context("step '" + command.label + "'");
        return {};
    }

    NamedTensors outputs(const Entry& entry) const {
        NamedTensors results;
        for (uint32_t index : entry.bindings) {
            const Binding& binding = program_.bindings[index];
            if (binding.direction != Direction::kInput)
                results.emplace(binding.name,
                                from_device(external_[index], binding.dtype,
                                            binding.shape.resolve(rows_), program_.storage));
        }
        return results;
    }

  private:
    Status run_command(const Command& command) {
        switch (command.kind) {
            case CommandKind::kBarrier:
                return {};
            case CommandKind::kCopy:
                return copy(command);
            case CommandKind::kFill:
                return fill(command);
            case CommandKind::kDispatch:
                return dispatch(command);
        }
        return internal_error("unknown kind");
    }

    Result<std::span<std::byte>> bytes_of(const Operand& operand) {
        std::vector<std::byte>* region = nullptr;
        if (operand.region == Region::kArena) region = &memory_.arena;
        if (operand.region == Region::kWeights) region = &memory_.weights;
        if (operand.region == Region::kExternal && operand.binding < external_.size())
            region = &external_[operand.binding];
        const uint64_t size = operand.bytes.at(static_cast<uint64_t>(rows_));
        if (region == nullptr || operand.offset > region->size() ||
            size > region->size() - operand.offset)
            return internal_error("an operand of " + std::to_string(size) + " bytes at " +
                                  std::to_string(operand.offset) + " leaves its region");
        return std::span(*region).subspan(operand.offset, size);
    }

    Status copy(const Command& command) {
        const auto operands = program_.operands_of(command);
        HEARTH_ASSIGN(const std::span<std::byte> from, bytes_of(operands[0]));
        HEARTH_ASSIGN(const std::span<std::byte> to, bytes_of(operands[1]));
        if (from.size() != to.size()) return internal_error("a copy between unequal sizes");
        // memmove requires valid pointers, and a region without memory has none.
        if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
        return {};
    }

    Status fill(const Command& command) {
        HEARTH_ASSIGN(const std::span<std::byte> to, bytes_of(program_.operands_of(command)[0]));
        const uint32_t word = program_.words_of(command)[0];
        for (size_t i = 0; i + sizeof word <= to.size(); i += sizeof word)
            std::memcpy(to.data() + i, &word, sizeof word);
        return {};
    }

    /// Checks the command's debug tables, which readers of programs do not.
    Status check_debug_tables(const Command& command) const {
        const auto is_value = [&](ValueId v) { return v < graph_.values.size(); };
        const auto operands = program_.operands_of(command);
        bool names_values = command.operand_values.size() == operands.size() &&
                            std::ranges::all_of(command.computes, is_value);
        for (size_t i = 0; i < operands.size() && names_values; ++i)
            names_values =
                operands[i].region == Region::kRun || is_value(command.operand_values[i]);
        if (names_values) return {};
        return corrupt_data(
            "its debug tables were stripped, or name values that its graph lacks; compile the "
            "graph again");
    }

    Status dispatch(const Command& command) {
        HEARTH_TRY(check_debug_tables(command));
        known_.clear();
        const auto operands = program_.operands_of(command);
        for (size_t i = 0; i < operands.size(); ++i)
            if (operands[i].access != Access::kWrite && operands[i].region != Region::kRun)
                HEARTH_TRY(load(operands[i], command.operand_values[i]));
        for (ValueId v : command.computes) HEARTH_TRY(compute(v));
        for (size_t i = 0; i < operands.size(); ++i)
            if (operands[i].access != Access::kRead)
                HEARTH_TRY(store(operands[i], command.operand_values[i]));
        return {};
    }

    // Values that differ only in shape have the same bytes, so an operand that holds one holds all.
    ValueId root_of(ValueId v) const {
        while (const Node* node = graph_.producer(v)) {
            if (!node->op->is_reshape) break;
            v = node->inputs[0];
        }
        return v;
    }

    static Status unlike(ValueId v, size_t found) {
        return internal_error("value %" + std::to_string(v) + " does not fit its operand of " +
                              std::to_string(found) + " bytes: was the graph compiled otherwise?");
    }

    Status load(const Operand& operand, ValueId v) {
        HEARTH_ASSIGN(const std::span<std::byte> bytes, bytes_of(operand));
        // An operand that is modified in place initially holds the value to modify.
        if (const Node* node = graph_.producer(v);
            operand.access == Access::kReadWrite && node != nullptr && node->op->writes_in_place)
            v = node->inputs[0];
        const Value& value = graph_.value(v);
        const Shape shape = value.shape.resolve(rows_);
        const auto expected = static_cast<uint64_t>(shape.element_count(1)) *
                              size_bytes(device_dtype(value.dtype, program_.storage));
        if (bytes.size() != expected) return unlike(v, bytes.size());
        known_.insert_or_assign(root_of(v),
                                from_device(bytes, value.dtype, shape, program_.storage));
        return {};
    }

    Status store(const Operand& operand, ValueId v) {
        HEARTH_ASSIGN(const std::span<std::byte> bytes, bytes_of(operand));
        const auto found = known_.find(root_of(v));
        if (found == known_.end())
            return internal_error("writes value %" + std::to_string(v) +
                                  ", which it does not compute");
        const std::vector<std::byte> held = to_device(found->second, program_.storage);
        if (held.size() != bytes.size()) return unlike(v, bytes.size());
        std::ranges::copy(held, bytes.begin());
        return {};
    }

    Status compute(ValueId v) {
        const Node* node = graph_.producer(v);
        if (node == nullptr)
            return internal_error("computes value %" + std::to_string(v) +
                                  ", which no operator does");
        if (root_of(v) != v) return {};
        std::vector<HostTensor> operands;
        for (ValueId in : node->inputs) {
            const ValueId root = root_of(in);
            const Value& value = graph_.value(in);
            if (const auto found = known_.find(root); found != known_.end())
                operands.push_back(found->second.reshaped(value.shape.resolve(rows_)));
            else if (graph_.value(root).kind == ValueKind::kConstant)
                operands.push_back(graph_.value(root).data->reshaped(value.shape.resolve(rows_)));
            else
                return internal_error("value %" + std::to_string(v) + " needs %" +
                                      std::to_string(in) +
                                      ", which no operand holds and which is not computed before");
        }
        HEARTH_ASSIGN(std::vector<HostTensor> results,
                      evaluate_node(*node->op, node->attrs, operands, rows_));
        for (size_t i = 0; i < results.size(); ++i)
            known_.insert_or_assign(node->outputs[i], std::move(results[i]));
        return {};
    }

    const Program& program_;
    const Graph& graph_;
    ProgramMemory& memory_;
    int64_t rows_;
    std::vector<std::vector<std::byte>> external_;  ///< one for each of the Program's bindings
    std::map<ValueId, HostTensor> known_;           ///< by root_of(), during one dispatch
};

}  // namespace

Result<NamedTensors> run_program(const Program& program, std::string_view name, const Graph& graph,
                                 const NamedTensors& inputs, ProgramMemory& memory, int64_t rows) {
    const Entry* entry = program.find_entry(name);
    if (entry == nullptr) return not_found("entry '" + std::string(name) + "'");
    if (rows < 0 || static_cast<uint64_t>(rows) > program.max_batch_size)
        return out_of_range(std::to_string(rows) + " rows, the program's capacity is " +
                            std::to_string(program.max_batch_size));
    EntryRun run(program, graph, memory, rows);
    HEARTH_TRY(run.bind(*entry, inputs));
    if (Status s = run.run(*entry); !s.ok())
        return s.with_context("entry '" + std::string(name) + "'");
    return run.outputs(*entry);
}

}  // namespace hearth
