// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records a frame, and takes over what has arrived.

#include "device/agents/driver.hpp"

#include <algorithm>
#include <cmath>

using namespace hearth;
using namespace hearth::agents;

namespace hearth::agents {

hearth_result result_of(StatusCode code) {
    switch (code) {
        case StatusCode::kOk:
            return HEARTH_OK;
        case StatusCode::kNotFound:
            return HEARTH_ERROR_NOT_FOUND;
        case StatusCode::kUnsupported:
            return HEARTH_ERROR_VERSION_MISMATCH;
        case StatusCode::kCorruptData:
            return HEARTH_ERROR_CORRUPT_DATA;
        default:
            return HEARTH_ERROR_INVALID_ARGUMENT;
    }
}

}  // namespace hearth::agents

hearth_result hearth_agents::fail(hearth_result result, const hearth_session* failed) const {
    error.set("%s", hearth_session_error(failed));
    return result;
}

bool hearth_agents::stores() const {
    if (updates.is_collection_paused()) return false;
    return !modes.is_frozen || modes.is_closing || description.has_memory;
}

// --- A frame ---

/// The order of everything that a frame records.
hearth_result hearth_agents::record(const hearth_agents_record_info& info) {
    const VkCommandBuffer commands = info.command_buffer;
    poll();
    if (const auto r = begin_record(info); r != HEARTH_OK) return r;
    if (const auto r = record_turn(commands); r != HEARTH_OK) return r;
    if (const auto r = record_load(commands); r != HEARTH_OK) return r;
    budget.begin_frame(info.learning_budget_us, info.priority);
    if (const double planned = budget.planned_us(); planned > 0 && updates.schedule().n_steps > 0)
        for (Entry* const entry : {&entries.learn, &entries.advantages})
            entry->cost.set_budget(planned);
    budget.add(smallest_slice_us());

    const uint64_t before = decisions;
    const bool may_begin = rollout.state() == DecisionState::kNone && info.request_decision != 0;
    // Advantages may change state that decisions read, so they are completed before the next
    // decision.
    if (may_begin && updates.phase() == LearningPhase::kAdvantages && !second_queue.is_used)
        if (const auto r = record_advantages(commands, true); r != HEARTH_OK) return r;
    if (may_begin) {
        if (const auto r = check_inputs(info); r != HEARTH_OK) return r;
        begin_decision(info);
    }
    if (rollout.state() != DecisionState::kNone &&
        (info.learning_budget_us > 0 || decision.frames_left != HEARTH_AGENTS_BEST_EFFORT))
        if (const auto r = record_decision(commands); r != HEARTH_OK) return r;
    if (entries.store.exists)
        if (const auto r = record_demonstrations(commands); r != HEARTH_OK) return r;
    const bool may_learn =
        !modes.is_frozen && (info.learning_budget_us > 0 || updates.is_flushing());
    if (const auto r = record_learning(commands, may_learn); r != HEARTH_OK) return r;
    if (const auto r = record_snapshot(commands); r != HEARTH_OK) return r;
    if (decisions != before) read_back(commands);
    return HEARTH_OK;
}

/// Refuses a second record in a frame, unless the first one was discarded, and initializes the
/// sessions.
hearth_result hearth_agents::begin_record(const hearth_agents_record_info& info) {
    hearth_context_stats stats = hearth_context_stats_default();
    (void)hearth_context_get_stats(context, &stats);
    second_queue.commands = info.learning_command_buffer;
    for (hearth_session* const used : {session, learner}) {
        hearth_session_status status = hearth_session_status_default();
        (void)hearth_session_get_status(used, &status);
        if (used == session && stats.frame_number != 0 &&
            stats.frame_number == last_frame_recorded &&
            status.discarded_frame != last_frame_recorded) {
            error.set("frame %llu is recorded already; call hearth_begin_frame before each record",
                      static_cast<unsigned long long>(stats.frame_number));
            return HEARTH_ERROR_INVALID_STATE;
        }
        if (status.is_initialized != 0) continue;
        if (const auto r = hearth_record_initialize(used, info.command_buffer); r != HEARTH_OK)
            return fail(r, used);
    }
    last_frame_recorded = stats.frame_number;
    return HEARTH_OK;
}

hearth_result hearth_agents::run(VkCommandBuffer commands, Entry& entry, uint64_t rows,
                                 Limits limits) {
    const bool is_frame = &entry == &entries.frame;
    for (size_t i = 0; i < entry.sources.size(); ++i) {
        const Source& s = entry.sources[i];
        entries.bound[i] = hearth_bind_bytes(s.binding, s.data, s.bytes(rows));
        for (uint32_t k = 0; is_frame && k < decision.input_count; ++k)
            if (decision.inputs[k].binding == s.binding) entries.bound[i] = decision.inputs[k];
    }
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = commands;
    record.entry = entry.index;
    record.bindings = entries.bound.data();
    record.binding_count = static_cast<uint32_t>(entry.sources.size());
    record.batch_size = std::max<uint64_t>(rows, 1);
    record.max_dispatches = limits.dispatches;
    record.max_workgroups = limits.workgroups;
    if (is_frame && decision.has_agent_count) record.indirect_batch_buffer = &decision.agent_count;
    if (&entry == &entries.learn || &entry == &entries.advantages)
        record.occupancy_priority = occupancy_priority(budget.priority());
    hearth_session* const used = entry.is_learners ? learner : session;
    const hearth_result result = hearth_record(used, &record, &entry.cursor);
    return result < 0 ? fail(result, used) : result;
}

// --- Decisions ---

namespace {

bool is_given(const hearth_agents_record_info& info, const Source* source) {
    return source != nullptr && std::any_of(info.inputs, info.inputs + info.input_count,
                                            [&](const hearth_tensor_binding& b) {
                                                return b.binding == source->binding;
                                            });
}

}  // namespace

hearth_result hearth_agents::check_inputs(const hearth_agents_record_info& info) const {
    const auto& sources = entries.frame.sources;
    for (uint32_t i = 0; i < info.input_count; ++i) {
        const uint32_t binding = info.inputs[i].binding;
        const auto has_binding = [&](const auto& x) { return x.binding == binding; };
        const bool is_known = std::any_of(sources.begin(), sources.end(), has_binding);
        const bool is_twice = std::any_of(info.inputs, info.inputs + i, has_binding);
        if (is_known && !is_twice) continue;
        error.set("inputs[%u].binding is %u, %s", i, binding,
                  is_known ? "which is given twice; give it once"
                           : "which is not an input of the entry frame");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (info.indirect_agent_count_buffer == nullptr) return HEARTH_OK;
    for (const Source& s : sources)
        if (s.row_bytes > 0 && !is_given(info, &s)) {
            error.set(
                "indirect_agent_count_buffer is given, so '%s' must be a buffer, too; add it to "
                "inputs",
                s.name);
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
    return HEARTH_OK;
}

/// Captures the inputs of a decision; they stay fixed until it is completely recorded.
void hearth_agents::begin_decision(const hearth_agents_record_info& info) {
    const bool is_stored = stores();
    const Rollout::Packed packed = rollout.pack(roster, {is_stored, modes.is_closing});
    if (packed.rows == 0) return;
    std::copy_n(info.inputs, info.input_count, decision.inputs.begin());
    decision.input_count = info.input_count;
    decision.has_agent_count = info.indirect_agent_count_buffer != nullptr;
    if (decision.has_agent_count) decision.agent_count = *info.indirect_agent_count_buffer;
    decision.exploration = info.exploration;
    decision.frames_left = info.max_decision_frames;
    entries.frame.cursor = {};

    if (packed.transitions == 0) return;
    if (updates.is_collection_paused()) updates.count_paused(packed.transitions);
    if (scores.are_reported)
        progress.add(scores.sum / packed.transitions);
    else if (!is_given(info, entries.frame.find("reward")) &&
             !is_given(info, entries.frame.find("praise")))
        progress.add(packed.reward / packed.transitions);
}

/// Records a decision or its next slice.
hearth_result hearth_agents::record_decision(VkCommandBuffer commands) {
    Entry& frame = entries.frame;
    const Position before = frame.position();
    const bool is_best_effort = decision.frames_left == HEARTH_AGENTS_BEST_EFFORT;
    Limits limits;
    if (is_best_effort) {
        // A small fixed slice before anything was measured.
        limits = frame.cost.is_known() ? frame.cost.within(before, budget.left_us())
                                       : Limits{.dispatches = 4};
        if (limits.is_nothing()) return HEARTH_OK;
    } else if (decision.frames_left > 1) {
        const double left = static_cast<double>(frame.dispatches) *
                            (frame.commands - before.command) / frame.commands;
        limits.dispatches = static_cast<uint32_t>(std::ceil(left / decision.frames_left));
        --decision.frames_left;
    }
    const hearth_result result = run(commands, frame, rollout.packed().rows, limits);
    if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) {
        if (before.is_start()) rollout.abandon();
        return result;
    }
    if (before.is_start()) {
        rollout.start();
        scores.sum = 0;
    }
    const Position end = result == HEARTH_INCOMPLETE ? frame.position() : frame.cost.end();
    if (is_best_effort) budget.spend(frame.cost.us(before, end));
    if (result == HEARTH_OK) finish_decision();
    return HEARTH_OK;
}

/// Completes a decision.  Agents may have joined or left since it began.
void hearth_agents::finish_decision() {
    ++decisions;
    updates.count_decision(rollout.has_outcomes() ? rollout.packed().transitions : 0);
    const Rows& rows = rollout.rows();
    for (uint32_t r = 0; r < rollout.packed().rows; ++r)
        roster.decided({rows.id[r], rows.generation[r]}, decisions, rows.is_leaving[r] != 0);
    rollout.finish();
    modes.is_closing = false;
}

/// Records the newest demonstration of each agent.  It waits while a learning update is sliced,
/// because that reads the same replay buffer.
hearth_result hearth_agents::record_demonstrations(VkCommandBuffer commands) {
    const bool is_clone = description.manifest.algorithm() == Algorithm::kBehaviorCloning;
    for (uint32_t i = 0; i < roster.capacity(); ++i) {
        if (demonstrations.state(i) != DemonstrationState::kGiven) continue;
        if (!is_clone) rollout.possess(i);
        if (modes.is_frozen)
            demonstrations.clear(i);
        else
            demonstrations.capture(i, rollout.observation(i), rollout.mask(i));
    }
    const bool is_cut = entries.learn.is_cut() || entries.advantages.is_cut();
    if (modes.is_frozen || (is_cut && !second_queue.is_used)) return HEARTH_OK;
    const uint32_t rows = demonstrations.pack();
    if (rows == 0) return HEARTH_OK;
    const hearth_result result = run(commands, entries.store, rows);
    if (result == HEARTH_OK) demonstrations.clear();
    return result;
}

// --- What arrives ---

void hearth_agents::read_back(VkCommandBuffer commands) {
    // With too many frames in flight a later frame reads back.
    if (readbacks.state() == ReadbackState::kFull) return;
    Readbacks::InFlight r;
    r.decision = decisions;
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = commands;
    info.variable = action_variable;
    if (hearth_record_readback(session, &info, &r.actions) != HEARTH_OK) return;
    info.variable = status_variable;
    if (hearth_record_readback(session, &info, &r.status) != HEARTH_OK) r.status = 0;
    readbacks.push(r);
}

void hearth_agents::measure() {
    hearth_timings timings = hearth_timings_default();
    const auto is_of = [&](const Entry& entry) {
        return entry.exists && timings.entry == entry.index;
    };
    for (hearth_session* const used : {session, learner}) {
        while (hearth_session_next_timings(used, &timings) == HEARTH_OK) {
            const double us = timings.total_ns * 1e-3;
            const bool is_publication = is_of(entries.publish);
            if (is_of(entries.advantages) || is_of(entries.learn) || is_publication)
                budget.count(timings.frame_number, us, smallest_slice_us());
            if (is_publication) budget.measure_publish(us);
            for (Entry* const entry : {&entries.frame, &entries.advantages, &entries.learn}) {
                if (!is_of(*entry)) continue;
                const Position first{timings.first_command, timings.first_sub_dispatch};
                const Position end{timings.end_command, timings.end_sub_dispatch};
                if (entry != &entries.frame && entry->cost.is_known())
                    budget.settle(entry->cost.us(first, end), us);
                entry->cost.measure(first, end, us);
            }
        }
        if (!second_queue.is_used) return;
    }
}

void hearth_agents::poll() {
    measure();
    poll_snapshot();
    while (readbacks.state() != ReadbackState::kIdle) {
        const Readbacks::InFlight r = readbacks.oldest();
        const void* data = nullptr;
        uint64_t bytes = 0, frame_number = 0;
        const hearth_result result =
            hearth_readback_poll(session, r.actions, &data, &bytes, &frame_number);
        if (result == HEARTH_NOT_READY) return;
        const auto contents = [&] {
            return std::span(static_cast<const std::byte*>(data), static_cast<size_t>(bytes));
        };
        if (result == HEARTH_OK) readbacks.take_actions(contents(), r.decision);
        hearth_readback_release(session, r.actions);
        if (r.status != 0 &&
            hearth_readback_poll(session, r.status, &data, &bytes, &frame_number) == HEARTH_OK) {
            readbacks.take_status(contents(), frame_number);
            watch_publications(r.decision);
        }
        hearth_readback_release(session, r.status);
        readbacks.pop();
    }
}
