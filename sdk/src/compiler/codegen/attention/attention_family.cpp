// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/attention/attention_kernel.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"

namespace hearth {

// The order of tiles was measured, so all have one cost.
const KernelFamily kAttentionFamily = {
    .name = "attention",
    .matches =
        [](const KernelTask& task) {
            return task.group.kind == GroupKind::kCustom &&
                   task.node().op->traits.attention != AttentionPass::kNone;
        },
    .write =
        [](const KernelTask& task, const KernelChoice& choice) {
            return attention_kernel(task, std::get<AttentionTile>(choice));
        },
    .candidates = [](const KernelTask& task) -> std::vector<KernelChoice> {
        const std::vector<AttentionTile> tiles =
            attention_tiles(task.graph, task.node(), task.options.caps, task.options.rows_capacity);
        return {tiles.begin(), tiles.end()};
    }};

}  // namespace hearth
