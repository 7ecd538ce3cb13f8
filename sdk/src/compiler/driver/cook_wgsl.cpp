// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Compiles graphs to a JSON plan with WGSL kernels.

#include "compiler/driver/cook_wgsl.hpp"

#include "compiler/driver/compile.hpp"
#include "compiler/print/wgsl.hpp"
#include "core/out_of_memory.hpp"

#include <initializer_list>
#include <utility>

namespace hearth {

namespace {

std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        if (c == '\n')
            result += "\\n";
        else if (static_cast<unsigned char>(c) >= 0x20)
            result += c;
    }
    return result + "\"";
}

std::string number(uint64_t value) {
    return std::to_string(value);
}

/// Formats "[a, b]".
template <class Items, class Text>
std::string list(const Items& items, Text text) {
    std::string result = "[";
    for (const auto& item : items) result += (result.size() > 1 ? ", " : "") + text(item);
    return result + "]";
}

std::string extent_text(Extent extent) {
    return "[" + number(extent.fixed) + ", " + number(extent.is_batch) + "]";
}

std::string operand_text(const Operand& o) {
    static const char* const kRegions[] = {"arena", "weights", "external", "run"};
    return "[\"" + std::string(kRegions[static_cast<size_t>(o.region)]) + "\", " +
           number(o.region == Region::kExternal ? o.binding : o.offset) + ", " +
           extent_text(o.bytes) + "]";
}

std::string step_text(const Program& program, const Command& step) {
    const std::string operands = "\"operands\": " + list(program.operands_of(step), operand_text);
    switch (step.kind) {
        case CommandKind::kCopy:
            return "{\"copy\": true, " + operands + "}";
        case CommandKind::kFill:
            return "{\"fill\": " + number(program.words_of(step)[0]) + ", " + operands + "}";
        default:
            return "{\"kernel\": " + number(step.kernel) + ", " + operands + ", \"grid\": " +
                   list(step.grid,
                        [](const GridAxis& axis) {
                            return "[" + extent_text(axis.work) + ", " + number(axis.tile) + "]";
                        }) +
                   "}";
    }
}

std::string entry_text(const Program& program, const Entry& entry) {
    std::vector<const Command*> steps;
    for (const Command& step : program.commands_of(entry))
        if (step.kind != CommandKind::kBarrier) steps.push_back(&step);
    return quoted(entry.name) +
           ": {\"bindings\": " + list(entry.bindings, [](uint32_t b) { return number(b); }) +
           ", \"steps\": " +
           list(steps, [&](const Command* step) { return "\n  " + step_text(program, *step); }) +
           "}";
}

Result<std::string> plan_text(const CompiledProgram& compiled) {
    const Program& program = compiled.program;
    std::string kernels;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        Result<std::string> code = print_wgsl(*compiled.bodies[k]);
        if (!code.ok()) return code.status().with_context("kernel " + program.kernels[k].name);
        kernels += std::string(k == 0 ? "" : ",") +
                   "\n {\"threads\": " + number(compiled.bodies[k]->threads) +
                   ", \"workgroup\": " + number(wgsl_workgroup_size(*compiled.bodies[k])) +
                   ", \"code\": " + quoted(*code) + "}";
    }
    std::string entries;
    for (const Entry& entry : program.entries)
        entries += (entries.empty() ? "\n " : ",\n ") + entry_text(program, entry);
    return "{\"rows\": " + number(program.max_batch_size) +
           ", \"arena_bytes\": " + number(program.arena_bytes) +
           ", \"weights_bytes\": " + number(program.weights_bytes) + ",\n\"bindings\": " +
           list(program.bindings,
                [](const Binding& b) {
                    return "{\"name\": " + quoted(b.name) +
                           ", \"dtype\": " + quoted(name_of(b.dtype)) + ", \"direction\": " +
                           quoted(b.direction == Direction::kInput    ? "input"
                                  : b.direction == Direction::kOutput ? "output"
                                                                      : "inout") +
                           ", \"bytes\": " + extent_text(b.bytes) + "}";
                }) +
           ",\n\"workgroup\": " + number(kWgslWorkgroup) + ",\n\"entries\": {" + entries +
           "},\n\"kernels\": [" + kernels + "]}\n";
}

}  // namespace

Result<std::string> compile_to_wgsl(std::span<Trace* const> entries, uint64_t max_batch_size) {
    return or_out_of_memory([&]() -> Result<std::string> {
        HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
        return cook_wgsl_of(std::move(graphs), max_batch_size);
    });
}

Result<std::string> cook_wgsl_of(std::vector<Graph> graphs, uint64_t max_batch_size) {
    return or_out_of_memory([&]() -> Result<std::string> {
        CompileOptions options;
        options.caps = cpu_caps(CpuIsa::kWasm128);
        // Storage is 32-bit words.
        options.caps.storage_buffer_16bit_access = options.caps.storage_buffer_8bit_access = false;
        options.caps.shader_int64 = options.caps.shader_float64 = false;
        options.share_arena = true;
        options.max_batch_size = max_batch_size;
        options.fuse_mlp = FuseMlp::kNever;
        options.keep_source = false;
        HEARTH_ASSIGN(const CompiledProgram compiled, plan_graphs(std::move(graphs), options));
        return plan_text(compiled);
    });
}

}  // namespace hearth
