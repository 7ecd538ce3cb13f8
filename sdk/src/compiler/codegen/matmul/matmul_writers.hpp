// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Writers of matrix products for GPUs, one for each MatmulFamily.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/codegen/matmul/matmul_tiles.hpp"

namespace hearth {

KernelDraft tiled_matmul(const KernelTask& task, const MatmulTile& tile);
KernelDraft vector_matmul(const KernelTask& task, const MatmulTile& tile);
/// kMatrix and kWorkgroup.
KernelDraft matrix_matmul(const KernelTask& task, const MatmulTile& tile);
KernelDraft gemv(const KernelTask& task, const MatmulTile& tile);

}  // namespace hearth
