// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// 64-bit content hash, equal on every platform: FNV-1a (Fowler, Noll, Vo) with the finalizer of
// MurmurHash3 (Appleby).  For identity and change detection, not for security.

#pragma once

#include <hearth/core/cpp20.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hearth {

class Hash {
  public:
    Hash& bytes(std::span<const std::byte> data) {
        for (std::byte b : data) state_ = (state_ ^ static_cast<uint64_t>(b)) * 0x100000001b3u;
        return *this;
    }
    /// Hashes an integer as eight little-endian bytes, independent of its type and the platform.
    template <std::integral T>
    Hash& number(T value) {
        const uint64_t wide = static_cast<uint64_t>(value);
        for (int i = 0; i < 8; ++i) state_ = (state_ ^ ((wide >> (8 * i)) & 0xff)) * 0x100000001b3u;
        return *this;
    }
    /// Hashes the length, then the characters, so that "ab","c" and "a","bc" differ.
    Hash& text(std::string_view value) {
        number(value.size());
        return bytes(std::as_bytes(std::span(value)));
    }
    uint64_t value() const {
        uint64_t h = state_;
        h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
        h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
        return h ^ (h >> 33);
    }

  private:
    uint64_t state_ = 0xcbf29ce484222325u;
};

}  // namespace hearth
