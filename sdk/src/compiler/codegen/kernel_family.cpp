// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_family.hpp"

#include "compiler/codegen/kernel_problem.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace hearth {

std::string to_string(const KernelChoice& choice) {
    if (const auto* layout = std::get_if<ProductLayout>(&choice))
        return layout->is_turned ? "turned" : "not turned";
    if (const auto* tile = std::get_if<MatmulTile>(&choice)) return to_string(*tile);
    if (const auto* tile = std::get_if<AttentionTile>(&choice)) return to_string(*tile);
    if (const auto* tile = std::get_if<ConvTile>(&choice)) return to_string(*tile);
    const auto* s = std::get_if<ConvStrip>(&choice);
    if (s == nullptr) return "";
    const auto number = [](int64_t n) { return std::to_string(n); };
    return number(s->tile.rows) + "x" + number(s->tile.vectors) + "x" + number(s->tile.lanes) +
           (s->by_rows ? " tiles of a row, " : " tiles, ") + number(s->rows) + "x" +
           number(s->columns) + " windows, " + number(s->channels) + " channels, " +
           number(s->outputs) + " outputs";
}

std::vector<KernelChoice> variants_of(const KernelFamily& family, const KernelTask& task) {
    // On a CPU the system's compiler compiles each of them.
    const size_t most = device_model(task.options.caps).keeps_bodies ? 8 : SIZE_MAX;
    constexpr double kWorthTrying = 1.5;  // times the least cost
    std::vector<std::pair<double, KernelChoice>> by_cost;
    for (const KernelChoice& choice : family.candidates(task))
        by_cost.emplace_back(family.cost(task, choice), choice);
    HEARTH_ASSERT(!by_cost.empty());
    std::ranges::stable_sort(by_cost, {}, [](const auto& one) { return one.first; });
    std::vector<KernelChoice> variants;
    for (const auto& [cost, choice] : by_cost)
        if (variants.empty() || (cost <= kWorthTrying * by_cost[0].first && variants.size() < most))
            variants.push_back(choice);
    return variants;
}

KernelDraft best_kernel(const KernelFamily& family, const KernelTask& task) {
    std::string key = family.tuning_key(task);
    const bool is_listed = key.empty();
    const std::vector<KernelChoice> variants =
        is_listed ? variants_of(family, task) : family.candidates(task);
    if (variants.size() == 1) return family.write(task, variants[0]);
    if (is_listed) key = kernel_problem(task.graph, task.node(), task.options.rows_capacity).key();
    KernelChoice chosen = variants[0];
    if (const auto measured = task.options.variants.find(key);
        measured != task.options.variants.end())
        for (const KernelChoice& variant : variants)
            if (to_string(variant) == measured->second) chosen = variant;
    KernelDraft kernel = family.write(task, chosen);
    kernel.tunable = std::move(key);
    if (is_listed)
        for (const KernelChoice& variant : variants) kernel.variants.push_back(to_string(variant));
    return kernel;
}

}  // namespace hearth
