// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Counter-based random numbers: Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel Random
// Numbers: As Easy as 1, 2, 3", SC 2011.  The same (key, counter) gives the same bits on the CPU
// and in shaders/common/philox.glsl, so streams are keyed by name and never by call order.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/core/hash.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace hearth {

inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter,
                                          std::array<uint32_t, 2> key) {
    for (int round = 0; round < 10; ++round) {
        const uint64_t p0 = uint64_t{0xD2511F53u} * counter[0];
        const uint64_t p1 = uint64_t{0xCD9E8D57u} * counter[2];
        counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(p1),
                   static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<uint32_t>(p0)};
        key[0] += 0x9E3779B9u;
        key[1] += 0xBB67AE85u;
    }
    return counter;
}

/// Returns the 32 random bits of element `index` in draw `step` of the stream `key`.
inline uint32_t philox_bits(uint64_t key, uint32_t step, uint32_t index) {
    return philox4x32({index, step, 0, 0},
                      {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)})[0];
}

/// Converts 32 random bits to a multiple of 2^-24 in [0, 1): exact in f32, so equal on every
/// device.
inline double uniform_from_bits(uint32_t bits) {
    return (bits >> 8) * 0x1p-24;
}

/// Returns the key of the stream for a name and a seed.
inline uint64_t stream_key(std::string_view name, uint64_t seed) {
    return Hash().number(seed).text(name).value();
}

}  // namespace hearth
