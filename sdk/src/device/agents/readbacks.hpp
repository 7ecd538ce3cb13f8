// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Actions and status on their way from the GPU, and the newest that have arrived.

#pragma once

#include "core/alloc.hpp"

#include <hearth/agents/status.hpp>
#include <hearth/hearth_agents.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hearth::agents {

enum class ReadbackState : uint8_t {
    kIdle,     ///< nothing is in flight
    kWaiting,  ///< the oldest one in flight may arrive; another one may be added
    kFull,     ///< as above; no more may be added
};

/// A ring of readbacks, oldest first.
///
///                  push                 pop
///     kIdle        kWaiting or kFull    -
///     kWaiting     kWaiting or kFull    kWaiting or kIdle
///     kFull        -                    kWaiting or kIdle
class Readbacks {
  public:
    struct InFlight {
        hearth_readback actions = 0, status = 0, recent = 0, limits = 0, values = 0;
        uint64_t decision = 0;  ///< its number
    };
    static constexpr size_t kRecentWords = kCounterCount - kSavedCounterCount;
    /// action_floats: of all agents.  status_words, recent_words: of the states agents.status and
    /// agents.recent; limit_words: of agents.observation_limits; value_count: of last.value; 0: the program has
    /// none.
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint32_t most, size_t action_floats,
                                size_t status_words, size_t recent_words, size_t limit_words = 0,
                                size_t value_count = 0);
    /// True for the sizes that the states had in some version: later ones append counters.
    static bool is_status_size(uint64_t words) {
        return words >= kMetricCount && words <= kSavedStatusWords &&
               (words - kMetricCount) % 2 == 0;
    }
    static bool is_recent_size(uint64_t words) { return words <= kRecentWords; }

    ReadbackState state() const {
        return count_ == 0              ? ReadbackState::kIdle
               : count_ == ring_.size() ? ReadbackState::kFull
                                        : ReadbackState::kWaiting;
    }
    void push(const InFlight& readback);
    const InFlight& oldest() const { return ring_[oldest_]; }
    const InFlight& newest() const { return ring_[(oldest_ + count_ - 1) % ring_.size()]; }
    void pop();

    /// Take over contents of the variables' sizes; others are ignored.
    void take_actions(std::span<const std::byte> bytes, uint64_t decision);
    /// Returns false if they were ignored.
    bool take_status(std::span<const std::byte> status, std::span<const std::byte> recent,
                     uint64_t frame_number);

    void take_limits(std::span<const std::byte> bytes);
    void take_values(std::span<const std::byte> bytes);
    /// The critic's values, by agent; empty if the program has none.
    std::span<const float> values() const { return values_; }

    const float* actions() const { return actions_.data(); }
    uint64_t actions_decision() const { return actions_decision_; }
    StatusView status() const { return StatusView(status_); }
    uint64_t status_frame_number() const { return status_frame_number_; }
    /// Share of the samples in which this float of the observation was at a limit.
    float limit_share(size_t index, ObservationLimit limit) const;

  private:
    Array<InFlight> ring_;
    size_t oldest_ = 0, count_ = 0;
    Array<float> actions_;
    uint64_t actions_decision_ = 0;
    Array<float> values_;
    Array<uint32_t> limits_;  ///< see observation_limit_words()
    size_t status_words_ = 0, recent_words_ = 0;
    std::array<uint32_t, kStatusWords> status_{};
    uint64_t status_frame_number_ = 0;
};

}  // namespace hearth::agents
