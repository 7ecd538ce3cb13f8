// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Loads brains, takes snapshots and rolls back to them, and saves games.  A snapshot is a brain
// (hearth.h).  Its application data are the number of collected decisions of the rollout, the bytes
// of the spec and, in saved games, the driver's own state.

#include "core/checked.hpp"
#include "device/agents/driver.hpp"
#include "program/application_data.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace hearth;
using namespace hearth::agents;

namespace {

ApplicationData application_data_of(const hearth_brain_info& about) {
    return read_application_data({static_cast<const std::byte*>(about.user_data),
                                  static_cast<size_t>(about.user_data_size)});
}

constexpr size_t kCollectedAt = 4, kSpecAt = 8, kGameSpecAt = 12;

}  // namespace

hearth_result hearth_agents::allocate_snapshots(const hearth_agents_create_info& info) {
    const auto out_of_memory = [&] {
        error.set("out of memory for %u snapshots", info.max_snapshots);
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    };
    const std::span<const std::byte> spec = description.spec().bytes();
    if (!description.application_data.resize(*allocator, kSpecAt + spec.size()))
        return out_of_memory();
    std::memcpy(description.application_data.data(), &kAgentsDataMagic, sizeof kAgentsDataMagic);
    std::ranges::copy(spec, description.application_data.begin() + kSpecAt);
    const uint64_t bytes = hearth_program_get_brain_size(program);
    if (info.max_snapshots == 0 || bytes == 0) return HEARTH_OK;

    Array<std::byte> zeros;
    if (!zeros.resize(*allocator, static_cast<size_t>(bytes))) return out_of_memory();
    hearth_brain_save_info save = hearth_brain_save_info_default();
    save.snapshot = zeros.data();
    save.snapshot_bytes = bytes;
    save.user_data = description.application_data.data();
    save.user_data_size = description.application_data.size();
    uint64_t most = 0;
    if (const auto r = hearth_brain_encode(program, &save, nullptr, &most); r != HEARTH_OK) {
        error.set("%s", hearth_program_error(program));
        return r;
    }
    zeros.reset();
    if (snapshots.allocate(*allocator, info.max_snapshots, most, info.snapshot_interval) &&
        exchange.allocate(*allocator, most))
        return HEARTH_OK;
    return out_of_memory();
}

/// Records the load or reset that was requested since the last frame.
hearth_result hearth_agents::record_load(VkCommandBuffer commands, bool& has_resumed) {
    if (exchange.state() == LoadState::kNone) return HEARTH_OK;
    if (second_queue.turn != Turn::kActing) return call_learner_back();
    const bool is_brain = exchange.state() == LoadState::kBrain;
    const std::span<const std::byte> brain = exchange.brain();
    const auto record = [&](hearth_session* used) {
        return is_brain ? hearth_record_load_brain(used, commands, brain.data(), brain.size(), 0,
                                                   nullptr)
                        : hearth_record_reset_variables(used, commands, nullptr, nullptr);
    };
    // The learner first: it does nothing with other weights until the agents have them, too.
    hearth_session* failed = learner();
    hearth_result result = record(learner());
    if (result == HEARTH_OK && second_queue.is_used) result = record(failed = session);
    if (result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT && exchange.wait()) return HEARTH_OK;
    exchange.complete();
    if (result != HEARTH_OK) return fail(result, failed);

    // Brains that a program saved without its agents have no such data.
    hearth_brain_info about = hearth_brain_info_default();
    const bool is_of_agents =
        is_brain &&
        hearth_brain_get_info(brain.data(), brain.size(), &about, nullptr) == HEARTH_OK &&
        about.user_schema_hash == description.schema_hash;
    const ApplicationData data = is_of_agents ? application_data_of(about) : ApplicationData{};
    uint32_t variable = 0;
    hearth_variable_info step = hearth_variable_info_default();
    // Brains that include the rollout continue to fill it.
    const bool has_rollout =
        is_of_agents && about.is_weights == 0 &&
        hearth_program_find_variable(program, "rollout.step", &variable) == HEARTH_OK &&
        hearth_program_get_variable(program, variable, &step) == HEARTH_OK &&
        step.kind == HEARTH_VARIABLE_STATE;
    restart(has_rollout ? data.collected : 0);
    if (is_brain && safety.is_of_application) safety.last_probe = decision.count + Safety::kProbes;
    has_resumed = data.is_saved_game;
    if (has_resumed) {
        Archive saved = Archive::read(data.state);
        archive(saved);
        safety.first_sound_decision = decision.count + 1;
    }
    return HEARTH_OK;
}

void hearth_agents::archive(Archive& archive) {
    archive(decision.count, scores.sum, scores.are_reported, settings.is_frozen,
            settings.is_closing, settings.wants_shrink_and_perturb, settings.strength);
    archive.array(settings.hyperparameters);
    roster.archive(archive);
    rollout.archive(archive);
    updates.archive(archive);
    curriculum.archive(archive);
    // What was read may be anything.
    if (!std::isfinite(scores.sum)) scores.sum = 0;
    if (!(settings.strength >= 0 && settings.strength <= 1)) settings.strength = 0;
    settings.wants_shrink_and_perturb =
        settings.wants_shrink_and_perturb && entries.shrink_and_perturb.exists;
    for (uint32_t i = 0; i < settings.hyperparameters.size(); ++i) {
        const HyperparameterView known = description.manifest.hyperparameter(i);
        const auto value = static_cast<double>(settings.hyperparameters[i]);
        if (!(value >= known.low && value <= known.high))
            settings.hyperparameters[i] = static_cast<float>(known.value);
    }
}

// --- Saved games ---

hearth_result hearth_agents::allocate_saved_game() {
    const std::span<const std::byte> spec = description.spec().bytes();
    Archive size = Archive::measure();
    archive(size);
    const uint64_t application_bytes = kGameSpecAt + spec.size() + size.position();
    const uint64_t bytes = hearth_program_get_saved_game_size(program);
    hearth_brain_save_info save = hearth_brain_save_info_default();
    Array<std::byte> zeros;
    uint64_t most = 0;
    bool is_made = zeros.resize(*allocator, to_size(bytes + application_bytes));
    if (is_made) {
        save.flags = HEARTH_BRAIN_SAVED_GAME;
        save.snapshot = zeros.data();
        save.snapshot_bytes = bytes;
        save.user_data = zeros.data();
        save.user_data_size = application_bytes;
        if (const auto r = hearth_brain_encode(program, &save, nullptr, &most); r != HEARTH_OK) {
            error.set("%s", hearth_program_error(program));
            return r;
        }
        zeros.reset();
        is_made = saved_game.allocate(*allocator, most, application_bytes);
    }
    if (is_made) return HEARTH_OK;
    error.set("out of memory for a saved game");
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}

hearth_result hearth_agents::record_saved_game(VkCommandBuffer commands) {
    const bool is_cut = rollout.state() != DecisionState::kNone || entries.learn.is_cut() ||
                        updates.phase() == LearningPhase::kAdvantages || settings.wants_publication;
    if (saved_game.state() != SavedGameState::kWanted || is_cut) return HEARTH_OK;
    hearth_readback readback = 0;
    const hearth_result result = hearth_record_save_game(session, commands, &readback);
    if (result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT) return HEARTH_OK;
    if (result != HEARTH_OK) return fail(result, session);
    saved_game.record(readback);
    const std::span<const std::byte> spec = description.spec().bytes();
    const auto spec_bytes = static_cast<uint32_t>(spec.size());
    const uint32_t collected = updates.collected();
    const std::span<std::byte> data = saved_game.application_data();
    std::memcpy(data.data(), &kGameDataMagic, sizeof kGameDataMagic);
    std::memcpy(&data[kCollectedAt], &collected, sizeof collected);
    std::memcpy(&data[kSpecAt], &spec_bytes, sizeof spec_bytes);
    std::ranges::copy(spec, data.begin() + kGameSpecAt);
    Archive state = Archive::write(data.subspan(kGameSpecAt + spec.size()));
    archive(state);
    return HEARTH_OK;
}

void hearth_agents::poll_saved_game() {
    if (saved_game.state() != SavedGameState::kInFlight) return;
    const hearth_readback readback = saved_game.readback();
    hearth_brain_save_info save = hearth_brain_save_info_default();
    uint64_t frame_number = 0;
    const hearth_result arrived = hearth_readback_poll(session, readback, &save.snapshot,
                                                       &save.snapshot_bytes, &frame_number);
    if (arrived == HEARTH_NOT_READY) return;
    if (arrived == HEARTH_OK) {
        save.flags = HEARTH_BRAIN_SAVED_GAME;
        save.user_schema_hash = description.schema_hash;
        save.user_data = saved_game.application_data().data();
        save.user_data_size = saved_game.application_data().size();
        uint64_t bytes = saved_game.space().size();
        const auto r = hearth_brain_encode(program, &save, saved_game.space().data(), &bytes);
        saved_game.arrive(r == HEARTH_OK ? bytes : 0);
    } else {
        saved_game.lose();
    }
    hearth_readback_release(session, readback);
}

/// Resets what depends on the weights, after others were loaded.
void hearth_agents::restart(uint32_t collected) {
    updates.restart(collected);
    rollout.restart();
    roster.restart();
    for (Entry* const entry : {&entries.frame, &entries.advantages, &entries.learn})
        entry->cursor = {};
    settings.wants_shrink_and_perturb = settings.wants_publication = settings.is_closing = false;
    scores.sum = 0;
    scores.progress.reset();
    snapshots.restart_interval();
    safety.first_sound_decision = decision.count + 1;
    safety.knows_rejections = false;
    safety.last_probe = 0;
}

hearth_result hearth_agents::record_snapshot(VkCommandBuffer commands) {
    if (!settings.is_frozen) snapshots.count_record();
    // Periodic snapshots are taken between rollouts, requested ones as soon as possible.  With a
    // second queue the acting session always holds the last publication.
    const bool is_between = !settings.is_frozen && (!updates.is_learning() || second_queue.is_used);
    const bool is_due = snapshots.state() == SnapshotState::kWanted ||
                        (snapshots.state() == SnapshotState::kDue && is_between);
    const bool is_cut = rollout.state() != DecisionState::kNone ||
                        (updates.phase() == LearningPhase::kAdvantages && !second_queue.is_used);
    if (!is_due || is_cut) return HEARTH_OK;
    hearth_readback readback = 0;
    const hearth_result result = hearth_record_save_brain(session, commands, &readback);
    if (result == HEARTH_NOT_READY || result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT) return HEARTH_OK;
    if (result != HEARTH_OK) return fail(result, session);
    snapshots.record(readback, updates.collected());
    return HEARTH_OK;
}

void hearth_agents::poll_snapshot() {
    if (!snapshots.is_in_flight()) return;
    const hearth_readback readback = snapshots.readback();
    hearth_brain_save_info save = hearth_brain_save_info_default();
    uint64_t frame_number = 0;
    const hearth_result arrived = hearth_readback_poll(session, readback, &save.snapshot,
                                                       &save.snapshot_bytes, &frame_number);
    if (arrived == HEARTH_NOT_READY) return;
    if (arrived == HEARTH_OK) {
        const uint32_t collected = snapshots.collected();
        std::memcpy(description.application_data.data() + kCollectedAt, &collected,
                    sizeof collected);
        save.user_schema_hash = description.schema_hash;
        save.user_data = description.application_data.data();
        save.user_data_size = description.application_data.size();
        const std::span<std::byte> space = snapshots.space();
        uint64_t bytes = space.size();
        const bool is_encoded =
            hearth_brain_encode(program, &save, space.data(), &bytes) == HEARTH_OK;
        snapshots.arrive(is_encoded ? bytes : 0);
    } else {
        snapshots.lose();
    }
    hearth_readback_release(session, readback);
}

/// Rolls back weights that the GPU refuses to publish because they are not finite, that no step can
/// improve, or that a brain of the application brought and that give actions that are not finite.
/// Further training repairs none of them.
void hearth_agents::watch_weights(uint64_t decision_of_status) {
    if (decision_of_status < safety.first_sound_decision) return;  // of weights that were replaced
    const StatusView status = readbacks.status();
    const uint64_t rejected = status[Counter::kPublicationsRejected];
    const bool is_rejected = safety.knows_rejections && rejected > safety.rejected;
    const bool is_stuck = status[Counter::kSkippedInARow] >= Safety::kMaxSkippedInARow;
    const bool is_bad_brain =
        decision_of_status <= safety.last_probe && status[Counter::kActionsReplaced] > 0;
    safety.rejected = rejected;
    safety.knows_rejections = true;
    if (exchange.state() != LoadState::kNone) return;
    if (!is_rejected && !is_stuck && !is_bad_brain) {
        if (status[Counter::kGradientSteps] > 0 && status[Counter::kSkippedInARow] == 0)
            safety.next_snapshot = 0;
        return;
    }
    if (is_bad_brain) ++safety.brains_rejected;
    roll_back();
}

void hearth_agents::roll_back() {
    ++safety.rollbacks;
    // Weights that are finite may be bad all the same, and so may snapshots of them.
    if (load_snapshot(*this, safety.next_snapshot++) != HEARTH_OK) exchange.request_initial();
}

hearth_result hearth_agents::load_snapshot(const hearth_agents& from, uint32_t index) {
    if (&from != this && from.description.schema_hash != description.schema_hash) {
        SpecText difference;
        description.spec().diff(from.description.spec(), difference);
        error.set(
            "the specification of the other agents (there) differs from these (here), so their "
            "brain does not fit: %s",
            difference.c_str());
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    if (index == HEARTH_AGENTS_INITIAL_WEIGHTS) {
        exchange.request_initial();
        return HEARTH_OK;
    }
    const std::span<const std::byte> brain = from.snapshots.at(index);
    if (brain.empty()) {
        error.set("no snapshot %u; expected an index below %u, or HEARTH_AGENTS_INITIAL_WEIGHTS",
                  index, from.snapshots.count());
        return HEARTH_ERROR_NOT_FOUND;
    }
    if (&from != this) {
        hearth_messages messages{};
        const auto r = hearth_brain_check(program, brain.data(), brain.size(),
                                          HEARTH_BRAIN_LIMIT_PARAMS, &messages);
        if (r != HEARTH_OK) {
            error.set("%s", messages.text);
            return r;
        }
    }
    safety.is_of_application = false;
    if (exchange.request_brain(*allocator, brain)) return HEARTH_OK;
    error.set("out of memory for a brain of %zu bytes", brain.size());
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}

hearth_result hearth_agents::find_brain(uint32_t index, Array<std::byte>& made,
                                        std::span<const std::byte>& brain) const {
    const bool wants_initial = index == HEARTH_AGENTS_INITIAL_WEIGHTS;
    brain = snapshots.at(index);
    if (!brain.empty()) return HEARTH_OK;
    if ((index != 0 && !wants_initial) || !snapshots.are_kept()) {
        error.set("no snapshot %u; expected an index below %u, or HEARTH_AGENTS_INITIAL_WEIGHTS",
                  index, snapshots.count());
        return HEARTH_ERROR_NOT_FOUND;
    }
    if (!wants_initial) brain = exchange.newest();
    if (!brain.empty()) return HEARTH_OK;
    Array<std::byte> initial, data;
    hearth_brain_save_info save = hearth_brain_save_info_default();
    save.snapshot_bytes = hearth_program_get_brain_size(program);
    uint64_t bytes = snapshots.capacity_bytes();
    if (!initial.resize(*allocator, to_size(save.snapshot_bytes)) ||
        !data.resize(*allocator, description.application_data.size()) ||
        !made.resize(*allocator, to_size(bytes))) {
        error.set("out of memory for a brain of %llu bytes",
                  static_cast<unsigned long long>(bytes));
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    hearth_result result =
        hearth_program_get_initial_snapshot(program, initial.data(), initial.size());
    std::ranges::copy(description.application_data, data.begin());
    std::fill_n(&data[kCollectedAt], sizeof(uint32_t), std::byte{0});
    save.snapshot = initial.data();
    save.user_schema_hash = description.schema_hash;
    save.user_data = data.data();
    save.user_data_size = data.size();
    if (result == HEARTH_OK) result = hearth_brain_encode(program, &save, made.data(), &bytes);
    if (result != HEARTH_OK) return error.set("%s", hearth_program_error(program)), result;
    brain = std::span<const std::byte>(made).first(to_size(bytes));
    return HEARTH_OK;
}

hearth_result hearth_agents::load(std::span<const std::byte> brain) {
    hearth_brain_info about = hearth_brain_info_default();
    hearth_messages messages{};
    if (const auto r = hearth_brain_get_info(brain.data(), brain.size(), &about, &messages);
        r != HEARTH_OK) {
        error.set("%s", messages.text);
        return r;
    }
    if (about.user_schema_hash != 0 && about.user_schema_hash != description.schema_hash) {
        error.set("the brain is of agents with another specification; load one of these agents");
        AgentSpecView theirs;
        SpecText text;
        if (theirs.open(application_data_of(about).spec, text) == StatusCode::kOk) {
            description.spec().diff(theirs, text);
            error.append(": these agents (here), the brain (there): %s", text.c_str());
        }
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    if (const auto r = hearth_brain_check(program, brain.data(), brain.size(),
                                          HEARTH_BRAIN_LIMIT_PARAMS, &messages);
        r != HEARTH_OK) {
        error.set("%s", messages.text);
        return r;
    }
    if (const ApplicationData data = application_data_of(about); data.is_saved_game) {
        Archive size = Archive::measure();
        archive(size);
        if (second_queue.is_used || data.state.size() != size.position()) {
            error.set(
                "the saved game has %zu bytes of agents' state, expected %llu of a game with the "
                "same number of agents, the same curriculum and one queue",
                data.state.size(), static_cast<unsigned long long>(size.position()));
            return HEARTH_ERROR_INCOMPATIBLE;
        }
    }
    safety.is_of_application = true;
    if (exchange.request_brain(*allocator, brain)) return HEARTH_OK;
    error.set("out of memory for a brain of %zu bytes", brain.size());
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}

void hearth_agents::reset_brain() {
    if (snapshots.is_in_flight()) hearth_readback_release(session, snapshots.readback());
    if (saved_game.state() == SavedGameState::kInFlight)
        hearth_readback_release(session, saved_game.readback());
    snapshots.erase();
    saved_game.erase();
    curriculum.restart();
    exchange.erase();
    exchange.request_initial();
}
