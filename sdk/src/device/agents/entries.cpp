// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Finds entries in a program and checks their inputs.

#include "device/agents/entries.hpp"

#include "program/legacy_names.hpp"

#include <algorithm>

namespace hearth::agents {

namespace {

unsigned long long wide(uint64_t value) {
    return value;
}

const HostInput* find_input(std::span<const HostInput> inputs, std::string_view entry,
                            std::string_view name) {
    for (const std::string_view wanted : {name, alias_of_binding(entry, name)})
        for (const HostInput& input : inputs)
            if (input.name == wanted) return &input;
    return nullptr;
}

}  // namespace

const Source* Entry::find(std::string_view name) const {
    const auto* const found =
        std::ranges::find_if(sources, [&](const Source& s) { return s.name == name; });
    return found == sources.end() ? nullptr : found;
}

hearth_result Entry::find(const hearth_program* program, std::string_view name,
                          std::span<const HostInput> inputs, HostAllocator& allocator,
                          SpecText& error) {
    FixedText<256> c_name;
    c_name.set("%.*s", static_cast<int>(name.size()), name.data());
    if (hearth_program_find_entry(program, c_name.c_str(), &index) != HEARTH_OK) {
        error.set("the program has no entry '%s'", c_name.c_str());
        return HEARTH_ERROR_NOT_FOUND;
    }
    exists = true;
    hearth_entry_info entry = hearth_entry_info_default();
    (void)hearth_program_get_entry(program, index, &entry);
    dispatches = std::max(entry.dispatch_count, 1u);
    commands = std::max(entry.command_count, 1u);
    if (!sources.resize(allocator, entry.binding_count)) {
        error.set("out of memory for the inputs of entry '%s'", c_name.c_str());
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info b = hearth_binding_info_default();
        (void)hearth_program_get_binding(program, entry.bindings[i], &b);
        error.set("entry '%s', '%s': ", c_name.c_str(), b.name);
        if (b.is_output != 0 || b.is_inout != 0) {
            error.append(
                "an output; results of agents must be states; make the entries by "
                "build_agent_graphs");
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        const HostInput* const input = find_input(inputs, name, b.name);
        if (input == nullptr) {
            error.append(
                "an input that the manifest does not name; cook the package with the manifest of "
                "these entries");
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        if (b.device_dtype != input->dtype) {
            error.append("elements of dtype %d in the program, expected %d",
                         static_cast<int>(b.device_dtype), static_cast<int>(input->dtype));
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        if (b.bytes_fixed != input->fixed_bytes || b.bytes_per_item != input->row_bytes) {
            const bool is_by_row = input->row_bytes != 0;
            error.append(
                "%llu floats in the program, %llu%s by the manifest's spec; cook the package with "
                "the manifest of these entries",
                wide((b.bytes_fixed + b.bytes_per_item) / 4),
                wide((input->fixed_bytes + input->row_bytes) / 4), is_by_row ? " per agent" : "");
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        sources[i] = {b.name, entry.bindings[i], input->data, input->fixed_bytes, input->row_bytes};
    }
    error.clear();
    return HEARTH_OK;
}

bool Entry::measure_cost(const hearth_program* program, HostAllocator& allocator) {
    if (!command_costs.resize(allocator, commands)) return false;
    for (uint32_t i = 0; i < commands; ++i) {
        hearth_command_info command = hearth_command_info_default();
        if (hearth_program_get_command(program, index, i, &command) != HEARTH_OK) continue;
        command_costs[i].is_barrier = command.kind == HEARTH_COMMAND_BARRIER;
        command_costs[i].part_count = command.sub_dispatch_count;
        command_costs[i].workgroups = command.workgroups;
    }
    cost.set_up(command_costs);
    return true;
}

}  // namespace hearth::agents
