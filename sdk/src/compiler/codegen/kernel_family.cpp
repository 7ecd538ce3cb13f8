// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_family.hpp"

#include "compiler/ops/cpu_windows.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <limits>

namespace hearth {

namespace {

using WriteKernel = KernelDraft(const Graph&, const Group&, const std::vector<bool>&,
                                const LowerOptions&);

/// A family with one kernel for each task.
template <WriteKernel* write>
constexpr KernelFamily single(const char* name,
                              bool (*matches)(const Graph&, const Node&, const DeviceCaps&)) {
    return {name, matches, [](const KernelTask&) { return std::vector<KernelChoice>(1); },
            [](const KernelTask&, const KernelChoice&) { return 0.0; },
            [](const KernelTask& task, const KernelChoice&) {
                return write(task.graph, task.group, task.inlined, task.options);
            }};
}

std::vector<KernelChoice> conv_candidates(const KernelTask& task) {
    const std::vector<ConvStrip> strips =
        conv_strips(ConvExtents(task.graph, task.node), device_model(task.options.caps));
    return {strips.begin(), strips.end()};
}

double conv_cost(const KernelTask& task, const KernelChoice& choice) {
    return conv_cycles(ConvExtents(task.graph, task.node), std::get<ConvStrip>(choice));
}

KernelDraft write_conv(const KernelTask& task, const KernelChoice& choice) {
    return cpu_conv_kernel(task.graph, task.group, task.inlined, task.options,
                           std::get<ConvStrip>(choice));
}

bool is_product(const Graph&, const Node& node, const DeviceCaps&) {
    return node.op->op_class == OpClass::kMatmul;
}

std::vector<KernelChoice> product_candidates(const KernelTask& task) {
    const std::vector<ProductLayout> layouts =
        cpu_product_layouts(task.graph, task.group, task.inlined, task.options);
    return {layouts.begin(), layouts.end()};
}

double product_cost(const KernelTask&, const KernelChoice& choice) {
    return std::get<ProductLayout>(choice).cycles;
}

KernelDraft write_product(const KernelTask& task, const KernelChoice& choice) {
    return cpu_matmul_kernel(task.graph, task.group, task.inlined, task.options,
                             std::get<ProductLayout>(choice));
}

constexpr KernelFamily kCpuFamilies[] = {
    {"product", is_product, product_candidates, product_cost, write_product},
    single<cpu_depthwise_kernel>("depthwise convolution", is_cpu_depthwise),
    {"convolution", is_cpu_conv, conv_candidates, conv_cost, write_conv},
    single<cpu_unfold_kernel>("unfold", is_cpu_unfold),
};

}  // namespace

std::span<const KernelFamily> cpu_families() {
    return kCpuFamilies;
}

const KernelFamily* cpu_family(const Graph& graph, const Node& node, const DeviceCaps& caps) {
    for (const KernelFamily& family : kCpuFamilies)
        if (family.matches(graph, node, caps)) return &family;
    return nullptr;
}

KernelChoice best_choice(const KernelFamily& family, const KernelTask& task) {
    KernelChoice best;
    double least = std::numeric_limits<double>::infinity();
    const std::vector<KernelChoice> candidates = family.candidates(task);
    HEARTH_ASSERT(!candidates.empty());
    for (const KernelChoice& choice : candidates) {
        const double cost = family.cost(task, choice);
        if (cost >= least) continue;
        least = cost;
        best = choice;
    }
    return best;
}

KernelDraft best_kernel(const KernelFamily& family, const KernelTask& task) {
    return family.write(task, best_choice(family, task));
}

}  // namespace hearth
