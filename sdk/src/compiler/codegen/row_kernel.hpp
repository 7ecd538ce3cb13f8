// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/codegen/group_kernels.hpp"
#include "compiler/codegen/row_plan.hpp"

namespace hearth {

/// A row program as planned, as a body.
/// Errors: kUnsupported telling why the region is no row program.
Result<GroupKernel> row_kernel(const Graph& graph, const RowRegion& region, RowPlan plan,
                               const std::vector<bool>& inlined, const LowerOptions& options);

}  // namespace hearth
