// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Records a frame: requested loads, decisions, demonstrations, learning, a snapshot and readbacks,
// in this order.

#include "device/agents/agents.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace hearth;
using namespace hearth::agents;

namespace {

Position position_of(const hearth_run_cursor& cursor) {
    return {cursor.next_command, cursor.next_sub_dispatch};
}

}  // namespace

// --- Batch ---

// Packs the living agents, including leaving ones whose last transition is not stored yet.
uint32_t hearth_agents::fill_rows() {
    const bool stores = this->stores();
    uint32_t row = 0;
    for (uint32_t i = 0; i < capacity; ++i) {
        Agent& a = agents[i];
        if (!a.is_alive) continue;
        row_id[row] = i;
        row_generation[row] = a.generation;
        row_is_leaving[row] = a.is_leaving;
        std::memcpy(&row_observation[row * seen], &observations[i * seen], seen * sizeof(float));
        const bool has_own_final = has_final[i] != 0;
        std::memcpy(&row_final[row * seen],
                    has_own_final ? &finals[i * seen] : &observations[i * seen],
                    seen * sizeof(float));
        if (masked > 0)
            std::memcpy(&row_mask[row * masked], &masks[i * masked], masked * sizeof(float));
        row_reward[row] = stores ? a.reward : 0.0f;
        const bool is_cut = a.is_leaving || is_closing;
        row_end[row] = is_cut && a.end == 0 ? static_cast<float>(HEARTH_AGENTS_TRUNCATED) : a.end;
        if (!stores) row_end[row] = 0;
        row_begins[row] = a.has_decided && !a.is_possessed && stores ? 0.0f : 1.0f;
        ++row;
    }
    return row;
}

// --- Recording ---

hearth_result hearth_agents::run(VkCommandBuffer commands, const Role& role, uint64_t rows,
                                 hearth_run_cursor* at, Limits limits) {
    for (size_t i = 0; i < role.sources.size(); ++i) {
        const Source& s = role.sources[i];
        bound[i] = hearth_bind_bytes(s.binding, s.data, s.bytes_fixed + s.bytes_per_row * rows);
        if (&role != &frame) continue;
        for (uint32_t k = 0; k < frame_input_count; ++k)
            if (frame_inputs[k].binding == s.binding) bound[i] = frame_inputs[k];
    }
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = commands;
    record.entry = role.entry;
    record.bindings = bound.data();
    record.binding_count = static_cast<uint32_t>(role.sources.size());
    record.batch_size = std::max<uint64_t>(rows, 1);
    record.max_dispatches = limits.dispatches;
    record.max_workgroups = limits.workgroups;
    if (&role == &frame && has_row_count) record.indirect_batch_buffer = &frame_row_count;
    if (&role == &learn || &role == &prepare)
        record.occupancy_priority = occupancy_priority(preference);
    hearth_session* const used = role.is_learners ? learner : session;
    const hearth_result result = hearth_record(used, &record, at);
    if (result < 0) error.set("%s", hearth_session_error(used));
    return result;
}

/// Captures the inputs of a decision; they stay fixed until it is completely recorded.
hearth_result hearth_agents::begin_frame(const hearth_agents_record_info& info) {
    frame_input_count = 0;
    has_row_count = false;
    for (uint32_t i = 0; i < info.input_count; ++i) {
        const hearth_tensor_binding& given = info.inputs[i];
        const bool is_known =
            std::any_of(frame.sources.begin(), frame.sources.end(),
                        [&](const Source& s) { return s.binding == given.binding; });
        const bool is_twice =
            std::any_of(info.inputs, info.inputs + i,
                        [&](const hearth_tensor_binding& b) { return b.binding == given.binding; });
        if (!is_known || is_twice) {
            error.set("inputs[%u].binding is %u, %s", i, given.binding,
                      is_known ? "which is given twice; give it once"
                               : "which is not an input of the entry frame");
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
    }
    const auto is_given = [&](const char* name) {
        for (const Source& s : frame.sources)
            if (s.name == name)
                return std::any_of(
                    info.inputs, info.inputs + info.input_count,
                    [&](const hearth_tensor_binding& b) { return b.binding == s.binding; });
        return false;
    };
    if (info.indirect_agent_count_buffer != nullptr)
        for (const Source& s : frame.sources)
            if (s.bytes_per_row > 0 && !is_given(s.name.c_str())) {
                error.set(
                    "indirect_agent_count_buffer is given, so '%s' must be a buffer, too; add it "
                    "to inputs",
                    s.name.c_str());
                return HEARTH_ERROR_INVALID_ARGUMENT;
            }
    frame_rows = fill_rows();
    if (frame_rows == 0) return HEARTH_OK;
    std::copy_n(info.inputs, info.input_count, frame_inputs.begin());
    frame_input_count = info.input_count;
    has_row_count = info.indirect_agent_count_buffer != nullptr;
    if (has_row_count) frame_row_count = *info.indirect_agent_count_buffer;
    explore = info.exploration;
    frames_left = info.max_decision_frames;
    frame_cursor = {};
    is_deciding = true;

    uint32_t decided = 0;
    double total = 0;
    for (uint32_t r = 0; r < frame_rows; ++r) {
        Agent& a = agents[row_id[r]];
        if (!a.has_decided || std::exchange(a.is_possessed, false)) continue;
        ++decided;
        total += static_cast<double>(a.reward);
    }
    has_transition = decided > 0 && stores();
    if (decided == 0) return HEARTH_OK;
    if (has_scores)
        progress.add(score / decided);
    else if (!is_given("reward") && !is_given("praise"))
        progress.add(total / decided);
    return HEARTH_OK;
}

/// Records a decision or its next slice.
hearth_result hearth_agents::record_frame(VkCommandBuffer commands) {
    const Position before = position_of(frame_cursor);
    const bool is_whenever = frames_left == HEARTH_AGENTS_BEST_EFFORT;
    Limits limits;
    if (is_whenever) {
        limits = slice_limits(frame.cost, frame_cursor, tokens_us);
        if (limits.is_nothing()) return HEARTH_OK;
    } else if (frames_left > 1) {
        const double left =
            static_cast<double>(frame.dispatches) * (frame.steps - before.command) / frame.steps;
        limits.dispatches = static_cast<uint32_t>(std::ceil(left / frames_left));
        --frames_left;
    }
    const hearth_result result = run(commands, frame, frame_rows, &frame_cursor, limits);
    if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) {
        is_deciding = is_deciding && !before.is_start();  // nothing was recorded or lost
        if (!is_deciding)
            for (uint32_t r = 0; r < frame_rows; ++r)
                agents[row_id[r]].is_possessed =
                    stores() && agents[row_id[r]].has_decided && row_begins[r] != 0;
        return result;
    }
    if (before.is_start()) take_over();
    const Position end = result == HEARTH_INCOMPLETE ? position_of(frame_cursor) : frame.cost.end();
    if (is_whenever) tokens_us -= frame.cost.us(before, end);
    if (result == HEARTH_OK) end_frame();
    return HEARTH_OK;
}

/// Limits of a slice that fits within `us`; a small fixed slice before anything was measured.
Limits hearth_agents::slice_limits(const CostMeter& cost, const hearth_run_cursor& at, double us) {
    return cost.is_known() ? cost.within(position_of(at), us) : Limits{.dispatches = 4};
}

/// Marks observations and rewards as consumed by this recording and starts the next transition.
void hearth_agents::take_over() {
    for (uint32_t r = 0; r < frame_rows; ++r) {
        const uint32_t i = row_id[r];
        Agent& a = agents[i];
        // A stack repeats past frames; after an episode's end it repeats only the new episode's
        // first.
        float* const own = &observations[i * seen];
        if (seen > frame_seen) {
            if (a.end != 0)
                for (size_t k = frame_seen; k < seen; k += frame_seen)
                    std::memcpy(own + k, own, frame_seen * sizeof(float));
            else
                std::memmove(own + frame_seen, own, (seen - frame_seen) * sizeof(float));
        }
        a.reward = 0;
        a.end = 0;
        has_final[i] = 0;
    }
    score = 0;
}

/// Completes a decision. Agents may have joined or left since it began.
void hearth_agents::end_frame() {
    is_deciding = false;
    is_closing = false;
    ++frames;
    if (has_transition && manifest.n_steps > 0)
        collected = std::min(collected + 1, manifest.n_steps);
    for (uint32_t r = 0; r < frame_rows; ++r) {
        Agent& a = agents[row_id[r]];
        if (!a.is_alive || a.generation != row_generation[r]) continue;
        if (row_is_leaving[r] != 0) {
            a.is_alive = a.is_leaving = false;
            continue;
        }
        if (!a.has_decided) a.first_frame = frames;
        a.has_decided = true;
    }
}

/// Records the newest demonstration of each agent. It waits while a learning update is sliced,
/// because that reads the same replay buffer.
hearth_result hearth_agents::record_demonstrations(VkCommandBuffer commands) {
    for (uint32_t i = 0; i < capacity; ++i) {
        if (shown[i] != Shown::kGiven) continue;
        agents[i].is_possessed = manifest.algorithm != Algorithm::kBehaviorCloning;
        shown[i] = is_frozen ? Shown::kNothing : Shown::kSeen;
        std::memcpy(&demonstrated_observations[i * seen], &observations[i * seen],
                    seen * sizeof(float));
        if (masked > 0)
            std::memcpy(&demonstrated_masks[i * masked], &masks[i * masked],
                        masked * sizeof(float));
    }
    const bool is_cut = !position_of(cursor).is_start() || !position_of(prepare_cursor).is_start();
    if (is_frozen || (is_cut && !is_apart())) return HEARTH_OK;
    uint32_t row = 0;
    for (uint32_t i = 0; i < capacity; ++i) {
        if (shown[i] != Shown::kSeen) continue;
        std::memcpy(&row_demonstrated_observation[row * seen], &demonstrated_observations[i * seen],
                    seen * sizeof(float));
        if (masked > 0)
            std::memcpy(&row_demonstrated_mask[row * masked], &demonstrated_masks[i * masked],
                        masked * sizeof(float));
        std::memcpy(&row_demonstration[row * acted], &demonstrations[i * acted],
                    acted * sizeof(float));
        row_source[row] = demonstrated_by[i];
        ++row;
    }
    if (row == 0) return HEARTH_OK;
    const hearth_result result = run(commands, store, row);
    if (result == HEARTH_OK) std::fill(shown.begin(), shown.end(), Shown::kNothing);
    return result;
}

void hearth_agents::measure() {
    hearth_timings profile = hearth_timings_default();
    for (hearth_session* const used : {session, learner}) {
        while (hearth_session_next_timings(used, &profile) == HEARTH_OK) {
            const bool is_prepare = prepare.exists && profile.entry == prepare.entry;
            if (is_prepare || profile.entry == learn.entry || profile.entry == publish.entry)
                count_learning(profile.frame_number, profile.total_ns * 1e-3);
            if (profile.entry == publish.entry) publish_us = profile.total_ns * 1e-3;
            for (Role* const role : {&frame, &prepare, &learn})
                if (role->exists && profile.entry == role->entry)
                    role->cost.measure({profile.first_command, profile.first_sub_dispatch},
                                       {profile.end_command, profile.end_sub_dispatch},
                                       profile.total_ns * 1e-3);
        }
        if (!is_apart()) return;
    }
}

/// Accumulates learning time per frame: one frame may have several recordings.
void hearth_agents::count_learning(uint64_t frame_number, double us) {
    if (frame_number != learn_frame_number) {
        const bool is_over = learn_frame_number_us > frame_budget_us;
        if (learn_frame_number_us > 0) {
            ++learn_frames;
            be_cautious(is_over);
        }
        if (is_over) ++learn_frames_over;
        learn_frame_number = frame_number;
        learn_frame_number_us = 0;
    }
    learn_frame_number_us += us;
}

/// Tracks the quantile of frames that may exceed the budget (stochastic approximation, Robbins and
/// Monro 1951): raises `caution` after each frame over budget and lowers it slightly after each
/// other frame. It does not react to a single dispatch that exceeds the budget by itself.
void hearth_agents::be_cautious(bool was_over) {
    constexpr double kStep = 0.08, kShareOver = 0.0005, kMost = 1.6;
    if (was_over && unit_us() > frame_budget_us) return;
    caution = std::clamp(caution * (was_over ? 1 + kStep : 1 - kStep * kShareOver), 1.0, kMost);
}

hearth_result hearth_agents::record_learning(VkCommandBuffer commands, bool may_learn,
                                             bool has_samples) {
    const bool has_window = manifest.n_steps > 0;
    // A sliced decision reads published weights and writes samples. Updates from a rollout touch
    // neither; `adapt`, replay buffer updates and hand-overs do.
    const bool stands_apart = !is_deciding;
    const bool is_here = turn == Turn::kActing;
    // Only between updates is nothing in progress.
    if (wants_adapt && position_of(cursor).is_start() && !needs_prepare && adapt.exists &&
        stands_apart && is_here && !(is_apart() && is_learning)) {
        if (const auto r = run(commands, adapt, 1); r != HEARTH_OK) return r;
        if (is_apart())
            if (const auto r = publish_to_acting(commands); r != HEARTH_OK) return r;
        wants_adapt = false;
    }
    if (!may_learn || (!has_window && !stands_apart)) return HEARTH_OK;
    if (!is_learning) {
        const bool is_full = collected >= manifest.n_steps && stands_apart && is_here;
        if (has_window ? !is_full : !has_samples) return HEARTH_OK;
        if (is_apart()) {
            if (const auto r = hand_samples_over(commands); r != HEARTH_OK) return r;
        } else if (has_window) {
            needs_prepare = true;
        }
        if (has_window) {
            collected = 0;
            ++windows;
        }
        is_learning = true;
        items_left = manifest.updates_per_rollout;
        cursor = prepare_cursor = {};
    } else if (is_apart() && is_here) {
        // The load that called the learner's session back was rejected: resume learning.
        if (const auto r = hand_over(commands, Turn::kToLearning); r != HEARTH_OK) return r;
    }
    if (is_apart() && (turn != Turn::kLearning || learn_commands == nullptr)) return HEARTH_OK;
    const VkCommandBuffer used = is_apart() ? learn_commands : commands;
    if (needs_prepare)
        if (const auto r = record_prepare(used, wants_flush); r != HEARTH_OK) return r;
    return needs_prepare ? HEARTH_OK : record_items(used);
}

/// Records as much of `prepare` as the budget allows, or all that is left. The first one is
/// recorded whole, because its cost is not known yet.
hearth_result hearth_agents::record_prepare(VkCommandBuffer commands, bool is_whole) {
    Limits limits;
    const Position before = position_of(prepare_cursor);
    if (!is_whole && prepare.cost.is_known()) {
        limits = prepare.cost.within(before, tokens_us);
        if (limits.is_nothing()) return HEARTH_OK;
    }
    const hearth_result result = run(commands, prepare, 1, &prepare_cursor, limits);
    if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) return result;
    needs_prepare = result == HEARTH_INCOMPLETE;
    const Position end = needs_prepare ? position_of(prepare_cursor) : prepare.cost.end();
    tokens_us -= prepare.cost.us(before, end);
    if (wants_flush) tokens_us = std::max(tokens_us, 0.0);
    return HEARTH_OK;
}

/// Records as many learning updates as the budget allows, and `publish` after the last one.
hearth_result hearth_agents::record_items(VkCommandBuffer commands) {
    const bool has_window = manifest.n_steps > 0;
    // A rollout does not change during learning, so its updates may be sliced anywhere. A replay
    // buffer changes in every frame: updates from it are recorded whole.
    for (uint32_t n = 0; n < kMostItemsPerFrame && is_learning; ++n) {
        Limits limits;
        if (!wants_flush) {
            if (n > 0 && !learn.cost.is_known()) break;
            const double left = tokens_us - (is_publication_next() ? publish_us : 0);
            if (has_window)
                limits = slice_limits(learn.cost, cursor, left);
            else if (left < learn.cost.us())
                break;
            if (has_window && limits.is_nothing()) break;
        }
        // The last update is followed at once by publish, which must wait for a sliced decision.
        if (items_left == 1 && is_deciding && !is_apart()) break;
        if (position_of(cursor).is_start())
            item_hyperparameters = hyperparameters;  // equal sizes: no allocation
        const Position before = position_of(cursor);
        const hearth_result result = run(commands, learn, 1, &cursor, limits);
        if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) return result;
        const Position end = result == HEARTH_INCOMPLETE ? position_of(cursor) : learn.cost.end();
        tokens_us -= learn.cost.us(before, end);
        if (wants_flush) tokens_us = std::max(tokens_us, 0.0);
        if (result == HEARTH_INCOMPLETE) break;
        --items_left;
        ++since_publication;
        const bool is_last = items_left == 0;
        if (is_last) is_learning = wants_flush = false;
        if (has_window ? is_last : since_publication >= manifest.sync_interval) {
            since_publication = 0;
            if (const auto r = run(commands, publish, 1); r != HEARTH_OK) return r;
            tokens_us -= publish_us;
            if (is_apart()) return hand_over(commands, Turn::kToActing);
        }
    }
    return HEARTH_OK;
}

/// True if `publish` follows the update in progress.
bool hearth_agents::is_publication_next() const {
    return manifest.n_steps > 0 ? items_left == 1 : since_publication + 1 >= manifest.sync_interval;
}

/// Minimum cost of the next slice in us; 0 if unknown.
double hearth_agents::unit_us() const {
    double unit = learn.cost.us();
    if (manifest.n_steps > 0)
        unit = needs_prepare ? prepare.cost.us_of_least(position_of(prepare_cursor))
                             : learn.cost.us_of_least(position_of(cursor));
    if (!needs_prepare && is_publication_next()) unit += publish_us;
    if (is_deciding && frames_left == HEARTH_AGENTS_BEST_EFFORT)
        unit = std::max(unit, frame.cost.us_of_least(position_of(frame_cursor)));
    return unit;
}

hearth_result hearth_agents::record(const hearth_agents_record_info& info) {
    const VkCommandBuffer commands = info.command_buffer;
    poll();
    learn_commands = info.learning_command_buffer;
    for (hearth_session* const used : {session, learner}) {
        hearth_session_status about = hearth_session_status_default();
        (void)hearth_session_get_status(used, &about);
        if (about.is_initialized != 0) continue;
        if (const auto r = hearth_record_initialize(used, commands); r != HEARTH_OK) {
            error.set("%s", hearth_session_error(used));
            return r;
        }
    }
    if (const auto r = record_turn(commands); r != HEARTH_OK) return r;
    if (const auto r = record_wishes(commands); r != HEARTH_OK) return r;

    preference = info.priority;
    frame_budget_us = budget_us(info.learning_budget_us, preference);
    const double budget = frame_budget_us / caution;
    if (budget > 0 && manifest.n_steps > 0) {
        learn.cost.set_budget(budget);
        prepare.cost.set_budget(budget);
    }
    // Unused time accumulates only until it covers one unit that is longer than a frame's budget.
    const double unit = unit_us();
    if (budget > 0) tokens_us = std::min(tokens_us, std::max(unit - budget, 0.0)) + budget;

    const uint64_t before = frames;
    // `prepare` may change state that decisions read, so it is completed before the next decision.
    if (needs_prepare && !is_apart() && !is_deciding && info.request_decision != 0)
        if (const auto r = record_prepare(commands, true); r != HEARTH_OK) return r;
    if (!is_deciding && info.request_decision != 0)
        if (const auto r = begin_frame(info); r != HEARTH_OK) return r;
    if (is_deciding && (info.learning_budget_us > 0 || frames_left != HEARTH_AGENTS_BEST_EFFORT))
        if (const auto r = record_frame(commands); r != HEARTH_OK) return r;
    bool has_samples = frames != before;
    if (store.exists)
        if (const auto r = record_demonstrations(commands); r != HEARTH_OK) return r;
    // Behavior cloning goes on learning from the replay buffer while nobody demonstrates.
    has_samples = has_samples || manifest.algorithm == Algorithm::kBehaviorCloning;
    const bool may_learn =
        !is_frozen && (info.learning_budget_us > 0 || (wants_flush && is_learning));
    if (const auto r = record_learning(commands, may_learn, has_samples); r != HEARTH_OK) return r;
    if (const auto r = record_snapshot(commands); r != HEARTH_OK) return r;
    if (frames != before) read_back(commands);
    return HEARTH_OK;
}

void hearth_agents::read_back(VkCommandBuffer commands) {
    if (readback_count == readbacks.size())
        return;  // too many frames in flight: a later frame reads back
    Readback r;
    r.frame = frames;
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = commands;
    info.variable = action_variable;
    if (hearth_record_readback(session, &info, &r.actions) != HEARTH_OK) return;
    info.variable = status_variable;
    if (hearth_record_readback(session, &info, &r.status) != HEARTH_OK) r.status = 0;
    readbacks[(readback_begin + readback_count++) % readbacks.size()] = r;
}

void hearth_agents::poll() {
    measure();
    poll_snapshot();
    while (readback_count > 0) {
        Readback& r = readbacks[readback_begin];
        const void* data = nullptr;
        uint64_t bytes = 0, frame_number = 0;
        const hearth_result result =
            hearth_readback_poll(session, r.actions, &data, &bytes, &frame_number);
        if (result == HEARTH_NOT_READY) return;
        if (result == HEARTH_OK) {
            std::memcpy(actions.data(), data,
                        std::min<uint64_t>(bytes, actions.size() * sizeof(float)));
            actions_frame = r.frame;
        }
        hearth_readback_release(session, r.actions);
        if (r.status != 0 &&
            hearth_readback_poll(session, r.status, &data, &bytes, &frame_number) == HEARTH_OK) {
            std::memcpy(status.data(), data, std::min<uint64_t>(bytes, sizeof status));
            status_frame_number = frame_number;
            look_at_publications(r.frame);
        }
        hearth_readback_release(session, r.status);
        readback_begin = (readback_begin + 1) % readbacks.size();
        --readback_count;
    }
}
