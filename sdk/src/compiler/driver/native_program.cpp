// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Turns a plan for a CPU into a program for native devices: kernels as C source.

#include "compiler/driver/native_program.hpp"

#include "compiler/driver/kept_bodies.hpp"
#include "compiler/print/native_kernels.hpp"
#include "core/out_of_memory.hpp"
#include "program/records.hpp"

#include <hearth/c.hpp>
#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth {

namespace {

constexpr Extent kRunBlockBytes{sizeof(RunBlock), 0};

/// Appends the run block to the operands of each dispatch.
void pass_run_block(Program& program) {
    std::vector<Operand> operands;
    for (Command& step : program.commands) {
        const std::span<const Operand> given = program.operands_of(step);
        const auto first = static_cast<uint32_t>(operands.size());
        operands.insert(operands.end(), given.begin(), given.end());
        step.first_operand = first;
        if (step.kind != CommandKind::kDispatch) continue;
        operands.push_back({Region::kRun, Access::kRead, 0, 0, kRunBlockBytes});
        ++step.operand_count;
        if (!step.operand_values.empty()) step.operand_values.push_back(kNoValue);
    }
    program.operands = std::move(operands);
}

/// True if the grid has at most one axis other than one workgroup: functions number workgroups
/// linearly.
bool has_one_axis(const Command& step) {
    return std::count_if(step.grid.begin(), step.grid.end(), [](const GridAxis& axis) {
               return axis.tile != 1 || axis.work != Extent{1, 0};
           }) <= 1;
}

bool counts_workgroups(const Body& body) {
    return std::any_of(body.expressions.begin(), body.expressions.end(),
                       [](const ExprNode& n) { return n.kind == ExprKind::kWorkgroups; });
}

}  // namespace

Status make_cpu_program(Program& program, std::span<const std::shared_ptr<const Body>> bodies,
                        CpuIsa cpu) {
    HEARTH_ASSERT(bodies.size() == program.kernels.size());
    program.cpu = cpu;
    pass_run_block(program);
    std::vector<bool> is_divisible;
    for (const std::shared_ptr<const Body>& body : bodies)
        is_divisible.push_back(!counts_workgroups(*body));
    for (const Command& step : program.commands)
        if (step.kind == CommandKind::kDispatch && !has_one_axis(step))
            is_divisible[step.kernel] = false;
    constexpr uint64_t kMostOperands = file::kMaxNativePushBytes / sizeof(uint64_t);
    for (size_t k = 0; k < bodies.size(); ++k) {
        Kernel& kernel = program.kernels[k];
        HEARTH_ASSIGN(NativeFunction function, print_native_function(*bodies[k], cpu));
        keep_body(function.hash, bodies[k]);
        const auto code = words_of(NativeCode{function.hash, is_divisible[k]});
        kernel.spirv.assign(code.begin(), code.end());
        kernel.source = std::move(function.text);
        kernel.operands.push_back({Access::kRead, kRunBlockBytes, 0});
        ++kernel.operand_count;
        if (kernel.operand_count > kMostOperands)
            return unsupported(
                "kernel '" + kernel.name + "' has " + std::to_string(kernel.operand_count) +
                " operands, the CPU device passes at most " + std::to_string(kMostOperands));
    }
    program.hash = content_hash(program);
    return {};
}

Result<std::string> cpu_kernels_of(const Program& program, std::string_view table) {
    if (program.cpu == CpuIsa::kNone)
        return invalid_argument(
            "emit_cpu_kernels: the program is for a Vulkan device; compile with caps of "
            "cpu_caps()");
    std::vector<NativeFunctionRef> functions;
    for (const Kernel& kernel : program.kernels) {
        if (kernel.source.empty())
            return not_found(
                "emit_cpu_kernels: the program was compiled without keep_source, so it lacks the "
                "text of kernel " +
                kernel.name);
        functions.push_back({native_code(kernel.spirv).hash, kernel.source});
    }
    return print_native_table(functions, program.cpu, table);
}

Result<std::string> emit_cpu_kernels(std::span<const std::byte> program, std::string_view table) {
    return or_out_of_memory([&]() -> Result<std::string> {
        HEARTH_ASSIGN(const Program loaded, load_program(program));
        return cpu_kernels_of(loaded, table);
    });
}

}  // namespace hearth
