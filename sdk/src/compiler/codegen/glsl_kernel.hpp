// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The whole text of a kernel that a user wrote in GLSL: extensions, operands, functions, and the user's text.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/ir/graph.hpp"

#include <string>

namespace hearth {

/// kernel: one that is_text().  layout: without located operands.
std::string glsl_kernel(const Graph& graph, const KernelDraft& kernel, const OperandLayout& layout,
                        BindingModel model, const DeviceCaps& caps);

}  // namespace hearth
