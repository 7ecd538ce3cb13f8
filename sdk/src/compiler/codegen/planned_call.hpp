// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The calls of kernels that a graph becomes, before their kernels are written.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/fusion/fuse.hpp"
#include "compiler/ir/graph.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth {

/// One kernel: a group; several as parts of a batched kernel; or the groups of a fused network.
struct PlannedCall {
    std::vector<const Group*> groups;
    std::optional<KernelDraft> kernel;  ///< none: the kernel of a single group is not written yet
    uint32_t depth = 0;                 ///< longest chain of calls that it waits for
    std::string label;                  ///< where there is a kernel
};

/// Names of the group's operators: "matmul+add+relu".
std::string label_of(const Graph& graph, const Group& group);

/// The groups as one that computes, stores and reads all that they do.
Group union_of(std::span<const Group* const> groups);

/// Every value that the group's kernel computes, recomputed views included, in data-flow order.
std::vector<uint32_t> computed_values(const Graph& graph, const Group& group,
                                      const std::vector<bool>& inlined);

/// Why a training step with a fused network has more dependent calls than the fused network, sums
/// and updates: the chain of calls that wait for each other.  Empty if there is nothing to say.
std::string note_on_levels(const Graph& graph, const std::vector<bool>& inlined,
                           std::span<const PlannedCall> calls);

}  // namespace hearth
