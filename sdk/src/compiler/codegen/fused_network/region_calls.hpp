// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The calls of a rows' region: one fused network, or several where drivers would compile one for too
// long, or its activations do not fit shared memory.

#pragma once

#include "compiler/codegen/lower_options.hpp"
#include "compiler/codegen/planned_call.hpp"
#include "compiler/fusion/row_region.hpp"

#include <hearth/status.hpp>

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace hearth {

struct RegionCalls {
    std::vector<PlannedCall> calls;
    std::string division;  ///< the reason for more than one network; empty: there is one
};

/// The region as one fused network; or as the fewest of which none exceeds the instructions of
/// the device model or its shared memory, each of as many groups as fit.
/// members: the region's groups; wholes: receives the union of each network's groups.
/// Errors: kUnsupported with the reason for which the region is no fused network.
Result<RegionCalls> region_calls(const Graph& graph, const RowRegion& region,
                                 const FusionPlan& plan, std::span<const Group* const> members,
                                 std::deque<Group>& wholes, const LowerOptions& options);

}  // namespace hearth
