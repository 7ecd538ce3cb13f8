// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/operands.hpp"

#include "core/device_model.hpp"

#include <algorithm>

namespace hearth {

namespace {

/// True if the value may lie in a buffer of the host's: an input, what an input is set to, or an
/// output.
bool may_be_external(const Graph& graph, ValueId v) {
    const auto is_input = [&](ValueId value) {
        return graph.value(value).kind == ValueKind::kInput;
    };
    return is_input(v) ||
           std::ranges::any_of(graph.updates,
                               [&](const Assignment& update) {
                                   return update.value == v && is_input(update.target);
                               }) ||
           std::ranges::any_of(graph.outputs,
                               [&](const GraphOutput& output) { return output.value == v; });
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

int most_fused_operands(BindingModel model, const DeviceCaps& caps) {
    constexpr int kMostStreams = 64;  // through memory, of one loop
    if (device_model(caps).keeps_bodies) return kMostStreams;
    // Without addresses the live rows are an operand, too.
    return static_cast<int>(kMaxPushedOperands) - (model == BindingModel::kDeviceAddress ? 0 : 1);
}

OperandLayout operand_layout(const Graph& graph, const BufferTable& buffers,
                             const DeviceCaps& caps) {
    OperandLayout layout;
    const std::vector<uint32_t>& values = buffers.values;
    for (size_t i = 0; i < values.size(); ++i) layout.order.push_back(i);
    // A function has any number of parameters, of which one is the rows.
    if (device_model(caps).keeps_bodies) return layout;
    layout.uses_rows = buffers.uses_rows;
    if (layout.count() <= kMaxPushedOperands) return layout;
    const auto first_pushed =
        std::stable_partition(layout.order.begin(), layout.order.end(),
                              [&](size_t i) { return !may_be_external(graph, values[i]); });
    layout.located_count = static_cast<uint32_t>(first_pushed - layout.order.begin());
    return layout;
}

bool reaches_operands(const OperandLayout& layout, BindingModel model, const DeviceCaps& caps) {
    if (device_model(caps).keeps_bodies) return true;
    const bool is_located = layout.located_count > 0;
    // The addresses of arena and weights are pushed, too.
    const uint32_t pushed = layout.count() - layout.located_count + (is_located ? 2 : 0);
    return pushed <= kMaxPushedOperands && !(is_located && model == BindingModel::kDescriptor);
}

}  // namespace hearth
