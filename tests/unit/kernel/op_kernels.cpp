// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "unit/kernel/op_kernels.hpp"

#include "compiler/interpreter/interpreter.hpp"
#include "compiler/passes/pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace hearth::test {

namespace {

/// What each value of a graph holds, as the interpreter says; none for what a graph's updates
/// replace.
Result<std::vector<HostTensor>> all_values(const Graph& graph, const Variant& variant) {
    Graph open = graph;
    open.outputs.clear();
    open.updates.clear();
    for (ValueId v = 0; v < graph.values.size(); ++v)
        open.outputs.push_back({"v" + std::to_string(v), v});
    std::vector<HostTensor> inputs;
    for (ValueId v : graph.inputs) inputs.push_back(variant.inputs.at(graph.values[v].name));
    return evaluate(open, inputs, variant.rows);
}

}  // namespace

bool writes_in_place(const KernelCall& call) {
    return std::any_of(call.operands.begin(), call.operands.end(), [&](const CallOperand& o) {
        return o.value != kNoValue && o.access == Access::kReadWrite;
    });
}

bool writes(const KernelCall& call, ValueId value) {
    return std::any_of(call.operands.begin(), call.operands.end(), [&](const CallOperand& o) {
        return o.value == value && o.access == Access::kWrite;
    });
}

std::optional<LoweredVariant> lower_variant(const Variant& variant, const DeviceCaps& caps,
                                            const LowerSettings& settings) {
    const uint64_t capacity = settings.rows_capacity != 0 ? settings.rows_capacity
                                                          : static_cast<uint64_t>(variant.rows) + 5;
    auto graph = run_passes(variant.graph, {.max_batch_size = capacity,
                                            .caps = caps,
                                            .fused_networks = settings.fused_networks,
                                            .precision = settings.precision});
    EXPECT_TRUE(graph.ok()) << variant.text << ": " << graph.status().message();
    if (!graph.ok()) return {};
    LowerOptions options;
    options.caps = caps;
    options.rows_capacity = capacity;
    options.fused_networks = settings.fused_networks;
    options.variants = settings.variants;
    options.compile_kernels = false;
    options.variants = settings.variants;
    auto lowered = lower({&*graph, 1}, options);
    EXPECT_TRUE(lowered.ok()) << variant.text << ": " << lowered.status().message();
    auto values = all_values(*graph, variant);
    EXPECT_TRUE(values.ok()) << variant.text << ": " << values.status().message();
    if (!lowered.ok() || !values.ok()) return {};
    return LoweredVariant{std::move(*graph), std::move(lowered->entries[0].calls),
                          std::move(*values)};
}

std::vector<OpKernel> kernels_of(const Variant& variant, const DeviceCaps& caps,
                                 const LowerSettings& settings) {
    std::vector<OpKernel> kernels;
    const auto lowered = lower_variant(variant, caps, settings);
    if (!lowered) return kernels;
    for (const KernelCall& call : lowered->calls) {
        if (call.body == nullptr || writes_in_place(call)) continue;
        uint32_t workgroups = 1;  // bodies have all axes of the grid in one
        for (const GridAxis& axis : call.grid)
            workgroups *= axis.groups(static_cast<uint64_t>(variant.rows));
        OpKernel kernel{
            .body = std::make_shared<const Body>(*call.body),
            .launch = {variant.text + ", kernel " + call.label, workgroups, variant.rows}};
        for (const BodyBuffer& b : call.body->buffers) {
            if (b.kind != BufferKind::kOperand) continue;
            const HostTensor contents = lowered->values[b.value].cast(b.dtype);
            const bool is_written = writes(call, b.value);
            if (is_written) kernel.expected.emplace_back(kernel.operands.size(), contents);
            kernel.operands.push_back(is_written ? OperandMemory::empty(b.dtype, contents.shape())
                                                 : OperandMemory::full(contents));
        }
        kernels.push_back(std::move(kernel));
    }
    return kernels;
}

DeviceCaps gpu_caps() {
    DeviceCaps caps;
    caps.subgroup_size = 32;
    caps.shader_float16 = caps.storage_buffer_16bit_access = caps.storage_buffer_8bit_access = true;
    return caps;
}

DeviceCaps matrix_caps() {
    DeviceCaps caps = gpu_caps();
    caps.subgroup_size = 8;
    caps.device_type = DeviceType::kCpu;
    caps.cooperative_matrix_shape = {8, 8, 8};
    caps.cooperative_matrix = CooperativeMatrixExt::kKhr;
    return caps;
}

DeviceCaps cpu_caps() {
    DeviceCaps caps = gpu_caps();
    caps.subgroup_size = 8;
    caps.device_type = DeviceType::kCpu;
    return caps;
}

}  // namespace hearth::test
