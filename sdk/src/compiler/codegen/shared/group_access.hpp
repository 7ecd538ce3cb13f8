// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Reads and writes of operands by the kernel of a group.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/shared/group_expressions.hpp"
#include "compiler/ir/graph.hpp"
#include "compiler/kernel/body.hpp"
#include "compiler/kernel/writer.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hearth {

/// How scalar expressions of the graph find the operands of a body.
KernelWriter::Operand operands_of(const Graph& graph, const LowerOptions& options, Body& body);

/// For each operand (a value of the graph), whether all loads of it are of the element that the thread also writes.
std::vector<bool> elementwise_buffers(const ScalarArena& arena, std::span<const uint32_t> operands,
                                      Scalar element);

/// Stores `values` at one element.  All are worked out before the first store: a stored buffer may
/// have taken over the bytes of one that is loaded.
void store_all(KernelWriter& writer, const KernelWriter::Operand& operand,
               GroupExpressions& expressions, std::span<const ValueId> values,
               const ScalarPlace& place, Scalar element);

}  // namespace hearth
