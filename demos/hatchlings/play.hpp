// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The game without its picture: the world, the brain that all hatchlings share, and what the player does to
// both.  The program and the tests play it.

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

/// Microseconds of GPU time: all that is due, in whatever time.
constexpr double kNoLimit = 1e9;

struct PlayOptions {
    uint64_t seed = 1;
    uint32_t hatchlings = 16;
    Rules rules;
    double learn_us = kNoLimit;  ///< GPU time a frame for learning
    bool learns = true;          ///< false: frozen from the start
    NamedTensors weights = {};  ///< learned before, as `hearth train` writes them; none: fresh ones
};

class Play {
  public:
    static constexpr uint64_t kLookFrames = 6;

    /// What the brain is told of a hatchling, to be changed on the way: tests of the rails.
    using Tamper = std::function<void(uint32_t hatchling, Observation& seen, float& reward)>;

    static Result<std::unique_ptr<Play>> create(standalone::Device& device,
                                                const PlayOptions& options);

    /// Once a frame: takes what has arrived, carries out what the player asked for, and records deciding
    /// and learning.
    Status record(const demo::Frame& frame);
    /// The world's step of 1/60 s, after record(); true when a bar of progress is complete.
    bool step();

    /// What the player does; the frame and order of a command are the caller's business.
    Status obey(const Command& command);
    /// How the possessed one is steered; nothing: the forager of player.hpp steers it.
    void steer(std::optional<glm::vec2> thrust) { steering_ = thrust; }
    std::optional<uint32_t> possessed() const { return possessed_; }
    /// Of each hatchling, Judged::kMost praises and scolds count in a window of learning; how many did not.
    uint64_t judgements_refused() const { return judgements_refused_; }
    void set_tamper(Tamper tamper) { tamper_ = std::move(tamper); }

    /// Asks for a saved game: the brain, with the world in the same file.  It is made where a window has just
    /// been learned from, so that who loads it goes on bit for bit as this game does (with learn_us =
    /// kNoLimit: a smaller budget has collected a part of the next window then, which no file holds).
    void save() { wants_save_ = true; }
    /// The saved game that has arrived, once; a file's bytes.
    std::optional<std::vector<std::byte>> take_saved();
    /// A game saved as it stands, once all frames are done; `serial` is the last one's.
    Result<std::vector<std::byte>> save_now(uint64_t& serial);
    /// Goes on from a saved game, or with the brain of a file alone.  Before the first record().
    Status load(std::span<const std::byte> file);
    /// Goes on where another game of as many hatchlings is, with a brain that it had: snapshot 0 is its newest.
    Status replay(const Play& other, uint32_t snapshot);

    /// Whether to look into their mind from now on, every kLookFrames frames.
    void look(bool wanted) { looks_ = wanted; }
    const Insight& insight() const { return insight_; }

    const World& world() const { return world_; }
    const Progress& progress() const { return progress_; }
    const agents::AgentsStatus& status() const { return mind_->status(); }
    bool is_frozen() const { return is_frozen_; }
    /// The frame in which a publication was last seen; 0: none yet.
    uint64_t published_frame() const { return published_frame_; }
    demo::Mind& mind() { return *mind_; }

  private:
    explicit Play(const PlayOptions& options)
        : options_(options),
          is_frozen_(!options.learns),
          world_({.seed = options.seed,
                  .hatchling_count = options.hatchlings,
                  .rules = options.rules}) {}

    Status add_agents();
    Status remove_agents();
    void take_actions();
    Status decide();
    /// What the player has the possessed one do.
    glm::vec2 steered() const;
    /// Whether one more judgement counts; remembers it if so.
    bool may_judge(Judged& judged) const;
    Status keep();
    Result<std::vector<std::byte>> file_with_brain(const SavedGame& game) const;
    bool is_learning() const { return mind_->agents().status().phase == HEARTH_AGENTS_LEARNING; }
    bool window_is_full() const;

    PlayOptions options_;
    bool is_frozen_;
    World world_;
    Progress progress_;
    std::unique_ptr<demo::Mind> mind_;
    std::vector<std::optional<agents::AgentId>> ids_;
    Insight insight_;
    bool looks_ = false;
    Tamper tamper_;
    std::optional<uint32_t> possessed_;
    std::optional<glm::vec2> steering_;
    std::vector<Judged> judged_;  ///< by hatchling
    uint64_t judgements_refused_ = 0;
    /// What goes with the snapshot under way.
    std::optional<SavedGame> saving_;
    std::optional<std::vector<std::byte>> saved_;
    bool wants_save_ = false, is_sealed_ = false, asks_to_keep_ = false;
    uint64_t taken_before_ = 0;  ///< snapshots, when that of saving_ was recorded
    /// Decisions recorded when the window under way was empty, and windows begun.
    uint64_t window_began_ = 1, windows_ = 0;
    uint64_t publications_ = 0, published_frame_ = 0;
};

}  // namespace hearth::hatchlings
