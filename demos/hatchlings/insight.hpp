// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Visualizes the brain: each hatchling's intended action and its std, and the critic's value at
// each point of the clearing. It is an entry of its own in the agents' program, reading the same
// weights.

#pragma once

#include "brain.hpp"
#include "hatchlings/world.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace hearth::hatchlings {

/// Policy output of a hatchling, for display.
struct Thought {
    glm::vec2 intention = {0, 0};  ///< mean of the policy
    float doubt = 0;               ///< std of the policy
};

class Insight {
  public:
    /// Grid over the whole clearing at which the critic is evaluated.
    static constexpr int kColumns = 29, kRows = 17;

    /// Traces the entry "look", to be compiled with the learner's entries.
    static std::unique_ptr<Trace> trace(uint64_t seed, uint32_t hatchlings);
    static Result<Insight> create(standalone::Device& device, demo::Mind& mind,
                                  uint32_t hatchlings);
    Insight() = default;

    /// Records an evaluation of the current world, unless one is in flight or there is no room for
    /// it.
    Status record(const demo::Frame& frame, demo::Mind& mind, const World& world);
    /// Receives results that have arrived.
    void poll(demo::Mind& mind);
    /// Cancels an evaluation in flight, whose result would take space of other readbacks.
    void cancel(demo::Mind& mind);

    /// Per hatchling; empty before the first result.
    std::span<const Thought> thoughts() const { return thoughts_; }
    /// Critic values of the hatchlings themselves; empty before the first result.
    std::span<const float> expectations() const { return expectations_; }
    /// Critic values, row by row from the lower left; empty before the first result.
    std::span<const float> hopes() const { return hopes_; }

  private:
    uint32_t entry_ = 0, seen_ = 0, answer_ = 0, hatchlings_ = 0;
    std::array<standalone::Buffer, demo::FrameLoop::kFramesInFlight> buffers_;
    hearth_readback under_way_ = 0;
    std::vector<Thought> thoughts_;
    std::vector<float> hopes_, expectations_;
};

}  // namespace hearth::hatchlings
