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

/// Makes a plan for a CPU, whose kernels are bodies, a program that a native device loads: each kernel gets a
/// NativeCode, its text as source, and the run block, which tells a function the rows, as last operand.
/// Errors: as print_c(); kUnsupported for a kernel with more operands than a recording can pass.
Status make_native(Program& program, std::span<const std::shared_ptr<const Body>> bodies, Cpu cpu);

/// native_kernels() of a program.
Result<std::string> native_kernels_of(const Program& program, std::string_view table);

}  // namespace hearth
