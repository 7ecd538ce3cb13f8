// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How a kernel's text reaches elements of its operands, whatever their buffers hold.

#pragma once

#include "codegen/glsl_writer.hpp"
#include "ir/graph.hpp"
#include "print/glsl_elements.hpp"

#include <string>
#include <string_view>

namespace hearth {

/// How elements of a tensor lie in its buffer.
inline const HeldType& held_type(DType dtype, NarrowStorage storage) {
    return held_type(device_dtype(dtype, storage));
}

/// Whether any of the buffers has elements of so many bytes.
bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes);

}  // namespace hearth
