// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The interface of a kernel in GLSL: declarations of its operands, by address or by descriptor.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/ir/graph.hpp"

#include <string>

namespace hearth {

/// Declares the operands so that `b0.at[i]` is an element of the first one, `b0v`, `b0w` and `b0p`
/// its views as vec4, uvec4 and uvec2 where the kernel has such loads, and `rows` the live rows.
/// Descriptors: a located operand has the place `b0a` (GlslOptions::in_region).
std::string operand_declarations(const Graph& graph, const KernelDraft& kernel,
                                 const OperandLayout& layout, BindingModel model,
                                 NarrowStorage storage);

}  // namespace hearth
