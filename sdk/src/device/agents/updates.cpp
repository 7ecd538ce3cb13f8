// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Decides what is learned next.

#include "device/agents/updates.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>

namespace hearth::agents {

namespace {

constexpr uint32_t kMaxSamplesPerDecision = 1u << 24;
constexpr uint64_t kMaxSamples = uint64_t{1} << 40;

/// Minibatches that are due after so many samples.
uint64_t steps_due(const Schedule& schedule, uint64_t samples) {
    if (!schedule.is_paced()) return 0;
    const uint64_t begun = samples - std::min<uint64_t>(samples, schedule.learning_starts);
    return begun / schedule.train_freq * schedule.gradient_steps;
}

}  // namespace

void Updates::count_decision(uint32_t transitions) {
    has_new_samples_ = true;
    if (transitions == 0) return;
    if (schedule_.has_rollouts()) collected_ = std::min(collected_ + 1, schedule_.n_steps);
    if (!schedule_.is_paced()) return;
    HEARTH_ASSERT(!is_collection_paused());
    waiting_[(oldest_ + waiting_count_++) % waiting_.size()] = transitions;
    waiting_samples_ += transitions;
}

uint64_t Updates::owed_steps() const {
    const uint64_t due = steps_due(schedule_, added_samples_ + waiting_samples_);
    return due > steps_ ? due - steps_ : 0;
}

bool Updates::is_due() const {
    if (schedule_.has_rollouts()) return collected_ >= schedule_.n_steps;
    if (schedule_.is_paced()) return waiting_count_ > 0;
    return has_new_samples_ || schedule_.learns_without_samples;
}

void Updates::begin() {
    HEARTH_ASSERT(!is_learning());
    frames_without_slice_ = 0;
    if (schedule_.is_paced()) return begin_next();
    phase_ = schedule_.has_rollouts() ? LearningPhase::kAdvantages : LearningPhase::kMinibatches;
    minibatches_left_ = schedule_.updates_per_rollout;
    has_new_samples_ = false;
    if (!schedule_.has_rollouts()) return;
    collected_ = 0;
    ++rollouts_;
}

/// With a pace: minibatches that are due, then the next decision.
void Updates::begin_next() {
    const uint64_t due = steps_due(schedule_, added_samples_);
    minibatches_left_ = due > steps_ ? due - steps_ : 0;
    phase_ = minibatches_left_ > 0 ? LearningPhase::kMinibatches
             : waiting_count_ > 0  ? LearningPhase::kAddSamples
                                   : LearningPhase::kCollecting;
    if (phase_ == LearningPhase::kCollecting) is_flushing_ = false;
}

void Updates::advantages_done() {
    HEARTH_ASSERT(phase_ == LearningPhase::kAdvantages);
    phase_ = LearningPhase::kMinibatches;
}

void Updates::samples_added() {
    HEARTH_ASSERT(phase_ == LearningPhase::kAddSamples && waiting_count_ > 0);
    added_samples_ += waiting_[oldest_];
    waiting_samples_ -= waiting_[oldest_];
    oldest_ = static_cast<uint32_t>((oldest_ + 1) % waiting_.size());
    --waiting_count_;
    begin_next();
}

bool Updates::is_publication_next() const {
    return schedule_.has_rollouts() ? minibatches_left_ == 1
                                    : since_publication_ + 1 >= schedule_.sync_interval;
}

bool Updates::minibatch_done() {
    HEARTH_ASSERT(phase_ == LearningPhase::kMinibatches);
    const bool publishes = is_publication_next();
    since_publication_ = publishes ? 0 : since_publication_ + 1;
    frames_without_update_ = frames_without_slice_ = 0;
    ++steps_;
    if (--minibatches_left_ > 0) return publishes;
    if (schedule_.is_paced()) {
        begin_next();
    } else {
        phase_ = LearningPhase::kCollecting;
        is_flushing_ = false;
    }
    return publishes;
}

void Updates::count_frame() {
    HEARTH_ASSERT(is_learning());
    if (!schedule_.is_paced() || owed_steps() > 0) ++frames_without_update_;
    ++frames_without_slice_;
}

uint32_t Updates::slices_due(uint32_t slices_left) const {
    const uint64_t most = schedule_.max_frames_per_update;
    const uint64_t left = most > frames_without_update_ ? most - frames_without_update_ : 1;
    if (slices_left >= left) return static_cast<uint32_t>((slices_left + left - 1) / left);
    return frames_without_slice_ > left / slices_left ? 1 : 0;
}

void Updates::archive(Archive& archive) {
    archive(phase_, has_new_samples_, collected_, minibatches_left_, since_publication_, rollouts_,
            paused_, added_samples_, steps_, oldest_, waiting_count_);
    archive.array(waiting_);
    if (!archive.reads()) return;
    is_flushing_ = false;
    frames_without_update_ = frames_without_slice_ = 0;
    collected_ = std::min(collected_, schedule_.n_steps);
    const auto size = static_cast<uint32_t>(waiting_.size());
    waiting_count_ = std::min(waiting_count_, size);
    oldest_ = size == 0 ? 0 : oldest_ % size;
    waiting_samples_ = 0;
    for (uint32_t& samples : waiting_) samples = std::min(samples, kMaxSamplesPerDecision);
    for (uint32_t i = 0; i < waiting_count_; ++i)
        waiting_samples_ += waiting_[(oldest_ + i) % size];
    if (schedule_.is_paced()) {
        // A debt that no run has would pause collection for good.
        added_samples_ = std::min(added_samples_, kMaxSamples);
        const uint64_t due = steps_due(schedule_, added_samples_);
        const uint64_t most = uint64_t{schedule_.gradient_steps} * kMaxSamplesPerDecision;
        steps_ = std::clamp(steps_, due > most ? due - most : 0, due);
        begin_next();
    } else if (phase_ != LearningPhase::kMinibatches || minibatches_left_ == 0 ||
               minibatches_left_ > schedule_.updates_per_rollout) {
        phase_ = LearningPhase::kCollecting;
    }
}

void Updates::restart(uint32_t collected) {
    phase_ = LearningPhase::kCollecting;
    is_flushing_ = has_new_samples_ = false;
    since_publication_ = oldest_ = waiting_count_ = 0;
    minibatches_left_ = waiting_samples_ = added_samples_ = steps_ = 0;
    frames_without_update_ = frames_without_slice_ = 0;
    collected_ = std::min(collected, schedule_.n_steps);
}

}  // namespace hearth::agents
