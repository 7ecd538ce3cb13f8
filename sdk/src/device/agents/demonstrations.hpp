// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Demonstrations that are not recorded yet: the newest of each agent.

#pragma once

#include "core/alloc.hpp"
#include "device/agents/rollout.hpp"

#include <cstddef>
#include <cstdint>

namespace hearth::agents {

enum class DemonstrationState : uint8_t {
    kNone,
    kGiven,     ///< an action; the observation that it belongs to may still be filled
    kCaptured,  ///< with its observation and mask
};

///                  add       capture      pack         clear
///     kNone        kGiven    -            kNone        kNone
///     kGiven       kGiven    kCaptured    kGiven       kNone
///     kCaptured    kGiven    -            kCaptured    kNone
class Demonstrations {
  public:
    static uint64_t bytes_per_agent(const Sizes& sizes);
    [[nodiscard]] bool allocate(HostAllocator& allocator, const Sizes& sizes);

    void add(uint32_t agent, const float* action, uint32_t demonstrator);
    void clear(uint32_t agent) { states_[agent] = DemonstrationState::kNone; }
    void clear();
    DemonstrationState state(uint32_t agent) const { return states_[agent]; }
    /// Takes the observation and mask (null: none) that a given action belongs to.
    void capture(uint32_t agent, const float* observation, const float* mask);
    /// Packs the captured ones by batch index and returns their number.
    uint32_t pack();

    /// By batch index.
    struct Rows {
        Array<float> observation, mask, action, demonstrator;
    };
    const Rows& rows() const { return rows_; }

  private:
    Sizes sizes_;
    Array<DemonstrationState> states_;
    Rows agents_, rows_;
};

}  // namespace hearth::agents
