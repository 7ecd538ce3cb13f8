// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/kernel/body.hpp"
#include "program/program.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hearth {

/// Turns a plan for a CPU, whose kernels are bodies, into a program for a native device: each
/// kernel gets a NativeCode, its C source, and as last operand the run block, which holds the batch
/// size.
/// Errors: as print_c(); kUnsupported for a kernel with more operands than a recording can pass.
Status make_cpu_program(Program& program, std::span<const std::shared_ptr<const Body>> bodies,
                        CpuIsa cpu);

/// emit_cpu_kernels() of a program.
Result<std::string> cpu_kernels_of(const Program& program, std::string_view table);

}  // namespace hearth
