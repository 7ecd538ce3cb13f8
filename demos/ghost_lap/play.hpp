// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game without its picture: the race, and the brains of the ghost and the rival.  The program and the
// tests play it.

#pragma once

#include "brain.hpp"
#include "ghost_lap/driver.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace hearth::ghost_lap {

class Play {
  public:
    /// A ghost that knows nothing, and no rival.
    static Result<std::unique_ptr<Play>> create(standalone::Device& device, uint64_t seed);
    /// Before the first frame, brains that earlier games have saved (8-byte aligned): what the ghost goes
    /// on from, and a rival that drives with it, of which weights.safetensors of `hearth train` are enough.
    /// Errors: what stands against a brain.
    Status load(std::span<const std::byte> brain);
    Status add_rival(std::span<const std::byte> brain);

    /// Once a frame: takes what has arrived, and records what the nets decide and one step of learning.
    Status record(const demo::Frame& frame);
    /// The race's step of 1/60 s, after record().  Returns what the driver did.
    Action step(Driver& driver);

    /// Frozen, it learns nothing and remembers nothing of what it is shown.
    void freeze(bool is_frozen);
    bool is_frozen() const { return is_frozen_; }
    /// Fresh random weights; it learns anew from what it was shown.
    Status reset();

    /// Asks for a copy of what the ghost has learned.
    Status keep() { return mind_->agents().keep(); }
    /// A copy that has arrived, once, as a file's bytes: one that was asked for, or one of those that the
    /// agents take by themselves every 15 s.
    Result<std::optional<std::vector<std::byte>>> take_kept();

    const Race& race() const { return race_; }
    /// What the nets decided, as it arrived last.
    Action ghost_action() const { return ghost_.action; }
    Action rival_action() const { return rival_.action; }
    /// As far as they are known: some frames late.
    uint64_t learning_steps() const { return count(agents::Counter::kLearnSteps); }
    uint64_t samples() const { return count(agents::Counter::kSamples); }
    /// Of each step since the start or the last reset.
    const std::vector<float>& losses() const { return losses_; }
    /// A step of learning has arrived with this frame.
    bool is_learning() const { return is_learning_; }
    demo::Mind& mind() { return *mind_; }

  private:
    struct Car {
        agents::AgentId id;
        Action action;
    };

    explicit Play(uint64_t seed);
    /// What a net decided for the frame that has completed.
    static std::optional<ActionVector> take_action(const agents::Agents& agents, Car& car,
                                                   const demo::Frame& frame);
    uint64_t count(agents::Counter counter) const { return mind_->agents().status()[counter]; }

    Track track_ = Track::circuit();
    Race race_;
    std::unique_ptr<demo::Mind> mind_;
    agents::AgentId person_{};  ///< whose moments are demonstrated
    Car ghost_{}, rival_{};
    std::optional<agents::Agents> rival_agents_;  ///< of the same program, frozen
    bool is_frozen_ = false, is_learning_ = false;
    std::vector<float> losses_;
    uint64_t learned_steps_ = 0, kept_ = 0;
};

}  // namespace hearth::ghost_lap
