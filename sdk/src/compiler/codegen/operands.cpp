// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/operands.hpp"

#include "compiler/codegen/kernel_draft.hpp"
#include "compiler/codegen/lower_options.hpp"
#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// True if functions of the kernel take buffers, or variables are buffers.
bool passes_buffers(const KernelDraft& kernel) {
    return kernel.described != nullptr &&
           std::ranges::any_of(kernel.described->buffers, [](const BodyBuffer& buffer) {
               return buffer.kind != BufferKind::kOperand;
           });
}

}  // namespace

std::string BufferTable::name_of(uint32_t value) {
    size_t index = 0;
    while (index < values.size() && values[index] != value) ++index;
    if (index == values.size()) values.push_back(value);
    return "b" + std::to_string(index);
}

bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes) {
    return std::any_of(buffers.values.begin(), buffers.values.end(), [&](uint32_t v) {
        return size_bytes(device_dtype(graph.values[v].dtype, storage)) == bytes;
    });
}

int most_fused_operands(const DeviceCaps& caps) {
    constexpr int kMostStreams = 64;  // through memory, of one loop
    return device_model(caps).keeps_bodies ? kMostStreams : static_cast<int>(kMaxBoundOperands);
}

int most_bound_operands(const DeviceCaps& caps) {
    return device_model(caps).keeps_bodies ? 0 : static_cast<int>(kMaxBoundOperands);
}

OperandLayout operand_layout(const Graph& graph, const KernelDraft& kernel,
                             const LowerOptions& options) {
    OperandLayout layout;
    const std::vector<uint32_t>& values = kernel.buffers.values;
    for (size_t i = 0; i < values.size(); ++i) layout.order.push_back(i);
    // A function has any number of parameters, of which one is the rows.
    if (device_model(options.caps).keeps_bodies) return layout;
    layout.uses_rows = kernel.buffers.uses_rows;
    // A descriptor cannot be passed, a place in a region can.
    const bool needs_places =
        options.binding_model == BindingModel::kDescriptor && passes_buffers(kernel);
    if (layout.count() <= kMaxBoundOperands && !needs_places) return layout;
    const std::vector<bool> is_external = external_values(graph);
    const auto first_bound =
        std::stable_partition(layout.order.begin(), layout.order.end(),
                              [&](size_t i) { return !is_external[values[i]]; });
    layout.located_count = static_cast<uint32_t>(first_bound - layout.order.begin());
    return layout;
}

bool reaches_operands(const OperandLayout& layout, const DeviceCaps& caps) {
    if (device_model(caps).keeps_bodies) return true;
    const uint32_t regions = layout.located_count > 0 ? 2 : 0;  // arena and weights
    return regions + layout.count() - layout.located_count <= kMaxBoundOperands;
}

}  // namespace hearth
