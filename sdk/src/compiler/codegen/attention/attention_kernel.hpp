// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Kernels of attention and of its gradients that do not store the scores.

#pragma once

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/ops/kernels/attention_tiles.hpp"

namespace hearth {

KernelDraft attention_kernel(const KernelTask& task, const AttentionTile& tile);

}  // namespace hearth
