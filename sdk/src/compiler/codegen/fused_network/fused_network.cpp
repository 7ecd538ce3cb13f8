// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/fused_network/fused_network.hpp"

#include "compiler/codegen/fused_network/kernel.hpp"
#include "compiler/codegen/kernel_draft.hpp"

#include <algorithm>
#include <cstdio>
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
                     static_cast<uint64_t>(columns.resolve(static_cast<int64_t>(rows)));
        } else if (walks_windows(node)) {
            const bool is_backward = node.op->traits.walk == WindowWalk::kBackward;
            const ValueId weight =
                node.inputs[is_backward ? size_t{kGruBackWeight} : size_t{kGruWeight}];
            flops += 2 * count(weight) *
                     static_cast<uint64_t>(region.rows.resolve(static_cast<int64_t>(rows)));
        } else {
            flops +=
                count(node.op->op_class == OpClass::kReduce ? node.inputs[0] : node.outputs[0]);
        }
    }
    return flops;
}

static std::string key_start(std::string_view entry) {
    return "fused network of " + std::string(entry) + ", ";
}

std::string network_key(const Graph& graph, uint64_t rows_capacity) {
    char hash[17];
    std::snprintf(hash, sizeof hash, "%016llx",
                  static_cast<unsigned long long>(content_hash(graph)));
    return key_start(graph.name) + std::to_string(rows_capacity) + " rows, " + hash;
}

bool is_network_key(std::string_view key, std::string_view entry) {
    return key.starts_with(key_start(entry));
}

Result<KernelDraft> fused_network(const Graph& graph, const RowRegion& region,
                                  std::span<const Group* const> groups,
                                  const std::vector<bool>& inlined, const LowerOptions& options) {
    const std::string key = network_key(graph, options.rows_capacity);
    const auto measured = options.variants.find(key);
    HEARTH_ASSIGN(NetworkPlan plan,
                  plan_rows(graph, region, groups, inlined, options,
                            measured == options.variants.end() ? "" : measured->second));
    std::vector<std::string> variants = std::move(plan.variants);
    HEARTH_ASSIGN(KernelDraft kernel, row_kernel(graph, region, std::move(plan), inlined, options));
    if (variants.size() > 1) kernel.tunable = key;
    kernel.variants = std::move(variants);
    kernel.flops = flops_of_region(graph, region, options.rows_capacity);
    return kernel;
}

}  // namespace hearth
