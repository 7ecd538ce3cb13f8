// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/lz4.hpp"

#include <cstring>

namespace hearth {

namespace {

/// The block's bytes that have not been read.
struct Input {
    std::span<const std::byte> left;

    bool read_byte(size_t& value) {
        if (left.empty()) return false;
        value = static_cast<size_t>(left[0]);
        left = left.subspan(1);
        return true;
    }
    /// Adds the bytes that continue a length of 15.
    bool read_length(size_t& length) {
        if (length != 15) return true;
        size_t byte = 255;
        while (byte == 255) {
            if (!read_byte(byte)) return false;
            length += byte;
        }
        return true;
    }
};

}  // namespace

bool lz4_decompress(std::span<const std::byte> block, std::span<std::byte> out) {
    constexpr size_t kLeastMatch = 4;
    Input input{block};
    size_t at = 0, token = 0;
    while (input.read_byte(token)) {
        size_t literals = token >> 4;
        if (!input.read_length(literals) || literals > input.left.size() ||
            literals > out.size() - at)
            return false;
        if (literals > 0) std::memcpy(out.data() + at, input.left.data(), literals);
        at += literals;
        input.left = input.left.subspan(literals);
        // The last sequence of a block has no match.
        if (input.left.empty()) return at == out.size() && (token & 15) == 0;
        size_t low = 0, high = 0, length = token & 15;
        if (!input.read_byte(low) || !input.read_byte(high) || !input.read_length(length))
            return false;
        const size_t distance = low | high << 8;
        length += kLeastMatch;
        if (distance == 0 || distance > at || length > out.size() - at) return false;
        // A match may overlap what it writes: it then repeats its first `distance` bytes.
        std::byte* to = out.data() + at;
        if (distance >= length)
            std::memcpy(to, to - distance, length);
        else
            for (size_t i = 0; i < length; ++i) to[i] = *(to + i - distance);
        at += length;
    }
    return false;
}

}  // namespace hearth
