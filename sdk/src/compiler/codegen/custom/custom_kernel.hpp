// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators that are no formula: on GPUs the text of OpDef::kernel, with reads and writes as functions of a
// body; on CPUs a body, for the operators that have one.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"

namespace hearth {

KernelDraft custom_kernel(const KernelTask& task);

bool has_cpu_kernel(const OpDef& op);
/// Of an operator that has_cpu_kernel().
KernelDraft cpu_custom_kernel(const KernelTask& task);

}  // namespace hearth
