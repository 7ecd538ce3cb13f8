// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How a kernel's text reaches elements of its operands, whatever their buffers hold.

#pragma once

#include "codegen/glsl_writer.hpp"
#include "ir/graph.hpp"

#include <string>
#include <string_view>

namespace hearth {

/// How the elements of one type lie in a buffer.
struct HeldType {
    DType dtype;
    std::string_view block;    ///< name of a buffer type with such elements
    std::string_view element;  ///< in GLSL
};

const HeldType& held_type(DType dtype, NarrowStorage storage);

/// For each buffer, which is declared already:
///     b0_load(i)          an element, as the float, int or uint that kernels compute with
///     b0_store(i, value)  a statement that rounds (floats) or wraps (integers) and stores one
std::string access_macros(const Graph& graph, const BufferTable& buffers, NarrowStorage storage);

/// The element of such a type in part `lane` ("0" or a name) of `words`, a vector of words of
/// memory; for types of 2 and 4 bytes.
std::string element_of_words(const HeldType& held, const std::string& words,
                             const std::string& lane);

/// Word `index` of some that hold the elements `values`[0], [1], ... of a tensor of `dtype`.
std::string word_of_elements(const HeldType& held, DType dtype, const std::string& values,
                             int index);

/// Whether any of the buffers has elements of so many bytes.
bool holds(const Graph& graph, const BufferTable& buffers, NarrowStorage storage, uint32_t bytes);

}  // namespace hearth
