// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Matrix products with the group's prologue and epilogue: on GPUs tiles in shared memory and registers
// (matmul_writers.hpp), on CPUs register tiles and packed panels.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"

#include <vector>

namespace hearth {

/// The product of a group, as the choice of its tile depends on it.
MatmulProblem matmul_problem(const KernelTask& task);
/// Tiles that a kernel of the group may have, the shipped choice first.
std::vector<MatmulTile> matmul_tiles(const KernelTask& task);
/// tile: one of matmul_tiles().
KernelDraft matmul_kernel(const KernelTask& task, const MatmulTile& tile);

/// True if the product's kernel can reduce rows of its left operand (FusionOptions::folds_rows).
bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options);

/// The layouts that a product can have; the bits are the same.
std::vector<ProductLayout> cpu_product_layouts(const KernelTask& task);
KernelDraft cpu_matmul_kernel(const KernelTask& task, const ProductLayout& layout);

}  // namespace hearth
