// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// When the learner learns: samples collected, gradient steps owed, and the update in progress.

#pragma once

#include "core/alloc.hpp"
#include "device/agents/archive.hpp"

#include <cstdint>

namespace hearth::agents {

enum class LearningPhase : uint8_t {
    kCollecting,   ///< no update is in progress
    kAdvantages,   ///< a rollout is full; its advantages are being computed
    kAddSamples,   ///< the samples of the oldest waiting decision go to the replay buffer
    kMinibatches,  ///< gradient steps are being taken
};

/// What the learner was made for.
struct Schedule {
    uint32_t n_steps = 0;              ///< decisions per rollout; 0: a replay buffer
    uint32_t updates_per_rollout = 1;  ///< minibatches; with a replay buffer: per decision
    uint32_t sync_interval = 1;        ///< minibatches per publication, with a replay buffer
    /// With a replay buffer: gradient_steps minibatches after every train_freq samples, from the
    /// learning_starts-th on, which wait in the order of decisions; 0: as many as the budget allows.
    uint32_t train_freq = 0, gradient_steps = 1, learning_starts = 0;
    uint32_t waiting_decisions = 0;  ///< collection pauses while so many wait
    bool learns_without_samples = false;
    uint32_t max_frames_per_update = 600;

    bool has_rollouts() const { return n_steps > 0; }
    /// What is learned depends on samples alone, not on time.
    bool is_paced() const { return train_freq > 0; }
    /// What a minibatch learns from does not change while it is recorded in slices.
    bool is_sliceable() const { return has_rollouts() || is_paced(); }
};

/// The learner's schedule.
///
/// With a pace (Schedule::is_paced) decisions wait in a queue.  Their samples go to the replay
/// buffer one decision at a time, followed by the minibatches that are then due; so the budget
/// delays learning, and changes nothing of what is learned.
///
///                     begin              advantages_done    samples_added      minibatch_done
///     kCollecting     kAdvantages        -                  -                  -
///                     or kAddSamples
///                     or kMinibatches
///     kAdvantages     -                  kMinibatches       -                  -
///     kAddSamples     -                  -                  kCollecting        -
///                                                           or kAddSamples
///                                                           or kMinibatches
///     kMinibatches    -                  -                  -                  kCollecting
///                                                                              or kAddSamples
///                                                                              or kMinibatches
///
/// restart() leads to kCollecting from everywhere.
class Updates {
  public:
    /// Returns false if out of memory.
    [[nodiscard]] bool allocate(HostAllocator& allocator, const Schedule& schedule) {
        schedule_ = schedule;
        return waiting_.resize(allocator, schedule.waiting_decisions);
    }

    const Schedule& schedule() const { return schedule_; }
    LearningPhase phase() const { return phase_; }
    bool is_learning() const { return phase_ != LearningPhase::kCollecting; }

    // --- Collecting ---
    /// Counts a decision that is completely recorded and stored this many transitions.
    void count_decision(uint32_t transitions);
    /// Counts transitions that were not stored because collection is paused.
    void count_paused(uint32_t transitions) { paused_ += transitions; }
    bool is_due() const;
    /// Gradient steps that the samples allow and that are not taken.
    uint64_t owed_steps() const;
    /// The queue of decisions is full.
    bool is_collection_paused() const {
        return schedule_.is_paced() && waiting_count_ == waiting_.size();
    }
    uint64_t samples_paused() const { return paused_; }
    uint32_t collected() const { return collected_; }

    // --- Learning ---
    void begin();
    void advantages_done();
    /// Samples of the oldest waiting decision.
    uint32_t samples_to_add() const { return waiting_[oldest_]; }
    void samples_added();
    /// Returns true if the weights are published now.
    bool minibatch_done();
    bool is_publication_next() const;
    /// Of the update in progress.
    uint64_t minibatches_left() const { return minibatches_left_; }
    /// Ends the update in progress without regard to the budget.
    void flush() { is_flushing_ = is_learning(); }
    bool is_flushing() const { return is_flushing_; }
    /// True if the rest of the minibatch is recorded at once, because it is flushed or overdue.
    bool records_whole() const {
        return is_flushing_ || frames_without_update_ >= schedule_.max_frames_per_update;
    }
    uint64_t rollouts() const { return rollouts_; }

    // --- Progress ---
    /// Counts a frame with a budget in which an update was in progress, or samples were added.
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
    void begin_next();

    Schedule schedule_;
    LearningPhase phase_ = LearningPhase::kCollecting;
    bool is_flushing_ = false, has_new_samples_ = false;
    Array<uint32_t> waiting_;  ///< ring: samples of each waiting decision, oldest first
    uint32_t oldest_ = 0, waiting_count_ = 0;
    uint32_t collected_ = 0, since_publication_ = 0;
    uint64_t minibatches_left_ = 0;
    uint64_t rollouts_ = 0, paused_ = 0;
    uint64_t waiting_samples_ = 0, added_samples_ = 0, steps_ = 0;
    uint64_t frames_without_update_ = 0, frames_without_slice_ = 0;
};

}  // namespace hearth::agents
