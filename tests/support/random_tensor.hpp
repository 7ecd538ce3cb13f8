// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Keyed random tensors.

#pragma once

#include "compiler/interpreter/interpreter.hpp"

#include <hearth/core/philox.hpp>
#include <hearth/host_tensor.hpp>

#include <cstdint>

namespace hearth::test {

/// Numbers in [-scale, scale) that depend on the key alone.
inline HostTensor random_tensor(const Shape& shape, uint64_t key, double scale = 1,
                                DType dtype = DType::kF32) {
    HostTensor t(dtype, shape);
    for (int64_t i = 0; i < t.element_count(); ++i)
        t.set(i,
              scale * (2 * uniform_from_bits(philox_bits(key, 0, static_cast<uint32_t>(i))) - 1));
    return t;
}

/// A random tensor for each input of the graph, each with a key of its own.
inline NamedTensors random_inputs(const Graph& graph, int64_t rows, double scale = 1) {
    NamedTensors inputs;
    for (const ValueId id : graph.inputs) {
        const Value& value = graph.value(id);
        inputs.emplace(value.name, random_tensor(value.shape.resolve(rows), inputs.size() + 1,
                                                 scale, value.dtype));
    }
    return inputs;
}

}  // namespace hearth::test
