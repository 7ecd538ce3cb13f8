// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// How elements of each type lie in buffers, and are loaded and stored, in GLSL.

#pragma once

#include "compiler/kernel/body.hpp"

#include <hearth/types.hpp>

#include <string>
#include <string_view>

namespace hearth {

/// How the elements of one type lie in a buffer.
struct HeldType {
    DType dtype;
    std::string_view block;    ///< name of a buffer type with such elements
    std::string_view element;  ///< in GLSL
};

/// A chunk's type; fragments are of shaders/common/coopmat.glsl.
std::string_view glsl_chunk_type(Chunk chunk);

/// held: a type that lies in buffers, see device_dtype().
const HeldType& held_type(DType held);

/// `stored`, an element of such a buffer, as the float, int or uint that kernels compute with.
std::string load_text(const HeldType& held, const std::string& stored);

/// `value`, a float, int or uint, as an element of a tensor of `dtype` in such a buffer: rounded
/// (floats) or wrapped around (integers).
std::string store_text(const HeldType& held, DType dtype, const std::string& value);

/// The same ahead of the conversion to an element of 1 or 2 bytes: a float, int or uint.
std::string value_text(const HeldType& held, DType dtype, const std::string& value);

/// The element of such a type in part `lane` ("0" or a name) of `words`, a vector of words of
/// memory; for types of 2 and 4 bytes.
std::string element_of_words(const HeldType& held, const std::string& words,
                             const std::string& lane);

/// Word `index` of some that hold the elements `values`[0], [1], ... of a tensor of `dtype`.
std::string word_of_elements(const HeldType& held, DType dtype, const std::string& values,
                             int index);

}  // namespace hearth
