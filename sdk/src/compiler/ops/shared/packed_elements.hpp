// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Narrow elements in u32 words: the operator unpack_elements.

#pragma once

#include <hearth/host_tensor.hpp>
#include <hearth/tensor.hpp>

#include <cstddef>
#include <span>

namespace hearth {

/// The bytes as u32 [n], little-endian; the last word is filled with zeros.
HostTensor words_of(std::span<const std::byte> bytes);

/// words: u32 [n], elements of `bits` bits from the lowest bits up -> `to` [shape].
/// bits: those of `to`, a type of 1 or 2 bytes; or 2 or 4, of i8 or u8.
Tensor unpack_elements(const Tensor& words, const Shape& shape, DType to, int64_t bits);

}  // namespace hearth
