// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Legalization: replaces composites and operators without a kernel on this device by their
// decompositions.

#include "compiler/ir/custom_kernel.hpp"
#include "compiler/ir/rewrite.hpp"
#include "compiler/ops/conv_kernel.hpp"
#include "compiler/ops/cpu_conv_strips.hpp"
#include "compiler/ops/cpu_windows.hpp"
#include "compiler/ops/rules.hpp"
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
    if (has_depthwise_kernel(graph, node, options.caps) ||
        has_strip_kernel(graph, node, options.caps))
        return false;
    if (model.keeps_bodies)
        return !node.op->writes_in_place &&
               !has_body(graph, node, options.caps, options.max_batch_size);
    return !custom_kernel_of(graph, node, options.caps, options.max_batch_size);
}

/// Rewrites assign(state, scatter_nd(state, indices, rows)) as rows written in place, where it
/// applies.
std::optional<Tensor> as_written_rows(const Node& scatter, std::span<const Tensor> inputs) {
    const Shape &x = inputs[0].shape(), &indices = inputs[1].shape(), &updates = inputs[2].shape();
    if (scatter.attrs.text("reduction") != "none" || scatter.attrs.integer("batch_dims") != 0 ||
        indices.rank() != 2 || x.has_batch() || x.element_count().count == 0 ||
        updates.element_count().count == 0)
        return {};
    const int64_t depth = indices[1].count;
    Attrs attrs;
    attrs.set("depth", depth);
    const Tensor places = flat_row_places(inputs[1], x, static_cast<int>(depth));
    return apply_one(op("write_rows"), {inputs[0], places, inputs[2]}, std::move(attrs));
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
            if (node.op->name == "scatter_nd" && updates_first_input(now, node))
                if (std::optional<Tensor> rows = as_written_rows(node, inputs))
                    return std::vector<Tensor>{*rows};
            if (node.op->name == "conv_transpose" &&
                has_conv_kernel(inputs[0].dtype(), options.caps))
                if (std::optional<Tensor> conv =
                        conv_of_transposed(inputs[0], inputs[1], node.attrs))
                    return std::vector<Tensor>{*conv};
            DecomposeContext call{trace, node.attrs, inputs};
            return node.op->decompose(call);
        };
        HEARTH_ASSIGN(now, rewrite(now, decompose_node));
    }
    return now;
}

}  // namespace hearth
