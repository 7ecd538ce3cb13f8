// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records a frame, and takes over what has arrived.

#include "device/agents/driver.hpp"

#include "core/checked.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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
    return !settings.is_frozen || settings.is_closing || description.has_memory;
}

// --- A frame ---

/// The order of everything that a frame records.
hearth_result hearth_agents::record(const hearth_agents_record_info& info) {
    const VkCommandBuffer commands = info.command_buffer;
    poll();
    if (const auto r = check_inputs(info); r != HEARTH_OK) return r;
    if (const auto r = begin_record(info); r != HEARTH_OK) return r;
    if (const auto r = record_turn(commands); r != HEARTH_OK) return r;
    bool has_resumed = false;
    const LoadState load = exchange.state();
    if (const auto r = record_load(commands, has_resumed); r != HEARTH_OK) return r;
    if (exchange.state() == LoadState::kNone) last_frame.loaded = load;
    if (has_resumed) {
        // The game goes on with the next frame, with the actions that it was saved with.
        read_back(commands);
        return HEARTH_OK;
    }
    budget.begin_frame(info.learning_budget_us, info.priority);
    if (const double planned = budget.planned_us();
        planned > 0 && updates.schedule().is_sliceable())
        for (Entry* const entry : {&entries.learn, &entries.advantages})
            entry->cost.set_budget(planned);
    budget.add(smallest_slice_us());

    if (info.request_decision != 0 && rollout.state() == DecisionState::kNone)
        request_decision(info);
    if (const auto r = record_decision(commands, info.learning_budget_us > 0); r != HEARTH_OK) {
        decision.is_wanted = false;
        return r;
    }
    if (entries.store.exists)
        if (const auto r = record_demonstrations(commands); r != HEARTH_OK) return r;
    const bool may_learn =
        !settings.is_frozen && (info.learning_budget_us > 0 || updates.is_flushing());
    const bool wants_to_shrink = settings.wants_shrink_and_perturb;
    if (const auto r = record_learning(commands, may_learn); r != HEARTH_OK) return r;
    last_frame.has_shrunk = wants_to_shrink && !settings.wants_shrink_and_perturb;
    if (const auto r = record_snapshot(commands); r != HEARTH_OK) return r;
    if (const auto r = record_saved_game(commands); r != HEARTH_OK) return r;
    if (last_frame.has_decided) read_back(commands);
    return HEARTH_OK;
}

/// Refuses a second record in a frame, unless the first one was discarded, and initializes the
/// sessions.
hearth_result hearth_agents::begin_record(const hearth_agents_record_info& info) {
    hearth_context_stats stats = hearth_context_stats_default();
    (void)hearth_context_get_stats(context, &stats);
    hearth_session_status acting = hearth_session_status_default();
    (void)hearth_session_get_status(session, &acting);
    if (acting.discarded_frames != last_frame.discarded_frames)
        repeat_discarded(acting.discarded_frame);
    if (last_frame.number != 0 && last_frame.number == stats.frame_number) {
        error.set("frame %llu is recorded already; call hearth_begin_frame before each record",
                  static_cast<unsigned long long>(stats.frame_number));
        return HEARTH_ERROR_INVALID_STATE;
    }
    second_queue.commands = info.learning_command_buffer;
    for (hearth_session* const used : {session, learner()}) {
        hearth_session_status status = hearth_session_status_default();
        (void)hearth_session_get_status(used, &status);
        if (status.is_initialized != 0) continue;
        if (const auto r = hearth_record_initialize(used, info.command_buffer); r != HEARTH_OK)
            return fail(r, used);
    }
    last_frame = {.number = stats.frame_number, .discarded_frames = acting.discarded_frames};
    return HEARTH_OK;
}

/// Takes back what the last frame did, because it was never executed.  Slices continue by
/// themselves (hearth_discard_frame).  The outcomes that a discarded decision contained are lost, so
/// the next decision stores none.
void hearth_agents::repeat_discarded(uint64_t frame_number) {
    const LastFrame last = std::exchange(last_frame, {});
    if (last.number != frame_number) return;
    if (last.has_decided)
        for (uint32_t i = 0; i < roster.capacity(); ++i) rollout.possess(i);
    if (last.has_shrunk) settings.wants_shrink_and_perturb = true;
    if (exchange.state() == LoadState::kNone) exchange.repeat(last.loaded);
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
    // What agents record whole has no limit, not the context's either.
    if (limits.is_nothing()) record.max_flops = UINT64_MAX;
    if (is_frame && decision.has_agent_count) record.indirect_batch_buffer = &decision.agent_count;
    if (&entry == &entries.learn || &entry == &entries.advantages)
        record.occupancy_priority = occupancy_priority(budget.priority());
    hearth_session* const used = entry.is_learners ? learner() : session;
    const hearth_result result = hearth_record(used, &record, &entry.cursor);
    return result < 0 ? fail(result, used) : result;
}

// --- Decisions ---

namespace {

bool has_binding(std::span<const hearth_tensor_binding> inputs, uint32_t binding) {
    return std::ranges::find(inputs, binding, &hearth_tensor_binding::binding) != inputs.end();
}

}  // namespace

hearth_result hearth_agents::check_inputs(const hearth_agents_record_info& info) const {
    const auto& sources = entries.frame.sources;
    const std::span inputs(info.inputs, info.input_count);
    for (uint32_t i = 0; i < info.input_count; ++i) {
        const uint32_t binding = inputs[i].binding;
        const bool is_known =
            std::ranges::find(sources, binding, &Source::binding) != sources.end();
        if (is_known && !has_binding(inputs.first(i), binding)) continue;
        error.set("inputs[%u].binding is %u, %s", i, binding,
                  is_known ? "which is given twice; give it once"
                           : "which is not an input of the entry frame");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    for (const char* const name : {"reward", "praise"})
        if (const Source* const source = entries.frame.find(name);
            curriculum.measures_rewards() && source != nullptr &&
            has_binding(inputs, source->binding)) {
            error.set(
                "the curriculum measures rewards, which are in a buffer of the game's; measure a "
                "metric that the game logs (hearth_agents_log)");
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
    if (info.indirect_agent_count_buffer == nullptr) return HEARTH_OK;
    for (const Source& s : sources)
        if (s.row_bytes > 0 && !has_binding(inputs, s.binding)) {
            error.set(
                "indirect_agent_count_buffer is given, so '%s' must be a buffer, too; add it to "
                "inputs",
                s.name);
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
    return HEARTH_OK;
}

/// The game's own buffers contain this input of the decision.
bool hearth_agents::is_given(const char* input) const {
    const Source* const source = entries.frame.find(input);
    return source != nullptr &&
           has_binding({decision.inputs.data(), decision.input_count}, source->binding);
}

void hearth_agents::request_decision(const hearth_agents_record_info& info) {
    decision.is_wanted = true;
    std::copy_n(info.inputs, info.input_count, decision.inputs.begin());
    decision.input_count = info.input_count;
    decision.has_agent_count = info.indirect_agent_count_buffer != nullptr;
    if (decision.has_agent_count) decision.agent_count = *info.indirect_agent_count_buffer;
    decision.exploration = info.exploration;
    decision.frames_left = info.max_decision_frames;
}

/// Records the decision that is wanted, or the next slice of the one in scores.progress.
hearth_result hearth_agents::record_decision(VkCommandBuffer commands, bool has_budget) {
    const bool starts = rollout.state() == DecisionState::kNone;
    if (starts && !decision.is_wanted) return HEARTH_OK;
    Entry& frame = entries.frame;
    if (starts) frame.cursor = {};
    const Position before = frame.position();
    Limits limits;
    if (decision.is_best_effort()) {
        if (!has_budget) return HEARTH_OK;
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
    if (starts) {
        // Advantages may change state that decisions read, so they are completed before.
        if (updates.phase() == LearningPhase::kAdvantages && !second_queue.is_used)
            if (const auto r = record_advantages(commands, true); r != HEARTH_OK) return r;
        decision.is_wanted = false;
        if (rollout.pack(roster, {stores(), settings.is_closing}).rows == 0) return HEARTH_OK;
    }
    const hearth_result result = run(commands, frame, rollout.packed().rows, limits);
    if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) {
        if (starts) rollout.abandon();
        return result;
    }
    if (starts) start_decision();
    const Position end = result == HEARTH_INCOMPLETE ? frame.position() : frame.cost.end();
    if (decision.is_best_effort()) budget.spend(frame.cost.us(before, end));
    if (result == HEARTH_OK) finish_decision();
    return HEARTH_OK;
}

/// The first part of a decision is recorded.
void hearth_agents::start_decision() {
    rollout.start();
    roster.start_decision();
    settings.is_closing = false;
    const Rollout::Packed& packed = rollout.packed();
    // Observations that are not finite give such actions by any weights.
    const float* const observed = rollout.rows().observation.data();
    if (decision.count < safety.last_probe &&
        (decision.input_count > 0 ||
         !std::all_of(observed, observed + packed.rows * description.sizes.observation,
                      [](float x) { return std::isfinite(x); })))
        safety.last_probe = 0;
    const double score = scores.are_reported ? scores.sum : packed.reward;
    scores.sum = 0;
    if (updates.is_collection_paused()) updates.count_paused(packed.transitions);
    const bool is_known = scores.are_reported || (!is_given("reward") && !is_given("praise"));
    if (is_known && packed.transitions > 0) scores.progress.add(score / packed.transitions);
}

/// Completes a decision.  Agents may have joined or left since it began.
void hearth_agents::finish_decision() {
    ++decision.count;
    last_frame.has_decided = true;
    const uint32_t transitions = rollout.has_outcomes() ? rollout.packed().transitions : 0;
    updates.count_decision(transitions);
    if (!settings.is_frozen) curriculum.count_steps(transitions);
    const Rows& rows = rollout.rows();
    for (uint32_t r = 0; r < rollout.packed().rows; ++r) {
        frozen_returns.count_decision(rows.id[r]);
        roster.decided({rows.id[r], rows.generation[r]}, decision.count);
    }
    rollout.finish();
}

/// Records the newest demonstration of each agent.  It waits while a learning update is sliced,
/// because that reads the same replay buffer.
hearth_result hearth_agents::record_demonstrations(VkCommandBuffer commands) {
    const bool is_clone = description.manifest.algorithm() == Algorithm::kBehaviorCloning;
    for (uint32_t i = 0; i < roster.capacity(); ++i) {
        if (demonstrations.state(i) != DemonstrationState::kGiven) continue;
        if (!is_clone) rollout.possess(i);
        if (settings.is_frozen)
            demonstrations.clear(i);
        else
            demonstrations.capture(i, rollout.observation(i), rollout.mask(i));
    }
    const bool is_cut = entries.learn.is_cut() || entries.advantages.is_cut();
    if (settings.is_frozen || (is_cut && !second_queue.is_used)) return HEARTH_OK;
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
    const auto record = [&](uint32_t variable) {
        hearth_readback_info info = hearth_readback_info_default();
        info.command_buffer = commands;
        info.variable = variable;
        hearth_readback readback = 0;
        return hearth_record_readback(session, &info, &readback) == HEARTH_OK ? readback : 0;
    };
    Readbacks::InFlight r;
    r.decision = decision.count;
    r.actions = record(description.action_variable);
    r.status = record(description.status_variable);
    if (description.has_values) r.values = record(description.value_variable);
    if (description.has_recent) r.recent = record(description.recent_variable);
    // They change slowly, and may be larger than everything else.
    constexpr uint64_t kLimitsInterval = 16;
    if (description.has_limits && decision.count % kLimitsInterval == 0)
        r.limits = record(description.limits_variable);
    readbacks.push(r);
}

void hearth_agents::measure() {
    hearth_timings timings = hearth_timings_default();
    const auto is_of = [&](const Entry& entry) {
        return entry.exists && timings.entry == entry.index;
    };
    for (hearth_session* const used : {session, learner()}) {
        while (hearth_session_next_timings(used, &timings) == HEARTH_OK) {
            const double us = timings.total_ns * 1e-3;
            const bool is_publication = is_of(entries.publish);
            if (is_of(entries.advantages) || is_of(entries.add_samples) || is_of(entries.learn) ||
                is_publication)
                budget.count(timings.frame_number, us, smallest_slice_us());
            if (is_publication) budget.measure_publish(us);
            for (Entry* const entry :
                 {&entries.frame, &entries.advantages, &entries.add_samples, &entries.learn}) {
                if (!is_of(*entry)) continue;
                const Position first{timings.first_command, timings.first_sub_dispatch};
                const Position end{timings.end_command, timings.end_sub_dispatch};
                if (entry != &entries.frame && entry->cost.is_known())
                    budget.settle(entry->cost.us(first, end), us);
                entry->cost.measure(first, end, us);
            }
        }
    }
}

void hearth_agents::poll() {
    measure();
    poll_snapshot();
    poll_saved_game();
    while (readbacks.state() != ReadbackState::kIdle) {
        const Readbacks::InFlight r = readbacks.oldest();
        hearth_result result = HEARTH_OK;
        uint64_t frame_number = 0;
        // Empty if it has not arrived, or never will because its frame was discarded.
        const auto contents_of = [&](hearth_readback readback) {
            const void* data = nullptr;
            uint64_t bytes = 0;
            if (readback != 0)
                result = hearth_readback_poll(session, readback, &data, &bytes, &frame_number);
            return std::span(static_cast<const std::byte*>(data), to_size(bytes));
        };
        const std::span<const std::byte> actions = contents_of(r.actions),
                                         status = contents_of(r.status),
                                         recent = contents_of(r.recent),
                                         limits = contents_of(r.limits),
                                         values = contents_of(r.values);
        if (result == HEARTH_NOT_READY) return;
        readbacks.take_actions(actions, r.decision);
        readbacks.take_values(values);
        readbacks.take_limits(limits);
        if (readbacks.take_status(status, recent, frame_number)) watch_weights(r.decision);
        for (const hearth_readback readback : {r.actions, r.status, r.recent, r.limits, r.values})
            if (readback != 0) hearth_readback_release(session, readback);
        readbacks.pop();
    }
}
