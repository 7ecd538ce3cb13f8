// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/conv/gpu_conv_kernel.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/ir/custom_kernel.hpp"
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

std::vector<KernelChoice> tiles(const KernelTask& task) {
    const NodeContext node(task.graph, task.node(), task.options.caps, task.options.rows_capacity);
    const std::vector<ConvTile> all = conv_tiles(node.context);
    return {all.begin(), all.end()};
}

using WriteConv = KernelDraft (*)(const KernelTask&, const ConvProblem&, const ConvTile&);
WriteConv writer_of(ConvFamily family) {
    switch (family) {
        case ConvFamily::kTiled:
            return gpu_conv_tiled;
        case ConvFamily::kStrips:
            return gpu_conv_strips;
        case ConvFamily::kDepthwise:
            return gpu_conv_depthwise;
        case ConvFamily::kMatrix:
            return gpu_conv_matrix;
        case ConvFamily::kSlices:
            return gpu_conv_slices;
    }
    return nullptr;
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

// The order of tiles was measured, so all have one cost.
const KernelFamily kGpuConvFamily = {
    .name = "convolution on GPUs",
    .matches =
        [](const KernelTask& task) {
            return is_custom(task) && task.node().op->traits.is_convolution &&
                   !device_model(task.options.caps).keeps_bodies;
        },
    .write =
        [](const KernelTask& task, const KernelChoice& choice) {
            const auto& tile = std::get<ConvTile>(choice);
            const NodeContext node(task.graph, task.node(), task.options.caps,
                                   task.options.rows_capacity);
            return writer_of(tile.family)(task, ConvProblem(node.context), tile);
        },
    .candidates = tiles};

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
