// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Mean return and length of the episodes of frozen agents, whose learner stores nothing.

#pragma once

#include "core/alloc.hpp"

#include <algorithm>
#include <cstdint>

namespace hearth::agents {

/// Sums rewards all the time, so that episodes that began before the agents were frozen count in
/// full; averages as the learners do (average_episodes): a plain mean at first, then an exponential
/// one over about twenty episodes.
class FrozenReturns {
  public:
    [[nodiscard]] bool allocate(HostAllocator& allocator, uint32_t agents) {
        return sums_.resize(allocator, agents) && lengths_.resize(allocator, agents);
    }
    void begin_episode(uint32_t agent) { sums_[agent] = lengths_[agent] = 0; }
    void add_reward(uint32_t agent, float amount) { sums_[agent] += static_cast<double>(amount); }
    void count_decision(uint32_t agent) { lengths_[agent] += 1; }
    void end_episode(uint32_t agent, bool is_frozen) {
        if (is_frozen) {
            count_ = std::min(count_ + 1, kMostAveraged);
            mean_return_ += (sums_[agent] - mean_return_) / count_;
            mean_length_ += (lengths_[agent] - mean_length_) / count_;
        }
        begin_episode(agent);
    }
    /// Forgets the averages, when agents are frozen or learn again.
    void restart() { count_ = mean_return_ = mean_length_ = 0; }

    bool has_episodes() const { return count_ > 0; }
    double mean_return() const { return mean_return_; }
    double mean_length() const { return mean_length_; }

  private:
    static constexpr double kMostAveraged = 20;
    Array<double> sums_, lengths_;  ///< by agent
    double count_ = 0, mean_return_ = 0, mean_length_ = 0;
};

}  // namespace hearth::agents
