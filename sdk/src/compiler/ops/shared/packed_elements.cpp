// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "compiler/ops/shared/packed_elements.hpp"

#include "compiler/ops/op_table.hpp"

#include <algorithm>

namespace hearth {

HostTensor words_of(std::span<const std::byte> bytes) {
    HostTensor words(DType::kU32, {Dim(static_cast<int64_t>((bytes.size() + 3) / 4))});
    std::copy(bytes.begin(), bytes.end(), words.bytes().begin());
    return words;
}

Tensor unpack_elements(const Tensor& words, const Shape& shape, DType to, int64_t bits) {
    return apply_one(op("unpack_elements"), {words},
                     {{"shape", shape}, {"to", to}, {"bits", bits}});
}

}  // namespace hearth
