// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "compiler/codegen/fused_network/plan.hpp"
#include "compiler/codegen/kernel_draft.hpp"

namespace hearth {

/// A fused network as planned, as a body.
/// Errors: kUnsupported telling why the region is no fused network.
Result<KernelDraft> row_kernel(const Graph& graph, const RowRegion& region, NetworkPlan plan,
                               const std::vector<bool>& inlined, const LowerOptions& options);

}  // namespace hearth
