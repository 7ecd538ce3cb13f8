// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A kernel's whole text in GLSL: extensions, operands, the shared functions that it calls, its body.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/operands.hpp"
#include "compiler/ir/graph.hpp"

#include <string>

namespace hearth {

std::string kernel_source(const Graph& graph, const KernelDraft& kernel,
                          const OperandLayout& layout, BindingModel model, const DeviceCaps& caps);

/// The extension by which a kernel with matrices reaches matrix cores.
CooperativeMatrixExt matrix_cores_of(const KernelDraft& kernel, const DeviceCaps& caps);

}  // namespace hearth
