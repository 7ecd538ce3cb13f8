// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Fused network: one kernel for a whole region of a graph that treats each row alone
// (compiler/fusion/row_region.hpp); docs/design/0002 and 0008.
//
// A workgroup carries a tile of rows from the region's first node to its last.  What one group of
// nodes hands to the next lies in shared memory; so do weights while they are multiplied.  Groups
// that do not wait for each other run between the same two barriers.  Sums over rows (weight
// gradients, bias gradients, the loss) add up the workgroup's own rows, tile after tile, and leave
// one part for each workgroup, in a fixed order.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/lower_options.hpp"
#include "compiler/fusion/fuse.hpp"

namespace hearth {

/// The name under which a measured variant of an entry's fused network is kept: "fused network of act, 64 rows,
/// 1f2e...".
std::string network_key(const Graph& graph, uint64_t rows_capacity);
/// Whether it is of the entry of this name.
bool is_network_key(std::string_view key, std::string_view entry);

/// groups: those of the region, in an order that respects data flow.
/// Errors: kUnsupported telling why the region is no fused network; kOutOfRange if it exceeds shared
/// memory, which a part of it may not.
Result<KernelDraft> fused_network(const Graph& graph, const RowRegion& region,
                                  std::span<const Group* const> groups,
                                  const std::vector<bool>& inlined, const LowerOptions& options);

}  // namespace hearth
