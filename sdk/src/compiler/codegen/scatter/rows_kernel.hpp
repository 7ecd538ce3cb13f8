// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Rows of a tensor that are written in place.

#pragma once

#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/shared/kernel_part.hpp"

namespace hearth {

/// True if the group writes rows in place, no two of which are meant for one place.
bool writes_distinct_rows(const Graph& graph, const Group& group);
/// The shape of the rows that such a group writes.
Shape written_rows(const Graph& graph, const Group& group);

/// Of a group that writes_distinct_rows().
KernelPart rows_part(const KernelTask& task, Body& body, Expr workgroup);

}  // namespace hearth
