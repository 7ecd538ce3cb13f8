// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/conv/gpu_conv_kernel.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/ops/kernels/conv_kernel.hpp"
#include "compiler/ops/kernels/cpu_windows.hpp"
#include "core/device_model.hpp"

namespace hearth {

namespace {

bool is_custom(const KernelTask& task) {
    return task.group.kind == GroupKind::kCustom;
}

std::vector<KernelChoice> strips(const KernelTask& task) {
    const std::vector<ConvStrip> all =
        conv_strips(ConvExtents(task.graph, task.node()), device_model(task.options.caps));
    return {all.begin(), all.end()};
}

/// What the operator's rule sees of a node.
struct ConvCall {
    explicit ConvCall(const KernelTask& of) : task(of) {
        const Graph& graph = of.graph;
        for (ValueId v : of.node().inputs)
            inputs.push_back({graph.value(v).dtype, graph.value(v).shape});
        for (ValueId v : of.node().outputs)
            outputs.push_back({graph.value(v).dtype, graph.value(v).shape});
    }
    KernelRuleContext context() const {
        return {task.node().attrs, inputs, outputs, task.options.caps, task.options.rows_capacity};
    }
    const KernelTask& task;
    std::vector<TensorType> inputs, outputs;
};

std::vector<KernelChoice> tiles(const KernelTask& task) {
    const std::vector<ConvTile> all = conv_tiles(ConvCall(task).context());
    return {all.begin(), all.end()};
}

std::string tuning_key(const KernelTask& task) {
    return kernel_problem(task.graph, task.node(), task.options.rows_capacity).key();
}

using WriteConv = KernelDraft (*)(const KernelTask&, const ConvProblem&, const ConvTile&);
WriteConv writer_of(ConvFamily family) {
    switch (family) {
        case ConvFamily::kTiled:
            return gpu_conv_tiled;
        case ConvFamily::kStrips:
            return gpu_conv_strips;
        case ConvFamily::kWinograd:
            return gpu_conv_winograd;
        case ConvFamily::kDepthwise:
            return gpu_conv_depthwise;
        case ConvFamily::kMatrix:
        case ConvFamily::kSlices:
            break;
    }
    return nullptr;
}

/// True if the tile that is chosen has a body; those on matrix cores are GLSL.
bool has_body(const KernelTask& task) {
    const std::vector<ConvTile> all = conv_tiles(ConvCall(task).context());
    if (all.empty()) return false;
    const auto measured = task.options.variants.find(tuning_key(task));
    const ConvTile* chosen = all.data();
    for (const ConvTile& tile : all)
        if (measured != task.options.variants.end() && to_string(tile) == measured->second)
            chosen = &tile;
    return writer_of(chosen->family) != nullptr;
}

}  // namespace

const KernelFamily kConvFamily = {
    .name = "convolution",
    .matches =
        [](const KernelTask& task) {
            return is_custom(task) && has_strip_kernel(task.graph, task.node(), task.options.caps);
        },
    .write =
        [](const KernelTask& task, const KernelChoice& choice) {
            return cpu_conv_kernel(task, std::get<ConvStrip>(choice));
        },
    .candidates = strips,
    .cost =
        [](const KernelTask& task, const KernelChoice& choice) {
            return conv_cycles(ConvExtents(task.graph, task.node()), std::get<ConvStrip>(choice));
        }};

const KernelFamily kGpuConvFamily = {.name = "convolution on GPUs",
                                     .matches =
                                         [](const KernelTask& task) {
                                             return is_custom(task) &&
                                                    task.node().op->kernel == conv_kernel &&
                                                    !device_model(task.options.caps).keeps_bodies &&
                                                    has_body(task);
                                         },
                                     .write =
                                         [](const KernelTask& task, const KernelChoice& choice) {
                                             const auto& tile = std::get<ConvTile>(choice);
                                             const ConvCall call(task);
                                             const ConvProblem problem(call.context());
                                             return writer_of(tile.family)(task, problem, tile);
                                         },
                                     .candidates = tiles,
                                     .tuning_key = tuning_key};

const KernelFamily kDepthwiseConvFamily = {
    .name = "depthwise convolution",
    .matches =
        [](const KernelTask& task) {
            return is_custom(task) &&
                   has_depthwise_kernel(task.graph, task.node(), task.options.caps);
        },
    .write = [](const KernelTask& task,
                const KernelChoice&) { return cpu_depthwise_kernel(task); }};

const KernelFamily kUnfoldFamily = {
    .name = "unfold",
    .matches =
        [](const KernelTask& task) {
            return task.group.kind == GroupKind::kElementwise && task.group.nodes.size() == 1 &&
                   has_unfold_kernel(task.graph, task.node(), task.options.caps);
        },
    .write = [](const KernelTask& task, const KernelChoice&) { return cpu_unfold_kernel(task); }};

}  // namespace hearth
