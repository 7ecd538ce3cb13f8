// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products with the group's prologue and epilogue: on GPUs tiles in shared memory and registers, on CPUs
// register tiles and packed panels.

#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_rows.hpp"
#include "compiler/codegen/matmul/matmul_writers.hpp"
#include "core/device_model.hpp"

#include <hearth/core/assert.hpp>
#include <hearth/op/op_def.hpp>

namespace hearth {

bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options) {
    if (device_model(options.caps).keeps_bodies || product.attrs.has("parts")) return false;
    Group alone;
    alone.nodes = {static_cast<NodeId>(&product - graph.nodes.data())};
    const std::vector<bool> inlined(graph.nodes.size());
    const MatmulProblem problem = MatmulBody({graph, alone, inlined, options}).problem();
    return choose_folding_tile(problem, options.caps).has_value();
}

namespace {

/// The product of a group, as the choice of its tile depends on it.
MatmulProblem matmul_problem(const KernelTask& task) {
    return MatmulBody(task).problem();
}

/// Tiles that a kernel of the group may have, the shipped choice first.
std::vector<MatmulTile> matmul_tiles(const KernelTask& task) {
    const MatmulProblem problem = matmul_problem(task);
    if (prologue_of(task)) {
        const std::optional<MatmulTile> tile = choose_folding_tile(problem, task.options.caps);
        HEARTH_ASSERT(tile);  // else the prologue would not be in the group
        return {*tile};
    }
    if (!problem.can_be_tuned()) return {choose_matmul_tile(problem, task.options.caps)};
    return matmul_candidates(problem, task.options.caps);
}

/// tile: one of matmul_tiles().
KernelDraft matmul_kernel(const KernelTask& task, const MatmulTile& tile) {
    switch (tile.family) {
        case MatmulFamily::kTiled:
            return tiled_matmul(task, tile);
        case MatmulFamily::kVector:
            return vector_matmul(task, tile);
        case MatmulFamily::kGemv:
            return gemv(task, tile);
        case MatmulFamily::kMatrix:
        case MatmulFamily::kWorkgroup:
            break;
    }
    return matrix_matmul(task, tile);
}

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
