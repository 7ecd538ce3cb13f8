// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/kernel_families.hpp"

#include "compiler/codegen/kernel_task.hpp"

#include <hearth/op/op_def.hpp>

#include <string>

namespace hearth {

namespace {

// Of several that match, the first one writes the kernel: special ones precede the general.  Fused
// networks, of several groups, are tried before (fused_network/region_calls.hpp); batched kernels
// join elementwise groups, reductions and rows in place (batched_kernel.hpp).
constexpr const KernelFamily* kFamilies[] = {
    &kMatmulFamily, &kAttentionFamily, &kGruFamily,         &kDepthwiseConvFamily,
    &kConvFamily,   &kGpuConvFamily,   &kUnfoldFamily,      &kRowsFamily,
    &kCustomFamily, &kReductionFamily, &kElementwiseFamily,
};

}  // namespace

const KernelFamily* kernel_family(const KernelTask& task) {
    for (const KernelFamily* family : kFamilies)
        if (family->matches(task)) return family;
    return nullptr;
}

Status check_lowerable(const KernelTask& task) {
    for (NodeId n : task.group.nodes) {
        const OpDef& op = *task.graph.nodes[n].op;
        const bool has_kernel = op.compute || op.op_class == OpClass::kReduce ||
                                op.op_class == OpClass::kMatmul || op.op_class == OpClass::kKernel;
        if (!has_kernel) return unsupported(std::string(op.name) + " has no kernel");
        if (op.writes_in_place && !writes_in_place(task.graph, task.graph.nodes[n]))
            return internal_error(std::string(op.name) + " cannot write in place here");
    }
    if (kernel_family(task) == nullptr)
        return unsupported(std::string(task.node().op->name) + " has no kernel in C");
    return {};
}

}  // namespace hearth
