// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/fused_network.hpp"

#include "compiler/codegen/fused_network/kernel.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

/// Arithmetic of the region at capacity: products by their extents, everything else as one operation
/// for each element that it makes or folds.
static uint64_t flops_of_region(const Graph& graph, const RowRegion& region, uint64_t rows) {
    const auto count = [&](ValueId v) {
        return static_cast<uint64_t>(
            graph.values[v].shape.element_count(static_cast<int64_t>(rows)));
    };
    uint64_t flops = 0;
    for (const NodeId n : region.nodes) {
        const Node& node = graph.nodes[n];
        if (node.op->is_view) continue;
        if (node.op->op_class == OpClass::kMatmul) {
            // Each element of the first factor meets each column of the second.
            const Shape& out = graph.values[node.outputs[0]].shape;
            const Dim columns = out[out.rank() - 1];
            flops += 2 * count(node.inputs[0]) *
                     static_cast<uint64_t>(columns.at(static_cast<int64_t>(rows)));
        } else if (walks_windows(node)) {
            const bool is_backward = node.op->name == kGruWindowBackward;
            const ValueId weight =
                node.inputs[is_backward ? size_t{kGruBackWeight} : size_t{kGruWeight}];
            flops += 2 * count(weight) *
                     static_cast<uint64_t>(region.rows.at(static_cast<int64_t>(rows)));
        } else {
            flops +=
                count(node.op->op_class == OpClass::kReduce ? node.inputs[0] : node.outputs[0]);
        }
    }
    return flops;
}

Result<KernelDraft> fused_network(const Graph& graph, const RowRegion& region,
                                  std::span<const Group* const> groups,
                                  const std::vector<bool>& inlined, const LowerOptions& options) {
    HEARTH_ASSIGN(NetworkPlan plan, plan_rows(graph, region, groups, inlined, options));
    HEARTH_ASSIGN(KernelDraft kernel, row_kernel(graph, region, std::move(plan), inlined, options));
    kernel.flops = flops_of_region(graph, region, options.rows_capacity);
    return kernel;
}

}  // namespace hearth
