// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A 64-bit checksum of file sections, fast enough to check whole weight files at load: several
// bytes per cycle, where the content hash (hash.hpp) takes several cycles per byte.  Four lanes of
// eight bytes; each step is a bijection of its lane (xor, rotate, multiply by an odd number), after
// the round structure of Collet's xxHash64, so any change within one word changes the checksum.  It
// detects corruption, not forgery.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hearth {

inline uint64_t checksum(std::span<const std::byte> data) {
    constexpr uint64_t kStep = 0x9e3779b185ebca87u;  // the first two primes of xxHash64
    constexpr uint64_t kFinish = 0xc2b2ae3d27d4eb4fu;
    constexpr size_t kBlock = 32;
    uint64_t lanes[4] = {kStep, kFinish, 0, ~kStep};
    const auto mix = [](uint64_t lane, uint64_t word) {
        return std::rotl(lane ^ word, 29) * kStep;
    };
    size_t at = 0;
    for (; data.size() - at >= kBlock; at += kBlock)
        for (size_t i = 0; i < 4; ++i) {
            uint64_t word;
            std::memcpy(&word, data.data() + at + 8 * i, sizeof word);
            lanes[i] = mix(lanes[i], word);
        }
    for (size_t i = 0; at < data.size(); ++i) {
        uint64_t word = 0;
        const size_t left = data.size() - at < 8 ? data.size() - at : 8;
        std::memcpy(&word, data.data() + at, left);
        lanes[i] = mix(lanes[i], word);
        at += left;
    }
    uint64_t sum = data.size() * kFinish;
    for (uint64_t lane : lanes) sum = (std::rotl(sum ^ lane, 31) + kFinish) * kStep;
    sum = (sum ^ (sum >> 33)) * kFinish;
    return sum ^ (sum >> 29);
}

}  // namespace hearth
