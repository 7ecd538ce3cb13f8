// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records learning: as much of the update in progress as the budget allows.

#include "device/agents/driver.hpp"

#include <algorithm>

using namespace hearth;
using namespace hearth::agents;

/// Predicted time of the next slice in us; 0 if unknown.
double hearth_agents::smallest_slice_us() const {
    const LearningPhase phase = updates.phase();
    const Entry& next = phase == LearningPhase::kAdvantages   ? entries.advantages
                        : phase == LearningPhase::kAddSamples ? entries.add_samples
                                                              : entries.learn;
    double us =
        updates.schedule().is_sliceable() ? next.cost.us_of_least(next.position()) : next.cost.us();
    if (&next == &entries.learn && updates.is_publication_next()) us += budget.publish_us();
    if ((decision.is_wanted || rollout.state() != DecisionState::kNone) &&
        decision.is_best_effort())
        us = std::max(us, entries.frame.cost.us_of_least(entries.frame.position()));
    return us;
}

hearth_result hearth_agents::record_learning(VkCommandBuffer commands, bool may_learn) {
    // A sliced decision reads published weights and writes samples.  Updates from a rollout or from
    // samples that have waited touch neither; shrink and perturb, other updates and hand-overs do.
    const bool is_deciding = rollout.state() != DecisionState::kNone;
    const bool is_paced = updates.schedule().is_paced();
    if (settings.wants_shrink_and_perturb && !is_deciding)
        if (const auto r = record_shrink_and_perturb(commands); r != HEARTH_OK) return r;
    if (!may_learn || (!updates.schedule().is_sliceable() && is_deciding)) return HEARTH_OK;
    const VkCommandBuffer used = second_queue.is_used ? second_queue.commands : commands;
    if (settings.wants_publication) {
        if (used == nullptr || (is_deciding && !second_queue.is_used)) return HEARTH_OK;
        if (const auto r = publish(used); r != HEARTH_OK) return r;
    }
    if (!updates.is_learning()) {
        if (!updates.is_due() || (is_deciding && !is_paced) || !second_queue.is_here())
            return HEARTH_OK;
        if (const auto r = begin_update(commands); r != HEARTH_OK) return r;
    } else if (second_queue.is_used && second_queue.is_here()) {
        // The load that called the learner's session back was rejected: resume learning.
        if (const auto r = hand_over(commands, Turn::kToLearning); r != HEARTH_OK) return r;
    }
    updates.count_frame();
    if (second_queue.is_used && (second_queue.turn != Turn::kLearning || used == nullptr))
        return HEARTH_OK;
    if (updates.phase() == LearningPhase::kAdvantages)
        if (const auto r = record_advantages(used, updates.records_whole()); r != HEARTH_OK)
            return r;
    return updates.phase() == LearningPhase::kAdvantages ? HEARTH_OK : record_updates(used);
}

/// Only between updates is nothing in progress.
hearth_result hearth_agents::record_shrink_and_perturb(VkCommandBuffer commands) {
    const bool is_between =
        second_queue.is_used
            ? !updates.is_learning() && second_queue.is_here()
            : !entries.learn.is_cut() && updates.phase() != LearningPhase::kAdvantages;
    if (!is_between) return HEARTH_OK;
    if (const auto r = run(commands, entries.shrink_and_perturb, 1); r != HEARTH_OK) return r;
    settings.wants_shrink_and_perturb = false;
    return second_queue.is_used ? copy_learned(commands) : HEARTH_OK;
}

hearth_result hearth_agents::begin_update(VkCommandBuffer commands) {
    if (second_queue.is_used)
        if (const auto r = hand_samples_over(commands); r != HEARTH_OK) return r;
    updates.begin();
    std::ranges::copy(settings.hyperparameters, settings.recorded.begin());
    entries.learn.cursor = entries.advantages.cursor = {};
    return HEARTH_OK;
}

/// Records as much of the advantages as the budget allows, or all that is left.  The first ones are
/// recorded whole, because their cost is not known yet.
hearth_result hearth_agents::record_advantages(VkCommandBuffer commands, bool is_whole) {
    Entry& advantages = entries.advantages;
    Limits limits;
    const Position before = advantages.position();
    if (!is_whole && advantages.cost.is_known()) {
        limits = advantages.cost.within(before, budget.left_us());
        if (limits.is_nothing() && updates.slices_due(1) > 0)
            limits = advantages.cost.least(before);
        if (limits.is_nothing()) return HEARTH_OK;
    }
    const hearth_result result = run(commands, advantages, 1, limits);
    if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) return result;
    updates.count_slice();
    if (result == HEARTH_OK) updates.advantages_done();
    const Position end =
        result == HEARTH_INCOMPLETE ? advantages.position() : advantages.cost.end();
    budget.spend(advantages.cost.us(before, end));
    if (updates.records_whole()) budget.forgive();
    return HEARTH_OK;
}

/// Limits of the next slice of the minibatch in progress, the n-th of this frame.  Sets is_recorded
/// to false if nothing may be recorded.
Limits hearth_agents::minibatch_limits(uint32_t n, uint32_t slices_due, bool& is_recorded) {
    is_recorded = true;
    if (updates.records_whole()) return {};
    const CostMeter& cost = entries.learn.cost;
    const Position at = entries.learn.position();
    is_recorded = n == 0 || cost.is_known();
    const double left =
        budget.left_us() - (updates.is_publication_next() ? budget.publish_us() : 0);
    Limits limits;
    if (updates.schedule().is_sliceable()) {
        // What it learns from does not change meanwhile, so it may be sliced anywhere.  Before
        // anything was measured, a slice is small and of fixed size.
        limits = cost.is_known() ? cost.within(at, left) : Limits{.dispatches = 4};
        if (limits.is_nothing() && n < slices_due) limits = cost.least(at);
        is_recorded = is_recorded && !limits.is_nothing();
    } else {
        // A replay buffer that changes in every frame: updates from it are recorded whole.
        is_recorded = is_recorded && (left >= cost.us() || n < slices_due);
    }
    return limits;
}

/// Adds the samples of the oldest waiting decision, as a whole.
hearth_result hearth_agents::record_samples(VkCommandBuffer commands, bool& is_recorded) {
    Entry& add = entries.add_samples;
    is_recorded = updates.records_whole() || !add.cost.is_known() ||
                  budget.left_us() >= add.cost.us() || updates.slices_due(1) > 0;
    if (!is_recorded) return HEARTH_OK;
    if (const auto r = run(commands, add, updates.samples_to_add()); r != HEARTH_OK) return r;
    updates.count_slice();
    budget.spend(add.cost.us());
    if (updates.records_whole()) budget.forgive();
    updates.samples_added();
    return HEARTH_OK;
}

/// Publishes, and returns the learner.  If that fails, a later record repeats it.
hearth_result hearth_agents::publish(VkCommandBuffer commands) {
    settings.wants_publication = true;
    if (const auto r = run(commands, entries.publish, 1); r != HEARTH_OK) return r;
    budget.spend(budget.publish_us());
    if (second_queue.is_used)
        if (const auto r = hand_over(commands, Turn::kToActing); r != HEARTH_OK) return r;
    settings.wants_publication = false;
    return HEARTH_OK;
}

/// Records as many minibatches as the budget allows, and publishes when it is due.
hearth_result hearth_agents::record_updates(VkCommandBuffer commands) {
    Entry& learn = entries.learn;
    const uint32_t slices_left =
        updates.schedule().is_sliceable() ? learn.cost.slices_from(learn.position()) : 1;
    const uint32_t slices_due = updates.slices_due(std::max(slices_left, 1u));
    const bool is_deciding = rollout.state() != DecisionState::kNone && !second_queue.is_used;
    uint32_t n = 0;
    for (uint32_t recordings = 0; recordings < kMaxLearningRecordings &&
                                  n < kMaxMinibatchesPerFrame && updates.is_learning();
         ++recordings) {
        bool is_recorded = false;
        if (updates.phase() == LearningPhase::kAddSamples) {
            if (const auto r = record_samples(commands, is_recorded); r != HEARTH_OK) return r;
            if (!is_recorded) break;
            continue;
        }
        const Limits limits = minibatch_limits(n, slices_due, is_recorded);
        // Publication follows at once, and must wait for a sliced decision.
        if (!is_recorded || (updates.is_publication_next() && is_deciding)) break;
        ++n;
        if (!learn.is_cut()) std::ranges::copy(settings.hyperparameters, settings.recorded.begin());
        const Position before = learn.position();
        const hearth_result result = run(commands, learn, 1, limits);
        if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) return result;
        updates.count_slice();
        const Position end = result == HEARTH_INCOMPLETE ? learn.position() : learn.cost.end();
        budget.spend(learn.cost.us(before, end));
        if (updates.records_whole()) budget.forgive();
        if (result == HEARTH_INCOMPLETE) {
            if (n < slices_due) continue;
            break;
        }
        if (!updates.minibatch_done()) continue;
        if (const auto r = publish(commands); r != HEARTH_OK) return r;
        if (second_queue.is_used) break;
    }
    return HEARTH_OK;
}
