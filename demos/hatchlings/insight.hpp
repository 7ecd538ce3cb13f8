// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// A look into their mind: what each of them means to do and how sure it is, and what the critic hopes for at
// each place of the clearing.  An entry of its own in the agents' program, which reads the same weights.

#pragma once

#include "brain.hpp"
#include "hatchlings/world.hpp"

#include <array>
#include <optional>
#include <span>
#include <vector>

namespace hearth::hatchlings {

/// What a hatchling's mind says, for those who look inside.
struct Thought {
    glm::vec2 intention = {0, 0};  ///< the mean of its policy
    float doubt = 0;               ///< its standard deviation
};

class Insight {
  public:
    /// Places at which hopes are asked for, over the whole clearing.
    static constexpr int kColumns = 29, kRows = 17;

    /// The entry "look", to be compiled beside those of the learner.
    static std::unique_ptr<Trace> trace(uint64_t seed, uint32_t hatchlings);
    static Result<Insight> create(standalone::Device& device, demo::Mind& mind,
                                  uint32_t hatchlings);
    Insight() = default;

    /// Records a look at the world as it is, unless one is under way or there is no room for it.
    Status record(const demo::Frame& frame, demo::Mind& mind, const World& world);
    /// Takes what has arrived.
    void poll(demo::Mind& mind);

    /// By hatchling; empty before the first look.
    std::span<const Thought> thoughts() const { return thoughts_; }
    /// What is hoped for, row by row from the lower left; empty before the first look.
    std::span<const float> hopes() const { return hopes_; }

  private:
    uint32_t entry_ = 0, seen_ = 0, answer_ = 0, hatchlings_ = 0;
    std::array<standalone::Buffer, demo::FrameLoop::kFramesInFlight> buffers_;
    hearth_readback under_way_ = 0;
    std::vector<Thought> thoughts_;
    std::vector<float> hopes_;
};

}  // namespace hearth::hatchlings
