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
    return "[" + number(extent.fixed) + ", " + number(extent.per_row) + "]";
}

std::string operand_text(const Operand& o) {
    static const char* const kRegions[] = {"arena", "weights", "external", "run"};
    return "[\"" + std::string(kRegions[static_cast<size_t>(o.region)]) + "\", " +
           number(o.region == Region::kExternal ? o.binding : o.offset) + ", " +
           extent_text(o.bytes) + "]";
}

std::string step_text(const Program& program, const Step& step) {
    const std::string operands = "\"operands\": " + list(program.operands_of(step), operand_text);
    switch (step.kind) {
        case StepKind::kCopy:
            return "{\"copy\": true, " + operands + "}";
        case StepKind::kFill:
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
    std::vector<const Step*> steps;
    for (const Step& step : program.steps_of(entry))
        if (step.kind != StepKind::kBarrier) steps.push_back(&step);
    return quoted(entry.name) +
           ": {\"bindings\": " + list(entry.bindings, [](uint32_t b) { return number(b); }) +
           ", \"steps\": " +
           list(steps, [&](const Step* step) { return "\n  " + step_text(program, *step); }) + "}";
}

Result<std::string> plan_text(const CompiledProgram& compiled) {
    const Program& program = compiled.program;
    std::string kernels;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        Result<std::string> code = print_wgsl(*compiled.bodies[k]);
        if (!code.ok()) return code.status().in("kernel " + program.kernels[k].name);
        kernels += std::string(k == 0 ? "" : ",") +
                   "\n {\"threads\": " + number(compiled.bodies[k]->threads) +
                   ", \"code\": " + quoted(*code) + "}";
    }
    std::string entries;
    for (const Entry& entry : program.entries)
        entries += (entries.empty() ? "\n " : ",\n ") + entry_text(program, entry);
    return "{\"rows\": " + number(program.rows_capacity) +
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

Result<std::string> cook_wgsl(std::span<Trace* const> entries, uint64_t rows_capacity) {
    return or_out_of_memory([&]() -> Result<std::string> {
        HEARTH_ASSIGN(std::vector<Graph> graphs, finish_all(entries));
        return cook_wgsl_of(std::move(graphs), rows_capacity);
    });
}

Result<std::string> cook_wgsl_of(std::vector<Graph> graphs, uint64_t rows_capacity) {
    return or_out_of_memory([&]() -> Result<std::string> {
        CompileOptions options;
        options.caps = cpu_caps(Cpu::kWasm128);
        options.caps.fp16_storage = options.caps.int8_storage = false;  // storage is 32-bit words
        options.share_arena = true;
        options.rows_capacity = rows_capacity;
        options.fused_networks = FusedNetworks::kNever;
        options.keep_source = false;
        HEARTH_ASSIGN(const CompiledProgram compiled, plan_graphs(std::move(graphs), options));
        return plan_text(compiled);
    });
}

}  // namespace hearth
