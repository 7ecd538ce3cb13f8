// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/matmul/matmul_kernel.hpp"

#include "compiler/codegen/matmul/matmul_body.hpp"
#include "compiler/codegen/matmul/matmul_rows.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"
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

MatmulProblem matmul_problem(const KernelTask& task) {
    return MatmulBody(task).problem();
}

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

}  // namespace hearth
