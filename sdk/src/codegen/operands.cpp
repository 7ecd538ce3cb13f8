// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "codegen/operands.hpp"

#include <algorithm>

namespace hearth {

bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes) {
    return std::any_of(buffers.values.begin(), buffers.values.end(), [&](uint32_t v) {
        return size_bytes(device_dtype(graph.values[v].dtype, storage)) == bytes;
    });
}

std::string access_macros(const Graph& graph, const BufferTable& buffers, NarrowStorage storage) {
    std::string text;
    for (size_t i = 0; i < buffers.values.size(); ++i) {
        const DType dtype = graph.values[buffers.values[i]].dtype;
        const HeldType& held = held_type(dtype, storage);
        const std::string name = "b" + std::to_string(i);
        const std::string at = name + ".at[i]";
        text += "#define " + name + "_load(i) " + load_text(held, at) + "\n";
        text += "#define " + name + "_store(i, value) " + at + " = " +
                store_text(held, dtype, "value") + "\n";
    }
    return text;
}

}  // namespace hearth
