// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Hands the learner's session over between two queues.

#include "device/agents/second_queue.hpp"

#include "device/agents/driver.hpp"

#include <algorithm>

using namespace hearth;
using namespace hearth::agents;

namespace hearth::agents {

bool SecondQueue::find_variables(const hearth_program* program, HostAllocator& allocator,
                                 std::initializer_list<const Entry*> sampling,
                                 std::initializer_list<const Entry*> learning) {
    hearth_program_info about = hearth_program_info_default();
    (void)hearth_program_get_info(program, &about);
    Array<uint32_t> written;
    Array<uint8_t> is_sampled, is_learned;
    const size_t count = about.variable_count;
    if (!written.resize(allocator, count) || !is_sampled.resize(allocator, count) ||
        !is_learned.resize(allocator, count))
        return false;
    const auto mark = [&](std::initializer_list<const Entry*> by, Array<uint8_t>& marks) {
        for (const Entry* const entry : by) {
            if (!entry->exists) continue;
            auto n = static_cast<uint32_t>(count);
            (void)hearth_program_get_mutated_variables(program, entry->index, written.data(), &n);
            for (uint32_t i = 0; i < n; ++i) marks[written[i]] = 1;
        }
    };
    mark(sampling, is_sampled);
    mark(learning, is_learned);
    // The rollout's fill position is written by both: advantages reset it, so it travels with the
    // samples.
    const auto select = [&](Array<uint32_t>& list, auto wanted) {
        const auto is_wanted = [&](uint32_t i) {
            return wanted(is_sampled[i] != 0, is_learned[i] != 0, i);
        };
        size_t size = 0;
        for (uint32_t i = 0; i < count; ++i) size += is_wanted(i) ? 1u : 0u;
        if (!list.resize(allocator, size)) return false;
        for (uint32_t i = 0, at = 0; i < count; ++i)
            if (is_wanted(i)) list[at++] = i;
        return true;
    };
    const auto is_persistent = [&](uint32_t i) {
        hearth_variable_info variable = hearth_variable_info_default();
        (void)hearth_program_get_variable(program, i, &variable);
        return variable.kind != HEARTH_VARIABLE_NON_PERSISTENT;
    };
    return select(sampled, [](bool s, bool, uint32_t) { return s; }) &&
           select(taken, [](bool s, bool l, uint32_t) { return s && l; }) &&
           select(learned, [&](bool s, bool l, uint32_t i) { return !s && l && is_persistent(i); });
}

}  // namespace hearth::agents

/// True once the frame in which the learner's session was handed over has completed.
bool hearth_agents::has_arrived() const {
    hearth_context_stats stats = hearth_context_stats_default();
    return hearth_context_get_stats(context, &stats) == HEARTH_OK &&
           stats.completed_frame_number >= second_queue.turn_frame_number;
}

/// Records one half of a queue ownership transfer: the release or the acquire.
hearth_result hearth_agents::transfer(VkCommandBuffer commands, bool to_learning) {
    const uint32_t acting = HEARTH_QUEUE_FAMILY_SAME, learning = second_queue.family;
    const auto r = hearth_record_queue_transfer(
        learner(), commands, to_learning ? acting : learning, to_learning ? learning : acting);
    return r == HEARTH_OK ? r : fail(r, learner());
}

/// Releases the learner's session to the other queue, after what `commands` contain for it.
hearth_result hearth_agents::hand_over(VkCommandBuffer commands, Turn to) {
    hearth_context_stats stats = hearth_context_stats_default();
    (void)hearth_context_get_stats(context, &stats);
    if (const auto r = transfer(commands, to == Turn::kToLearning); r != HEARTH_OK) return r;
    second_queue.turn = to;
    second_queue.turn_frame_number = stats.frame_number;
    return HEARTH_OK;
}

/// Acquires the learner's session once its hand-over has completed, and copies back what it
/// learned.
hearth_result hearth_agents::record_turn(VkCommandBuffer commands) {
    if (second_queue.turn == Turn::kToLearning && second_queue.commands != nullptr &&
        has_arrived()) {
        if (const auto r = transfer(second_queue.commands, true); r != HEARTH_OK) return r;
        second_queue.turn = Turn::kLearning;
    }
    // A sliced decision must finish with the weights that it began with.
    if (second_queue.turn == Turn::kToActing && rollout.state() == DecisionState::kNone &&
        has_arrived()) {
        if (const auto r = transfer(commands, false); r != HEARTH_OK) return r;
        second_queue.turn = Turn::kActing;
        second_queue.has_learned = !updates.is_learning();
    }
    return second_queue.has_learned ? copy_learned(commands) : HEARTH_OK;
}

/// Copies the learned variables to the acting session, after learning or when it is abandoned for a
/// load.  If that fails, the next record does it before anything else.
hearth_result hearth_agents::copy_learned(VkCommandBuffer commands) {
    const auto r =
        hearth_record_copy_variables(session, learner(), commands, second_queue.learned.data(),
                                     static_cast<uint32_t>(second_queue.learned.size()));
    second_queue.has_learned = r != HEARTH_OK;
    return r == HEARTH_OK ? r : fail(r, session);
}

/// Copies a full rollout to the learner and starts a new one.
hearth_result hearth_agents::hand_samples_over(VkCommandBuffer commands) {
    hearth_result r = HEARTH_OK;
    if (!second_queue.has_samples)
        r = hearth_record_copy_variables(learner(), session, commands, second_queue.sampled.data(),
                                         static_cast<uint32_t>(second_queue.sampled.size()));
    if (r != HEARTH_OK) return fail(r, learner());
    second_queue.has_samples = true;
    for (const uint32_t index : second_queue.taken) {
        hearth_variable_info variable = hearth_variable_info_default();
        (void)hearth_program_get_variable(program, index, &variable);
        r = hearth_record_reset_variables(session, commands, variable.name, nullptr);
        if (r != HEARTH_OK) return fail(r, session);
    }
    r = hand_over(commands, Turn::kToLearning);
    second_queue.has_samples = r != HEARTH_OK;
    return r;
}

/// Returns the learner's session in its current state, because loading a brain discards the
/// learning in progress.
hearth_result hearth_agents::call_learner_back() {
    if (second_queue.turn != Turn::kLearning || second_queue.commands == nullptr) return HEARTH_OK;
    return hand_over(second_queue.commands, Turn::kToActing);
}
