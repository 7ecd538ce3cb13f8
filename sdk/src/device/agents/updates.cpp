// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Decides what is learned next.

#include "device/agents/updates.hpp"

#include <hearth/core/assert.hpp>

#include <algorithm>
#include <cmath>

namespace hearth::agents {

void Updates::count_decision(uint32_t transitions) {
    has_new_samples_ = true;
    if (transitions == 0) return;
    samples_ += transitions;
    if (schedule_.has_rollouts()) collected_ = std::min(collected_ + 1, schedule_.n_steps);
}

double Updates::owed_steps() const {
    if (schedule_.has_rollouts() || samples_ < schedule_.learning_starts) return 0;
    const double due = static_cast<double>(samples_) * schedule_.steps_per_sample;
    return std::max(due - static_cast<double>(steps_), 0.0);
}

bool Updates::is_collection_paused() const {
    if (schedule_.steps_per_sample <= 0 || schedule_.max_owed_samples == 0) return false;
    return owed_steps() >
           static_cast<double>(schedule_.max_owed_samples) * schedule_.steps_per_sample;
}

bool Updates::is_due() const {
    if (schedule_.has_rollouts()) return collected_ >= schedule_.n_steps;
    if (schedule_.steps_per_sample > 0) return owed_steps() >= 1;
    return has_new_samples_ || schedule_.learns_without_samples;
}

void Updates::begin() {
    HEARTH_ASSERT(!is_learning());
    phase_ = schedule_.has_rollouts() ? LearningPhase::kAdvantages : LearningPhase::kMinibatches;
    minibatches_left_ = schedule_.updates_per_rollout;
    if (schedule_.steps_per_sample > 0)
        minibatches_left_ = static_cast<uint32_t>(std::clamp(owed_steps(), 1.0, 1e9));
    has_new_samples_ = false;
    frames_without_slice_ = 0;
    if (!schedule_.has_rollouts()) return;
    collected_ = 0;
    ++rollouts_;
}

void Updates::advantages_done() {
    HEARTH_ASSERT(phase_ == LearningPhase::kAdvantages);
    phase_ = LearningPhase::kMinibatches;
}

bool Updates::is_publication_next() const {
    return schedule_.has_rollouts() ? is_last_minibatch()
                                    : since_publication_ + 1 >= schedule_.sync_interval;
}

bool Updates::minibatch_done() {
    HEARTH_ASSERT(phase_ == LearningPhase::kMinibatches);
    const bool publishes = is_publication_next();
    since_publication_ = publishes ? 0 : since_publication_ + 1;
    frames_without_update_ = frames_without_slice_ = 0;
    ++steps_;
    if (--minibatches_left_ > 0) return publishes;
    phase_ = LearningPhase::kCollecting;
    is_flushing_ = false;
    return publishes;
}

void Updates::count_frame() {
    if (!is_learning()) return;
    ++frames_without_update_;
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
            samples_, steps_, paused_);
    if (!archive.reads()) return;
    is_flushing_ = false;
    frames_without_update_ = frames_without_slice_ = 0;
    collected_ = std::min(collected_, schedule_.n_steps);
    if (phase_ != LearningPhase::kMinibatches || minibatches_left_ == 0)
        phase_ = LearningPhase::kCollecting;
    // A debt that no run of this schedule has would pause collection for good.
    steps_ = std::min(steps_, uint64_t{1} << 62);
    const double debt = owed_steps();
    if (is_collection_paused() && debt > 2.0 * static_cast<double>(schedule_.max_owed_samples))
        samples_ = steps_ = 0;
}

void Updates::restart(uint32_t collected) {
    phase_ = LearningPhase::kCollecting;
    is_flushing_ = has_new_samples_ = false;
    minibatches_left_ = since_publication_ = 0;
    samples_ = steps_ = 0;
    frames_without_update_ = frames_without_slice_ = 0;
    collected_ = std::min(collected, schedule_.n_steps);
}

}  // namespace hearth::agents
