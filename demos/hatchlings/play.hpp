// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game without graphics: the world, the brain that all hatchlings share, and the player's
// commands. Used by the program and by tests.

#pragma once

#include "brain.hpp"
#include "hatchlings/player.hpp"
#include "hatchlings/progress.hpp"
#include "hatchlings/saved_game.hpp"
#include "insight.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hearth::hatchlings {

/// Microseconds of GPU time: all pending learning, however long it takes.
constexpr double kNoLimit = 1e9;

struct PlayOptions {
    uint64_t seed = 1;
    uint32_t hatchlings = 16;
    Rules rules;
    double learn_us = kNoLimit;  ///< GPU time per frame for learning
    bool learns = true;          ///< false: frozen from the start
    NamedTensors weights = {};   ///< pretrained, as `hearth train` writes them; none: random
};

class Play {
  public:
    static constexpr uint64_t kLookFrames = 6;

    /// Modifies observations and rewards on their way to the brain; for tests of the safety limits.
    using Tamper = std::function<void(uint32_t hatchling, Observation& seen, float& reward)>;

    static Result<std::unique_ptr<Play>> create(standalone::Device& device,
                                                const PlayOptions& options);

    /// Call once per frame: receives results, executes the player's commands, and records decisions
    /// and learning.
    Status record(const demo::Frame& frame);
    /// Advances the world by 1/60 s, after record(); true when a bar of progress is complete.
    bool step();

    /// Executes a command now; the caller handles its frame and order.
    Status obey(const Command& command);
    /// Sets the possessed hatchling's thrust; nullopt: the forager of player.hpp steers it.
    void steer(std::optional<glm::vec2> thrust) { steering_ = thrust; }
    std::optional<uint32_t> possessed() const { return possessed_; }
    /// Feedback that was rejected: per hatchling, Judged::kMost praises and scolds count in a
    /// rollout.
    uint64_t judgements_refused() const { return judgements_refused_; }
    void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }

    /// Requests a saved game: the brain and the world in one file. It is taken right after a
    /// rollout has been learned from, so that a game loaded from it continues bit for bit like this
    /// one (with learn_us = kNoLimit; with a smaller budget part of the next rollout is already
    /// collected, which no file holds).
    void save() { wants_save_ = true; }
    /// Returns the saved game that has arrived, once, as the bytes of a file.
    std::optional<std::vector<std::byte>> take_saved();
    /// Saves the game in its current state, once all frames are done; `serial` is the last frame
    /// number.
    Result<std::vector<std::byte>> save_now(uint64_t& serial);
    /// Continues a saved game, or uses only the brain of a file. Before the first record().
    Status load(std::span<const std::byte> file);
    /// Continues from the state of another game of the same size, with one of its snapshots; 0 is
    /// the newest.
    Status replay(const Play& other, uint32_t snapshot);

    /// Enables evaluations for display, every kLookFrames frames.
    void look(bool wanted) { looks_ = wanted; }
    /// Call after the last frame and before weights and states are read.
    void stop_looking() { insight_.cancel(*mind_); }
    const Insight& insight() const { return insight_; }

    const World& world() const { return world_; }
    const Progress& progress() const { return progress_; }
    const agents::AgentsStatus& status() const { return mind_->status(); }
    bool is_frozen() const { return mind_->agents().status().frozen != 0; }
    /// Frame in which a publication was last seen; 0: none yet.
    uint64_t published_frame() const { return published_frame_; }
    demo::Mind& mind() { return *mind_; }
    /// The agent of a hatchling; none while a game is being saved.
    std::optional<agents::AgentId> agent(uint32_t hatchling) const { return ids_[hatchling]; }

  private:
    explicit Play(const PlayOptions& options)
        : options_(options),
          world_({.seed = options.seed,
                  .hatchling_count = options.hatchlings,
                  .rules = options.rules}) {}

    Status add_agents();
    Status remove_agents();
    void take_actions();
    Status decide();
    /// Returns the thrust of the possessed hatchling.
    glm::vec2 steered() const;
    /// Returns true if another judgement counts, and records it.
    bool may_judge(Judged& judged) const;
    Status keep();
    Result<std::vector<std::byte>> file_with_brain(const SavedGame& game) const;
    bool is_learning() const { return mind_->agents().status().phase == HEARTH_AGENTS_UPDATE; }
    bool window_is_full() const;

    PlayOptions options_;
    World world_;
    Progress progress_;
    std::unique_ptr<demo::Mind> mind_;
    std::vector<std::optional<agents::AgentId>> ids_;
    Insight insight_;
    bool looks_ = false;
    Tamper tamper_;
    std::optional<uint32_t> possessed_;
    std::optional<glm::vec2> steering_;
    std::vector<Judged> judged_;  ///< per hatchling
    uint64_t judgements_refused_ = 0;
    /// World of the snapshot in flight.
    std::optional<SavedGame> saving_;
    std::optional<std::vector<std::byte>> saved_;
    bool wants_save_ = false, is_sealed_ = false, asks_to_keep_ = false;
    uint64_t taken_before_ = 0;  ///< number of snapshots when that of saving_ was recorded
    /// Decision count at the start of the current rollout, and number of rollouts begun.
    uint64_t window_began_ = 1, windows_ = 0;
    uint64_t publications_ = 0, published_frame_ = 0;
};

}  // namespace hearth::hatchlings
