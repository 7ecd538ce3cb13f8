// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game without graphics: the race, and the brains of the ghost and the rival. Used by the
// program and by tests.

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
    /// Creates an untrained ghost and no rival.
    static Result<std::unique_ptr<Play>> create(standalone::Device& device, uint64_t seed);
    /// Call before the first frame, with brains saved by earlier games (8-byte aligned): load()
    /// continues the ghost's training, add_rival() adds a rival that drives with it, for which
    /// weights.safetensors of `hearth train` is enough.
    /// Errors: why the brain does not fit.
    Status load(std::span<const std::byte> brain);
    Status add_rival(std::span<const std::byte> brain);

    /// Call once per frame: receives results, and records the networks' decisions and one learning
    /// step.
    Status record(const demo::Frame& frame);
    /// Advances the race by 1/60 s, after record(). Returns the driver's action.
    Action step(Driver& driver);

    /// A frozen ghost neither learns nor stores demonstrations.
    void freeze(bool is_frozen);
    bool is_frozen() const { return is_frozen_; }
    /// Resets the ghost to new random weights; it learns again from the stored demonstrations.
    Status reset();

    /// Requests a copy of the ghost's brain.
    Status keep() { return mind_->agents().take_snapshot(); }
    /// Returns a copy that has arrived, once, as the bytes of a file: a requested one, or one of
    /// those that the agents take every 15 s.
    Result<std::optional<std::vector<std::byte>>> take_kept();

    const Race& race() const { return race_; }
    /// The latest actions that have arrived from the networks.
    Action ghost_action() const { return ghost_.action; }
    Action rival_action() const { return rival_.action; }
    /// As of the latest status, some frames late.
    uint64_t learning_steps() const { return count(agents::Counter::kGradientSteps); }
    uint64_t samples() const { return count(agents::Counter::kSamples); }
    /// The loss of each learning step since the start or the last reset.
    const std::vector<float>& losses() const { return losses_; }
    /// True if the result of a learning step arrived with this frame.
    bool is_learning() const { return is_learning_; }
    demo::Mind& mind() { return *mind_; }

  private:
    struct Car {
        agents::AgentId id;
        Action action;
    };

    explicit Play(uint64_t seed);
    /// Returns the network's decision of the frame that has completed, if any.
    static std::optional<ActionVector> take_action(const agents::Agents& agents, Car& car,
                                                   const demo::Frame& frame);
    uint64_t count(agents::Counter counter) const { return mind_->agents().status()[counter]; }

    Track track_ = Track::circuit();
    Race race_;
    std::unique_ptr<demo::Mind> mind_;
    agents::AgentId person_{};  ///< agent that provides the demonstrations
    Car ghost_{}, rival_{};
    std::optional<agents::Agents> rival_agents_;  ///< of the same program, frozen
    bool is_frozen_ = false, is_learning_ = false;
    std::vector<float> losses_;
    uint64_t learned_steps_ = 0, kept_ = 0;
};

}  // namespace hearth::ghost_lap
