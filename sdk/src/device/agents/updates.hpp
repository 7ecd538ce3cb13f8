// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// When the learner learns: samples collected, gradient steps owed, and the update in progress.

#pragma once

#include "device/agents/archive.hpp"

#include <cstdint>

namespace hearth::agents {

enum class LearningPhase : uint8_t {
    kCollecting,   ///< no update is in progress
    kAdvantages,   ///< a rollout is full; its advantages are being computed
    kMinibatches,  ///< gradient steps are being taken
};

/// What the learner was made for.
struct Schedule {
    uint32_t n_steps = 0;              ///< decisions per rollout; 0: a replay buffer
    uint32_t updates_per_rollout = 1;  ///< minibatches; with a replay buffer: per decision
    uint32_t sync_interval = 1;        ///< minibatches per publication, with a replay buffer
    /// Gradient steps per sample, with a replay buffer; 0: as many as the budget allows.
    double steps_per_sample = 0;
    uint64_t learning_starts = 0;   ///< samples before the first gradient step
    uint64_t max_owed_samples = 0;  ///< collection pauses while more are not learned from
    bool learns_without_samples = false;
    uint32_t max_frames_per_update = 600;

    bool has_rollouts() const { return n_steps > 0; }
};

/// The learner's schedule.
///
///                     begin                 advantages_done    minibatch_done               restart
///     kCollecting     kAdvantages           -                  -                            kCollecting
///                     or kMinibatches
///     kAdvantages     -                     kMinibatches       -                            kCollecting
///     kMinibatches    -                     -                  kMinibatches or kCollecting  kCollecting
class Updates {
  public:
    explicit Updates(const Schedule& schedule = {}) : schedule_(schedule) {}

    const Schedule& schedule() const { return schedule_; }
    LearningPhase phase() const { return phase_; }
    bool is_learning() const { return phase_ != LearningPhase::kCollecting; }

    // --- Collecting ---
    /// Counts a decision that is completely recorded and stored this many transitions.
    void count_decision(uint32_t transitions);
    /// Counts transitions that were not stored because collection is paused.
    void count_paused(uint32_t transitions) { paused_ += transitions; }
    /// Demonstrations make a learner learn without decisions.
    bool is_due() const;
    /// Gradient steps that the samples allow and that are not taken.
    double owed_steps() const;
    /// More samples than max_owed_samples are not learned from.
    bool is_collection_paused() const;
    uint64_t samples_paused() const { return paused_; }
    uint32_t collected() const { return collected_; }

    // --- Learning ---
    void begin();
    void advantages_done();
    /// Returns true if the weights are published now.
    bool minibatch_done();
    bool is_publication_next() const;
    /// True if the minibatch in progress is the last of its update.
    bool is_last_minibatch() const { return minibatches_left_ == 1; }
    uint32_t minibatches_left() const { return minibatches_left_; }
    /// Ends the update after the current frame's samples are learned from.
    void flush() { is_flushing_ = is_learning(); }
    bool is_flushing() const { return is_flushing_; }
    uint64_t rollouts() const { return rollouts_; }

    // --- Progress ---
    /// Counts a frame with a budget in which an update was in progress.
    void count_frame();
    uint64_t frames_without_update() const { return frames_without_update_; }
    /// Slices that this frame must record, however much they cost, to finish the minibatch within
    /// max_frames_per_update.  slices_left: of the minibatch, at least 1.
    uint32_t slices_due(uint32_t slices_left) const;
    void count_slice() { frames_without_slice_ = 0; }

    /// Only while no advantages are being computed.  Values that no schedule has become sound ones.
    void archive(Archive& archive);
    /// Forgets the update in progress, after other weights were loaded.  collected: decisions that
    /// the loaded rollout contains.
    void restart(uint32_t collected);

  private:
    Schedule schedule_;
    LearningPhase phase_ = LearningPhase::kCollecting;
    bool is_flushing_ = false, has_new_samples_ = false;
    uint32_t collected_ = 0, minibatches_left_ = 0, since_publication_ = 0;
    uint64_t rollouts_ = 0, samples_ = 0, steps_ = 0, paused_ = 0;
    uint64_t frames_without_update_ = 0, frames_without_slice_ = 0;
};

}  // namespace hearth::agents
