// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of operators that are no formula: the body of OpDef::kernel, or on GPUs its text, with reads and writes as
// functions of a body.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"

namespace hearth {

KernelDraft custom_kernel(const KernelTask& task);

}  // namespace hearth
