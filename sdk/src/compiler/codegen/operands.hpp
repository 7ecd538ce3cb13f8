// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How a kernel's text reaches elements of its operands, whatever their buffers hold.

#pragma once

#include "compiler/ir/graph.hpp"
#include "compiler/print/glsl_elements.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hearth {

/// The buffers that one kernel touches, in the order in which its text first names them.  They are
/// named by position, so that equal kernels on different values have equal text.
struct BufferTable {
    std::vector<uint32_t> values;
    bool uses_rows = false;

    std::string name_of(uint32_t value);
};

/// How elements of a tensor lie in its buffer.
inline const HeldType& held_type(DType dtype, NarrowStorage storage) {
    return held_type(device_dtype(dtype, storage));
}

/// Whether any of the buffers has elements of so many bytes.
bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes);

}  // namespace hearth
