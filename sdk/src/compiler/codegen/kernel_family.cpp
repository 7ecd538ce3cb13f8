// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_family.hpp"

#include "compiler/codegen/kernel_problem.hpp"
#include "compiler/ir/custom_kernel.hpp"
#include "compiler/ops/cpu_windows.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

#include <algorithm>
#include <utility>

namespace hearth {

const Node& KernelTask::node() const {
    if (group.kind == GroupKind::kMatmul) return node_of(graph, group, OpClass::kMatmul);
    if (group.kind == GroupKind::kCustom) return node_of(graph, group, OpClass::kKernel);
    return graph.nodes[group.nodes.back()];
}

namespace {

using WriteKernel = KernelDraft(const Graph&, const Group&, const std::vector<bool>&,
                                const LowerOptions&);

KernelDraft written(WriteKernel* write, const KernelTask& task) {
    return write(task.graph, task.group, task.inlined, task.options);
}

/// A family with one kernel for each task.
template <WriteKernel* write>
constexpr KernelFamily single(const char* name, bool (*matches)(const KernelTask&)) {
    return {name, matches, [](const KernelTask&) { return std::vector<KernelChoice>(1); },
            [](const KernelTask&, const KernelChoice&) { return 0.0; },
            [](const KernelTask& task, const KernelChoice&) { return written(write, task); }};
}

template <GroupKind kind>
bool is_of_kind(const KernelTask& task) {
    return task.group.kind == kind;
}

template <GroupKind kind, bool (*has_kernel)(const Graph&, const Node&, const DeviceCaps&)>
bool has_node(const KernelTask& task) {
    return task.group.kind == kind && has_kernel(task.graph, task.node(), task.options.caps);
}

bool is_unfold(const KernelTask& task) {
    return task.group.nodes.size() == 1 &&
           has_node<GroupKind::kElementwise, has_unfold_kernel>(task);
}

bool keeps_bodies(const KernelTask& task) {
    return device_model(task.options.caps).keeps_bodies;
}

std::vector<KernelChoice> conv_candidates(const KernelTask& task) {
    const std::vector<ConvStrip> strips =
        conv_strips(ConvExtents(task.graph, task.node()), device_model(task.options.caps));
    return {strips.begin(), strips.end()};
}

double conv_cost(const KernelTask& task, const KernelChoice& choice) {
    return conv_cycles(ConvExtents(task.graph, task.node()), std::get<ConvStrip>(choice));
}

KernelDraft write_conv(const KernelTask& task, const KernelChoice& choice) {
    return cpu_conv_kernel(task.graph, task.group, task.inlined, task.options,
                           std::get<ConvStrip>(choice));
}

std::vector<KernelChoice> product_candidates(const KernelTask& task) {
    if (!keeps_bodies(task)) return std::vector<KernelChoice>(1);
    const std::vector<ProductLayout> layouts =
        cpu_product_layouts(task.graph, task.group, task.inlined, task.options);
    return {layouts.begin(), layouts.end()};
}

double product_cost(const KernelTask&, const KernelChoice& choice) {
    const auto* layout = std::get_if<ProductLayout>(&choice);
    return layout != nullptr ? layout->cycles : 0;
}

KernelDraft write_product(const KernelTask& task, const KernelChoice& choice) {
    if (const auto* layout = std::get_if<ProductLayout>(&choice))
        return cpu_matmul_kernel(task.graph, task.group, task.inlined, task.options, *layout);
    return written(matmul_kernel, task);
}

bool is_rows_in_place(const KernelTask& task) {
    return !keeps_bodies(task) && writes_distinct_rows(task.graph, task.group);
}

bool is_custom(const KernelTask& task) {
    return is_of_kind<GroupKind::kCustom>(task) &&
           (!keeps_bodies(task) || has_cpu_kernel(*task.node().op) ||
            has_body(task.graph, task.node(), task.options.caps, task.options.rows_capacity));
}

KernelDraft write_custom(const KernelTask& task, const KernelChoice&) {
    const bool has_writer = keeps_bodies(task) && has_cpu_kernel(*task.node().op);
    return written(has_writer ? cpu_custom_kernel : custom_kernel, task);
}

constexpr KernelFamily kFamilies[] = {
    {"product", is_of_kind<GroupKind::kMatmul>, product_candidates, product_cost, write_product},
    single<cpu_depthwise_kernel>("depthwise convolution",
                                 has_node<GroupKind::kCustom, has_depthwise_kernel>),
    {"convolution", has_node<GroupKind::kCustom, has_strip_kernel>, conv_candidates, conv_cost,
     write_conv},
    single<cpu_unfold_kernel>("unfold", is_unfold),
    single<rows_kernel>("rows in place", is_rows_in_place),
    {"custom", is_custom, [](const KernelTask&) { return std::vector<KernelChoice>(1); },
     [](const KernelTask&, const KernelChoice&) { return 0.0; }, write_custom},
    single<reduction_kernel>("reduction", is_of_kind<GroupKind::kReduction>),
    single<elementwise_kernel>("elementwise", is_of_kind<GroupKind::kElementwise>),
};

}  // namespace

std::span<const KernelFamily> kernel_families() {
    return kFamilies;
}

const KernelFamily* kernel_family(const KernelTask& task) {
    const auto* const found = std::ranges::find_if(
        kFamilies, [&](const KernelFamily& family) { return family.matches(task); });
    return found == std::end(kFamilies) ? nullptr : found;
}

Status check_lowerable(const KernelTask& task) {
    for (NodeId n : task.group.nodes) {
        const OpDef& op = *task.graph.nodes[n].op;
        const bool has_kernel = op.compute || op.op_class == OpClass::kReduce ||
                                op.op_class == OpClass::kMatmul || op.op_class == OpClass::kKernel;
        if (!has_kernel) return unsupported(std::string(op.name) + " has no kernel");
        if (op.writes_in_place && !writes_in_place(task.graph, task.graph.nodes[n]))
            return internal_error(std::string(op.name) + " cannot write in place here");
    }
    if (kernel_family(task) == nullptr)
        return unsupported(std::string(task.node().op->name) + " has no kernel in C");
    return {};
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
    const std::string key =
        kernel_problem(task.graph, task.node(), task.options.rows_capacity).key();
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
