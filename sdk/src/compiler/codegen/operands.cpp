// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/codegen/operands.hpp"

#include <algorithm>

namespace hearth {

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

}  // namespace hearth
