// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of groups as parts: each is all of a kernel, or a part of a batched one.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/kernel/body.hpp"

#include <cstdint>
#include <vector>

namespace hearth {

/// A kernel's statements behind `group`, the workgroup's number.
struct KernelPart {
    std::vector<uint32_t>
        replicated_scalars;  ///< functions that work out Group::replicated_scalars, to be called first
    std::vector<Statement> statements;
    std::vector<bool> is_elementwise;  ///< per operand of the body; see CallOperand
    uint32_t threads = 1;
    GridAxis grid;
    uint64_t flops = 0;
};

/// Adds to `body` what the group's statements need.  workgroup: the local with the workgroup's number.
using WritePart = KernelPart(const KernelTask& task, Body& body, Expr workgroup);

/// The part as a kernel of its own.
KernelDraft kernel_of_part(const char* name, WritePart* write, const KernelTask& task);

}  // namespace hearth
