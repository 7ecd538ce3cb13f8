// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writers of matrix products: for GPUs one for each MatmulFamily, and one for CPUs.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"

#include <vector>

namespace hearth {

KernelDraft tiled_matmul(const KernelTask& task, const MatmulTile& tile);
KernelDraft vector_matmul(const KernelTask& task, const MatmulTile& tile);
/// kMatrix and kWorkgroup.
KernelDraft matrix_matmul(const KernelTask& task, const MatmulTile& tile);
KernelDraft gemv(const KernelTask& task, const MatmulTile& tile);

/// True if the product's kernel can reduce rows of its left operand (FusionOptions::folds_rows).
bool folds_rows(const Graph& graph, const Node& product, const LowerOptions& options);

/// The layouts that a product can have on CPUs; the bits are the same.
std::vector<ProductLayout> cpu_product_layouts(const KernelTask& task);
KernelDraft cpu_matmul_kernel(const KernelTask& task, const ProductLayout& layout);

}  // namespace hearth
