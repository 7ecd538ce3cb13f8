// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ir/held_types.hpp"

#include <algorithm>
#include <memory>

namespace hearth {

bool are_types_held(const Graph& graph, NarrowStorage storage) {
    return std::ranges::none_of(graph.values, [&](const Value& v) {
        return size_bytes(v.dtype) == 8 && size_bytes(device_dtype(v.dtype, storage)) < 8;
    });
}

Graph with_held_types(const Graph& graph, NarrowStorage storage) {
    Graph held = graph;
    for (Value& value : held.values) {
        if (size_bytes(value.dtype) < 8) continue;
        value.dtype = device_dtype(value.dtype, storage);
        if (value.data && value.data->dtype() != value.dtype)
            value.data = std::make_shared<HostTensor>(value.data->cast(value.dtype));
    }
    return held;
}

}  // namespace hearth
