// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, 2011) with LibTorch's operators; the same streams
// as on other devices.

#include "operators.hpp"

#include <array>
#include <numbers>

namespace hearth::libtorch {

namespace {

constexpr int64_t kLow32 = 0xffffffff;

/// Low and high 32 bits of the product of two 32-bit values.
std::pair<at::Tensor, at::Tensor> multiplied(const at::Tensor& a, int64_t b) {
    // In halves of b, because Long has one bit less than the product.
    const at::Tensor low = a * (b & 0xffff), high = a * (b >> 16);
    const at::Tensor middle = low.bitwise_right_shift(16) + high;
    return {(low.bitwise_and(0xffff) + middle.bitwise_and(0xffff).bitwise_left_shift(16)),
            middle.bitwise_right_shift(16)};
}

/// 32 random bits for each element of the output.
at::Tensor random_bits(const Call& c, uint64_t key) {
    const List shape = c.out_shape();
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    const at::Tensor zeros = at::zeros({count}, at::kLong);
    std::array<at::Tensor, 4> x = {at::arange(count, at::kLong).bitwise_and(kLow32),
                                   zeros + c.in[0].bitwise_and(kLow32), zeros, zeros};
    int64_t first = static_cast<int64_t>(key & kLow32), second = static_cast<int64_t>(key >> 32);
    for (int round = 0; round < 10; ++round) {
        const auto [low0, high0] = product(x[0], 0xD2511F53);
        const auto [low1, high1] = product(x[2], 0xCD9E8D57);
        x = {high1.bitwise_xor(x[1]).bitwise_xor(first), low1,
             high0.bitwise_xor(x[3]).bitwise_xor(second), low0};
        first = (first + 0x9E3779B9) & kLow32;
        second = (second + 0xBB67AE85) & kLow32;
    }
    return x[0].reshape(shape);
}

at::Tensor uniform(const Call& c, uint64_t key) {
    return random_bits(c, key).bitwise_right_shift(8).to(c.options()) * 0x1p-24;
}

uint64_t key_of(const Call& c) {
    return static_cast<uint64_t>(c.integer("key"));
}

/// Key of a normal value's second stream, by one round of SplitMix64's finalizer.
uint64_t second_key(uint64_t key) {
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    return key ^ (key >> 27);
}

}  // namespace

void add_random_rules(Rules& rules) {
    rules["random_uniform"] = [](const Call& c) {
        const double low = c.real("low");
        return uniform(c, key_of(c)) * (c.real("high") - low) + low;
    };
    rules["random_normal"] = [](const Call& c) {
        const at::Tensor u = uniform(c, key_of(c)), v = uniform(c, second_key(key_of(c)));
        const at::Tensor angle = (v - 0.5) * (2 * std::box::pi);
        return (((1 - u).log() * -2).sqrt() * angle.cos()) * c.real("deviation") + c.real("mean");
    };
}

}  // namespace hearth::libtorch
