// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_kernel.hpp"
#include "core/device_model.hpp"

namespace hearth {

namespace {

bool is_product(const KernelTask& task) {
    return task.group.kind == GroupKind::kMatmul;
}

bool vectorizes_loops(const KernelTask& task) {
    return device_model(task.options.caps).vectorizes_loops;
}

std::vector<KernelChoice> candidates(const KernelTask& task) {
    if (vectorizes_loops(task)) {
        const std::vector<ProductLayout> layouts = cpu_product_layouts(task);
        return {layouts.begin(), layouts.end()};
    }
    const std::vector<MatmulTile> tiles = matmul_tiles(task);
    return {tiles.begin(), tiles.end()};
}

double cost(const KernelTask& task, const KernelChoice& choice) {
    if (const auto* layout = std::get_if<ProductLayout>(&choice)) return layout->cycles;
    return matmul_cost(std::get<MatmulTile>(choice), matmul_problem(task), task.options.caps);
}

// The order of tiles on GPUs was measured (matmul_tiles.hpp).
std::string tuning_key(const KernelTask& task) {
    return vectorizes_loops(task) ? "" : matmul_problem(task).key();
}

KernelDraft write(const KernelTask& task, const KernelChoice& choice) {
    if (const auto* layout = std::get_if<ProductLayout>(&choice))
        return cpu_matmul_kernel(task, *layout);
    return matmul_kernel(task, std::get<MatmulTile>(choice));
}

}  // namespace

const KernelFamily kMatmulFamily = {.name = "matmul",
                                    .matches = is_product,
                                    .write = write,
                                    .candidates = candidates,
                                    .cost = cost,
                                    .tuning_key = tuning_key};

}  // namespace hearth
