// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Replicated scalars (Group::replicated_scalars) in the kernels that need them: functions that every workgroup calls.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hearth {

/// Functions of the body that compute replicated scalars, in the order in which all threads have to
/// call them.
std::vector<uint32_t> replicated_scalar_functions(
    const Graph& graph, std::span<const std::shared_ptr<const Group>> numbers,
    const std::vector<bool>& inlined, const LowerOptions& options, uint32_t threads, Body& body);

/// The variable of the body that such a function sets.
Expr replicated_scalar_variable(const Graph& graph, ValueId v, Body& body);

/// Redirects loads of the group's replicated scalars to these variables.
void define_replicated_scalars(const Graph& graph, const Group& group,
                               GroupExpressions& expressions, KernelWriter& writer, Body& body);

/// Clears is_elementwise of what replicated scalars are made of: every workgroup reads all of it.
void note_replicated_scalar_loads(const Graph& graph, const Group& group,
                                  const std::vector<bool>& inlined, const Body& body,
                                  std::vector<bool>& is_elementwise);

}  // namespace hearth
