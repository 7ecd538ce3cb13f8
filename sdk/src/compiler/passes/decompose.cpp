// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Legalization: replaces composites and operators without a kernel on this device by their
// decompositions.

#include "compiler/ir/custom_kernel.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/kernels/attention_tiles.hpp"
#include "compiler/ops/kernels/conv_tiles.hpp"
#include "compiler/ops/kernels/cpu_conv_strips.hpp"
#include "compiler/ops/kernels/cpu_windows.hpp"
#include "compiler/ops/kernels/gru_walk.hpp"
#include "compiler/ops/shared/rules.hpp"
#include "compiler/passes/pass.hpp"
#include "core/device_model.hpp"

#include <algorithm>
#include <utility>

namespace hearth {

namespace {

bool must_decompose(const Graph& graph, const Node& node, const PassOptions& options) {
    if (node.op->op_class == OpClass::kComposite) return true;
    if (node.op->decompose == nullptr) return false;
    const DeviceModel model = device_model(options.caps);
    // Partial products (split-K) become sums where none is split.
    if (node.op->op_class == OpClass::kMatmul) return model.has_few_cores;
    if (node.op->op_class != OpClass::kKernel) return false;
    if (node.op->writes_in_place && !writes_in_place(graph, node)) return true;
    if (node.op->traits.attention != AttentionPass::kNone)
        return attention_tiles(graph, node, options.caps, options.max_batch_size).empty();
    if (node.op->traits.walk != WindowWalk::kNone)
        return !GruWalk::of_kernel(graph, node, options.caps, options.max_batch_size);
    if (has_depthwise_kernel(graph, node, options.caps) ||
        has_strip_kernel(graph, node, options.caps))
        return false;
    if (node.op->traits.is_convolution && !model.keeps_bodies) {
        const NodeContext of(graph, node, options.caps, options.max_batch_size);
        return conv_tiles(of.context).empty();
    }
    if (model.keeps_bodies)
        return !node.op->writes_in_place &&
               !has_body(graph, node, options.caps, options.max_batch_size);
    return !custom_kernel_of(graph, node, options.caps, options.max_batch_size);
}

bool any_left(const Graph& graph, const PassOptions& options) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [&](const Node& n) { return must_decompose(graph, n, options); });
}

}  // namespace

Result<Graph> decompose(const Graph& graph, const PassOptions& options) {
    Graph now = graph;
    // Terminates: a decomposition may use other composites, but never itself.
    while (any_left(now, options)) {
        auto decompose_node =
            [&](Trace& trace, const Node& node,
                std::span<const Tensor> inputs) -> std::optional<std::vector<Tensor>> {
            if (!must_decompose(now, node, options)) return std::nullopt;
            DecomposeContext call{trace, node.attrs, inputs, &options.caps,
                                  updates_first_input(now, node)};
            return node.op->decompose(call);
        };
        HEARTH_ASSIGN(now, rewrite(now, decompose_node));
    }
    return now;
}

}  // namespace hearth
