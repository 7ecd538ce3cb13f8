// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/conv/conv_kernels.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
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
