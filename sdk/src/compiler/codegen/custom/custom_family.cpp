// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/custom/custom_kernel.hpp"
#include "compiler/codegen/kernel_families.hpp"
#include "compiler/codegen/kernel_task.hpp"
#include "compiler/ir/custom_kernel.hpp"
#include "core/device_model.hpp"

namespace hearth {

const KernelFamily kCustomFamily = {
    .name = "custom",
    .matches =
        [](const KernelTask& task) {
            return task.group.kind == GroupKind::kCustom &&
                   (!device_model(task.options.caps).keeps_bodies ||
                    has_body(task.graph, task.node(), task.options.caps,
                             task.options.rows_capacity));
        },
    .write = [](const KernelTask& task, const KernelChoice&) { return custom_kernel(task); }};

}  // namespace hearth
