// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Snapshots and rollback to them. A snapshot is a brain (hearth.h). Its application data are a
// magic number, the number of collected frames of the rollout, and the bytes of the schema.

#include "core/bytes.hpp"
#include "device/agents/agents.hpp"

#include <algorithm>
#include <cstring>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr uint32_t kMagic = 0x31534148;  // "HAS1"
constexpr size_t kCollectedAt = 4, kSchemaAt = 8;
constexpr uint32_t kMostWaits = 64;  // frames

void tell(hearth_messages* report, const char* text) {
    if (report == nullptr) return;
    report->message_count = 1;
    FixedText<sizeof report->text> line;
    line.set("%s", text);
    std::memcpy(report->text, line.c_str(), std::strlen(line.c_str()) + 1);
}

std::span<const std::byte> host_data_of(const hearth_brain_info& about) {
    return {static_cast<const std::byte*>(about.user_data),
            static_cast<size_t>(about.user_data_size)};
}

}  // namespace

hearth_result hearth_agents::allocate_snapshots(const hearth_agents_create_info& info,
                                                std::string& why) {
    const std::vector<std::byte> schema = manifest.schema.save();
    host_data = ByteWriter().number(kMagic).number(uint32_t{0}).bytes(schema).finish();
    snapshot_period = info.snapshot_interval;
    const uint64_t bytes = hearth_program_get_brain_size(program);
    if (info.max_snapshots == 0 || bytes == 0) return HEARTH_OK;
    constexpr uint32_t kMost = 64;
    if (info.max_snapshots > kMost) {
        why = "max_snapshots is " + std::to_string(info.max_snapshots) + ", expected 0 to " +
              std::to_string(kMost);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    const std::vector<std::byte> zeros(bytes);
    hearth_brain_save_info save = hearth_brain_save_info_default();
    save.snapshot = zeros.data();
    save.snapshot_bytes = bytes;
    save.user_data = host_data.data();
    save.user_data_size = host_data.size();
    uint64_t most = 0;
    if (const auto r = hearth_brain_encode(program, &save, nullptr, &most); r != HEARTH_OK) {
        why = hearth_program_error(program);
        return r;
    }
    snapshots.resize(info.max_snapshots);
    for (Brain& b : snapshots) b.bytes.resize(most);
    pending.bytes.resize(most);
    return HEARTH_OK;
}

/// Records the loads and resets that the application requested since the last frame.
hearth_result hearth_agents::record_wishes(VkCommandBuffer commands) {
    if (!wants_load && !wants_factory) return HEARTH_OK;
    if (turn != Turn::kActing) return call_back_learner();
    const auto record = [&](hearth_session* used) {
        return wants_factory ? hearth_record_reset_variables(used, commands, nullptr, nullptr)
                             : hearth_record_load_brain(used, commands, pending.bytes.data(),
                                                        pending.size, 0, nullptr);
    };
    hearth_result result = record(session);
    if (result == HEARTH_OK && is_apart()) result = record(learner);
    uint32_t samples = 0;
    if (!wants_factory) {
        // Brains that include the rollout continue to fill it.
        hearth_brain_info about = hearth_brain_info_default();
        uint32_t variable = 0;
        hearth_variable_info step = hearth_variable_info_default();
        if (hearth_brain_get_info(pending.bytes.data(), pending.size, &about, nullptr) ==
                HEARTH_OK &&
            about.user_schema_hash == schema_hash && about.user_data_size >= kSchemaAt &&
            hearth_program_find_variable(program, "rollout.step", &variable) == HEARTH_OK &&
            hearth_program_get_variable(program, variable, &step) == HEARTH_OK &&
            step.kind == HEARTH_VARIABLE_STATE)
            std::memcpy(&samples, host_data_of(about).data() + kCollectedAt, sizeof samples);
    }
    // Frames in flight may occupy the upload ring. kMostWaits bounds the wait, because a brain
    // larger than the ring never fits.
    if (result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT && ++waits < kMostWaits) return HEARTH_OK;
    waits = 0;
    wants_load = wants_factory = false;
    if (result != HEARTH_OK) {
        error.set("%s", hearth_session_error(session));
        return result;
    }
    begin_anew(samples);
    return HEARTH_OK;
}

/// Resets the CPU-side state after other weights were loaded.
void hearth_agents::begin_anew(uint32_t samples) {
    is_learning = wants_flush = wants_adapt = needs_prepare = false;
    is_deciding = is_closing = false;
    cursor = frame_cursor = prepare_cursor = {};
    items_left = since_publication = 0;
    collected = std::min(samples, manifest.n_steps);
    for (Agent& a : agents) {
        if (a.is_leaving) a.is_alive = a.is_leaving = false;
        a.has_decided = a.is_possessed = false;
        a.reward = a.end = 0;
    }
    std::fill(has_final.begin(), has_final.end(), uint8_t{0});
    score = 0;
    progress.reset();
    records_since_snapshot = 0;
    first_sound_frame = frames + 1;
    knows_publications = false;
}

hearth_result hearth_agents::record_snapshot(VkCommandBuffer commands) {
    if (snapshots.empty()) return HEARTH_OK;
    if (!is_frozen && snapshot_period > 0 && ++records_since_snapshot >= snapshot_period)
        is_snapshot_due = true;
    // Periodic snapshots are taken between rollouts, requested ones as soon as possible. With a
    // separate learner the acting session always holds the last publication.
    const bool is_between = !is_learning || is_apart();
    const bool is_wanted = wants_snapshot || (is_snapshot_due && is_between && !is_frozen);
    if (!is_wanted || snapshot != 0 || is_deciding || (needs_prepare && !is_apart()))
        return HEARTH_OK;
    const hearth_result result = hearth_record_save_brain(session, commands, &snapshot);
    if (result == HEARTH_NOT_READY || result == HEARTH_ERROR_TOO_MANY_IN_FLIGHT) {
        snapshot = 0;
        return HEARTH_OK;
    }
    if (result != HEARTH_OK) {
        snapshot = 0;
        error.set("%s", hearth_session_error(session));
        return result;
    }
    wants_snapshot = is_snapshot_due = false;
    records_since_snapshot = 0;
    snapshot_collected = collected;
    return HEARTH_OK;
}

void hearth_agents::poll_snapshot() {
    if (snapshot == 0) return;
    hearth_brain_save_info save = hearth_brain_save_info_default();
    uint64_t frame_number = 0;
    const hearth_result arrived = hearth_readback_poll(session, snapshot, &save.snapshot,
                                                       &save.snapshot_bytes, &frame_number);
    if (arrived == HEARTH_NOT_READY) return;
    if (arrived == HEARTH_OK) {
        std::memcpy(host_data.data() + kCollectedAt, &snapshot_collected,
                    sizeof snapshot_collected);
        save.user_schema_hash = schema_hash;
        save.user_data = host_data.data();
        save.user_data_size = host_data.size();
        const auto size = static_cast<uint32_t>(snapshots.size());
        const uint32_t place = (snapshot_begin + size - 1) % size;
        Brain& brain = snapshots[place];  // unused, or the oldest
        uint64_t bytes = brain.bytes.size();
        if (hearth_brain_encode(program, &save, brain.bytes.data(), &bytes) == HEARTH_OK) {
            brain.size = bytes;
            snapshot_begin = place;
            snapshot_count = std::min(snapshot_count + 1, size);
            ++snapshots_taken;
        } else {
            ++snapshots_refused;
        }
    } else {
        wants_snapshot = true;  // its frame was dropped: take it again
    }
    hearth_readback_release(session, snapshot);
    snapshot = 0;
}

/// The GPU refuses to publish non-finite weights. Further training cannot repair them, so the
/// learner rolls back.
void hearth_agents::look_at_publications(uint64_t frame_of_status) {
    if (frame_of_status < first_sound_frame) return;  // status of weights that were replaced
    const uint64_t refused = StatusView(status)[Counter::kPublicationsRejected];
    const bool has_refused = knows_publications && refused > refused_publications;
    refused_publications = refused;
    knows_publications = true;
    if (!has_refused || wants_load || wants_factory) return;
    ++rollbacks;
    if (load_snapshot(*this, 0) != HEARTH_OK) wants_factory = true;
}

hearth_result hearth_agents::load_snapshot(const hearth_agents& from, uint32_t index) {
    if (&from != this && from.schema_hash != schema_hash) {
        error.set(
            "the specification of the other agents (there) differs from these (here), so their "
            "brain does not fit: %s",
            manifest.schema.diff(from.manifest.schema).c_str());
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    if (index == HEARTH_AGENTS_INITIAL_WEIGHTS) {
        wants_factory = true;
        wants_load = false;
        return HEARTH_OK;
    }
    const Brain* const brain = from.snapshot_at(index);
    if (brain == nullptr) {
        error.set("no snapshot %u; expected an index below %u, or HEARTH_AGENTS_INITIAL_WEIGHTS",
                  index, from.snapshot_count);
        return HEARTH_ERROR_NOT_FOUND;
    }
    if (&from != this) {
        hearth_messages report{};
        const auto r = hearth_brain_check(program, brain->bytes.data(), brain->size, 0, &report);
        if (r != HEARTH_OK) {
            error.set("%s", report.text);
            return r;
        }
    }
    if (pending.bytes.size() < brain->size) pending.bytes.resize(brain->size);
    std::memcpy(pending.bytes.data(), brain->bytes.data(), brain->size);
    pending.size = brain->size;
    wants_load = true;
    wants_factory = false;
    return HEARTH_OK;
}

hearth_result hearth_agents::load(const void* bytes, uint64_t byte_count, hearth_messages* report) {
    hearth_brain_info about = hearth_brain_info_default();
    const auto fail = [&](hearth_result result, const char* text) {
        error.set("%s", text);
        tell(report, text);
        return result;
    };
    hearth_messages own{};
    if (const auto r = hearth_brain_get_info(bytes, byte_count, &about, &own); r != HEARTH_OK)
        return fail(r, own.text);
    const std::span<const std::byte> data = host_data_of(about);
    if (about.user_schema_hash != 0 && about.user_schema_hash != schema_hash) {
        std::string text =
            "the brain is of agents with another specification; load one of these agents";
        const auto theirs = AgentSpec::load(data.subspan(std::min(kSchemaAt, data.size())));
        if (theirs.ok())
            text += ": these agents (here), the brain (there): " + manifest.schema.diff(*theirs);
        return fail(HEARTH_ERROR_INCOMPATIBLE, text.c_str());
    }
    if (const auto r = hearth_brain_check(program, bytes, byte_count, 0, &own); r != HEARTH_OK)
        return fail(r, own.text);
    if (pending.bytes.size() < byte_count) pending.bytes.resize(byte_count);
    std::memcpy(pending.bytes.data(), bytes, byte_count);
    pending.size = byte_count;
    wants_load = true;
    wants_factory = false;
    return HEARTH_OK;
}
