// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Counter-based random numbers: each is a pure function of (seed, stream, counter), so that draws
// are independent of each other and of the order of calls. The mixer is SplitMix64's finalizer
// (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014, variant 13 of
// Stafford).

#pragma once

#include <cstdint>

namespace hearth::scenes {

/// Purpose of a random number. Streams of one seed are independent.
enum class Stream : uint64_t { kWorld = 1, kDriver = 2, kMinibatch = 3, kInit = 4 };

constexpr uint64_t mix64(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/// 64 random bits for one (seed, stream, counter).
constexpr uint64_t random_bits(uint64_t seed, Stream stream, uint64_t counter) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;  // 2^64 / golden ratio
    const uint64_t key = mix64(mix64(seed + kGolden) ^ (static_cast<uint64_t>(stream) * kGolden));
    return mix64(key + counter * kGolden);
}

/// Uniform in [-1, 1), on a grid of 2^-23.
constexpr float random_signed(uint64_t seed, Stream stream, uint64_t counter) {
    const auto bits24 = static_cast<int32_t>(random_bits(seed, stream, counter) >> 40);
    return static_cast<float>(bits24 - (1 << 23)) * 0x1p-23f;
}

}  // namespace hearth::scenes
