// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Element-wise kernels: one thread for each element, or for some that follow each other in memory.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/kernel_part.hpp"

namespace hearth {

KernelPart elementwise_part(const KernelTask& task, Body& body, Expr workgroup);

}  // namespace hearth
