// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The calls of a rows' region: one fused network, or several where drivers would compile one for too long.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/planned_call.hpp"
#include "compiler/fusion/row_region.hpp"

#include <hearth/status.hpp>

#include <deque>
#include <span>
#include <vector>

namespace hearth {

/// The region as one fused network; or as the fewest of which none exceeds the instructions of
/// the device model, each of as many groups as fit.
/// members: the region's groups; wholes: receives the union of each network's groups.
/// Errors: kUnsupported with the reason for which the region is no fused network.
Result<std::vector<PlannedCall>> region_calls(const Graph& graph, const RowRegion& region,
                                              const FusionPlan& plan,
                                              std::span<const Group* const> members,
                                              std::deque<Group>& wholes,
                                              const LowerOptions& options);

}  // namespace hearth
