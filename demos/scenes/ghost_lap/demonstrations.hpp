// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include "ghost_lap/observation.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace hearth::ghost_lap {

constexpr int kBatchSize = 128;

/// What the player was seen to do: the latest kCapacity pairs of observation and action.
///
/// The action is the one that moved the car, steering noise included: a learner gets from a
/// scripted driver no more than it could get from a person.
class Demonstrations {
  public:
    static constexpr uint32_t kCapacity = 2048;

    /// seed  of the choice of minibatches (Stream::kMinibatch).
    explicit Demonstrations(uint64_t seed);

    /// Adds a pair; when full, it replaces the oldest.
    void add(const Observation& observation, const Action& action);

    /// Pairs that can be drawn, at most kCapacity.
    uint32_t size() const { return static_cast<uint32_t>(total_ < kCapacity ? total_ : kCapacity); }
    /// Pairs ever added.
    uint64_t total() const { return total_; }
    /// There are enough pairs for a first minibatch.
    bool is_ready() const { return size() >= kBatchSize; }

    /// Fills the minibatch of learning step `step`: kBatchSize pairs drawn uniformly with
    /// replacement, a function of seed, step and contents alone.  Needs size() > 0.
    ///
    /// observations  [kBatchSize, kObservationSize].  actions  [kBatchSize, kActionSize].
    void fill_minibatch(uint64_t step, std::span<float> observations,
                        std::span<float> actions) const;

  private:
    struct Pair {
        Observation observation;
        ActionVector action;
    };

    uint64_t seed_;
    uint64_t total_ = 0;
    std::vector<Pair> pairs_;
};

}  // namespace hearth::ghost_lap
