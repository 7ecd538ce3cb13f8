// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_family.hpp"

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/codegen/lower.hpp"
#include "compiler/ops/cpu_windows.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <utility>

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

std::string to_string(const KernelChoice& choice) {
    if (const auto* layout = std::get_if<ProductLayout>(&choice))
        return layout->is_turned ? "turned" : "not turned";
    const auto* s = std::get_if<ConvStrip>(&choice);
    if (s == nullptr) return "";
    const auto number = [](int64_t n) { return std::to_string(n); };
    return number(s->tile.rows) + "x" + number(s->tile.vectors) + "x" + number(s->tile.lanes) +
           (s->by_rows ? " tiles of a row, " : " tiles, ") + number(s->rows) + "x" +
           number(s->columns) + " windows, " + number(s->channels) + " channels, " +
           number(s->outputs) + " outputs";
}

std::vector<KernelChoice> variants_of(const KernelFamily& family, const KernelTask& task) {
    constexpr size_t kMostVariants = 8;   // each is compiled by the system's compiler
    constexpr double kWorthTrying = 1.5;  // times the least cost
    std::vector<std::pair<double, KernelChoice>> by_cost;
    for (const KernelChoice& choice : family.candidates(task))
        by_cost.emplace_back(family.cost(task, choice), choice);
    HEARTH_ASSERT(!by_cost.empty());
    std::ranges::stable_sort(by_cost, {}, [](const auto& one) { return one.first; });
    std::vector<KernelChoice> variants;
    for (const auto& [cost, choice] : by_cost)
        if (variants.empty() ||
            (cost <= kWorthTrying * by_cost[0].first && variants.size() < kMostVariants))
            variants.push_back(choice);
    return variants;
}

KernelDraft best_kernel(const KernelFamily& family, const KernelTask& task) {
    const std::vector<KernelChoice> variants = variants_of(family, task);
    if (variants.size() == 1) return family.write(task, variants[0]);
    const std::string key = kernel_problem(task.graph, task.node, task.options.rows_capacity).key();
    const auto measured = task.options.variants.find(key);
    KernelChoice chosen = variants[0];
    std::vector<std::string> names;
    for (const KernelChoice& variant : variants) {
        names.push_back(to_string(variant));
        if (measured != task.options.variants.end() && measured->second == names.back())
            chosen = variant;
    }
    KernelDraft kernel = family.write(task, chosen);
    kernel.tunable = key;
    kernel.variants = std::move(names);
    return kernel;
}

}  // namespace hearth
