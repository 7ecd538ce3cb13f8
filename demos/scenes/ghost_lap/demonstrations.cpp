// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "ghost_lap/demonstrations.hpp"

#include "random.hpp"

#include <algorithm>

namespace hearth::ghost_lap {

Demonstrations::Demonstrations(uint64_t seed) : seed_(seed), pairs_(kCapacity) {}

void Demonstrations::add(const Observation& observation, const Action& action) {
    pairs_[total_++ % kCapacity] = {observation, {action.steer, action.throttle}};
}

void Demonstrations::fill_minibatch(uint64_t step, std::span<float> observations,
                                    std::span<float> actions) const {
    for (uint64_t row = 0; row < kBatchSize; ++row) {
        const uint64_t bits =
            scenes::random_bits(seed_, scenes::Stream::kMinibatch, step * kBatchSize + row);
        const Pair& pair = pairs_[(bits >> 32) * size() >> 32];
        std::ranges::copy(pair.observation, observations.begin() + row * kObservationSize);
        std::ranges::copy(pair.action, actions.begin() + row * kActionSize);
    }
}

}  // namespace hearth::ghost_lap
