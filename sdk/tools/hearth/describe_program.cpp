// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Describes a compiled program as JSON, with estimated times.

#include "describe_program.hpp"

#include <algorithm>
#include <map>

namespace hearth::tool {

namespace {

constexpr double kEstimatedBarrierUs = 2.0;   // measured on an H200 through Vulkan: 2.05
constexpr double kEstimatedDispatchUs = 0.2;  // likewise: 0.18

Json entry_report(const Program& program, const Entry& entry) {
    uint64_t dispatches = 0, barriers = 0, copies = 0, operators = 0;
    double flops = 0, bytes = 0, us = 0;
    std::map<std::string, uint64_t> fused;
    for (const Command& command : program.commands_of(entry)) {
        dispatches += command.kind == CommandKind::kDispatch;
        barriers += command.kind == CommandKind::kBarrier;
        copies += command.kind == CommandKind::kCopy || command.kind == CommandKind::kFill;
        operators += command.computes.size();
        if (command.computes.size() > 1) ++fused[command.label];
        flops += static_cast<double>(command.flops);
        bytes += static_cast<double>(command.bytes_moved);
        us += 1e6 * std::max(static_cast<double>(command.flops) / kEstimatedFlopsPerS,
                             static_cast<double>(command.bytes_moved) / kEstimatedBytesPerS);
    }
    us += kEstimatedBarrierUs * static_cast<double>(barriers) +
          kEstimatedDispatchUs * static_cast<double>(dispatches);
    Json groups = Json::array();
    for (const auto& [label, count] : fused) groups.push_back({{"group", label}, {"count", count}});
    return {{"name", entry.name},       {"operators", operators},
            {"dispatches", dispatches}, {"copies", copies},
            {"barriers", barriers},     {"arena_bytes", entry.arena_bytes},
            {"flops", flops},           {"bytes_moved", bytes},
            {"estimated_us", us},       {"fused", std::move(groups)}};
}

Json variable_bytes(const Program& program) {
    uint64_t bytes[4] = {};
    for (const Variable& variable : program.variables)
        bytes[static_cast<size_t>(variable.kind)] += variable.bytes;
    return {{"params", bytes[static_cast<size_t>(VariableKind::kParam)]},
            {"states", bytes[static_cast<size_t>(VariableKind::kState)]},
            {"non_persistent", bytes[static_cast<size_t>(VariableKind::kTransient)]},
            {"constants", bytes[static_cast<size_t>(VariableKind::kConstant)]}};
}

}  // namespace

Json describe_program(const Program& program) {
    Json entries = Json::array();
    for (const Entry& entry : program.entries) entries.push_back(entry_report(program, entry));
    uint64_t spirv = 0;
    for (const Kernel& kernel : program.kernels) spirv += 4 * kernel.spirv.size();
    Json bytes = variable_bytes(program);
    bytes.update({{"arena", program.arena_bytes}, {"spirv", spirv}});
    return {{"name", program.device_target},
            {"hash", hash_text(program.hash)},
            {"graph_hash", hash_text(program.graph_hash)},
            {"max_batch_size", program.max_batch_size},
            {"kernels", program.kernels.size()},
            {"bytes", std::move(bytes)},
            {"entries", std::move(entries)}};
}

}  // namespace hearth::tool
