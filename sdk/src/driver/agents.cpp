// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_agents.h over hearth.h: dense rows of whoever is alive, and when to record what.  Inputs go by
// value, results come from states, so it owns no buffers.

#include "core/fixed_text.hpp"

#include <hearth/agents/manifest.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/hearth_agents.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <new>
#include <string>
#include <vector>

using namespace hearth;
using namespace hearth::agents;

static_assert(HEARTH_AGENTS_DIAGNOSTICS == kDiagnosticCount);
static_assert(HEARTH_AGENTS_COUNTERS == kCounterCount);

namespace {

constexpr uint32_t kMostItemsPerFrame = 8;
constexpr uint32_t kMostRecordings = kMostItemsPerFrame + 5;  // of one frame
constexpr size_t kMeasured = 32;

hearth_result result_of(const Status& status) {
    switch (status.code()) {
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

/// An input of an entry, and where its values are.
struct Source {
    uint32_t binding = 0;
    const void* data = nullptr;
    uint64_t bytes_fixed = 0, bytes_per_row = 0;
};

/// An entry with all its inputs.
struct Role {
    bool exists = false;
    uint32_t entry = 0;
    uint32_t dispatches = 1, steps = 1;
    std::vector<Source> sources;
};

struct Agent {
    uint32_t generation = 0;
    bool is_alive = false;
    bool is_leaving = false;
    bool has_decided = false;  ///< there is a decision that a transition can end
    float reward = 0;
    float end = 0;
    uint64_t first_frame = 0;  ///< the first in which it decided
};

/// A slice of learn whose time has not arrived yet.
struct Slice {
    uint32_t first_step = 0;
    uint32_t steps = 0;
};

}  // namespace

struct hearth_agents {
    AgentManifest manifest;
    hearth_session* session = nullptr;
    uint32_t capacity = 0;
    size_t seen = 0, frame_seen = 0, masked = 0, acted = 0;  ///< floats of each agent

    std::vector<Agent> agents;
    std::vector<float> observations, masks, finals;  ///< by index; observations with their stack
    std::vector<float> demonstrations;
    std::vector<uint8_t> is_demonstrated, has_final;
    uint32_t alive = 0;

    // Of the frame being recorded, row by row.
    std::vector<uint32_t> row_id;
    std::vector<float> row_observation, row_mask, row_reward, row_end, row_begins, row_final;
    std::vector<float> row_demonstration, row_demonstrated_observation, row_demonstrated_mask;
    float explore = 1, strength = 0;
    std::vector<float> settings;

    Role frame, store, prepare, learn, publish, adapt;
    std::vector<hearth_bound> bound;
    uint32_t action_slot = 0, status_slot = 0;

    // Learning.
    bool is_learning = false, wants_adapt = false;
    uint32_t collected = 0, items_left = 0, since_publication = 0;
    hearth_cursor cursor{};
    double tokens_us = 0;
    std::vector<Slice> slices;  ///< recorded and not measured yet, a ring
    size_t slice_begin = 0, slice_count = 0;
    std::array<double, kMeasured> step_us{};
    size_t measured = 0;

    // What comes back.
    struct Readback {
        hearth_readback actions = 0, status = 0;
        uint64_t frame = 0;
    };
    std::vector<Readback> readbacks;
    size_t readback_begin = 0, readback_count = 0;
    std::vector<float> actions;
    uint64_t actions_frame = 0;
    std::array<uint32_t, kStatusWords> status{};
    uint64_t status_serial = 0;
    uint64_t frames = 0, windows = 0, rewards_refused = 0;

    mutable FixedText<512> error;

    Agent* find(hearth_agent a) {
        if (a.index >= agents.size()) return nullptr;
        Agent& agent = agents[a.index];
        return agent.is_alive && !agent.is_leaving && agent.generation == a.generation ? &agent
                                                                                       : nullptr;
    }
    const Agent* find(hearth_agent a) const { return const_cast<hearth_agents*>(this)->find(a); }
    hearth_result stale(hearth_agent a) const {
        error.set("agent %u of generation %u does not exist", a.index, a.generation);
        return HEARTH_ERROR_NOT_FOUND;
    }

    hearth_result set_up(hearth_context* context, const hearth_agents_create_info& info,
                         std::string& why);
    hearth_result find_role(const hearth_program* program, const char* name, bool is_needed,
                            Role& role, std::string& why);
    const float* source_of(const char* name) const;

    hearth_result run(VkCommandBuffer commands, const Role& role, uint64_t rows,
                      hearth_cursor* at = nullptr, uint32_t max_dispatches = 0);
    hearth_result record_frame(VkCommandBuffer commands);
    hearth_result record_demonstrations(VkCommandBuffer commands);
    hearth_result record_learning(VkCommandBuffer commands, double budget_us, bool has_decided);
    void read_back(VkCommandBuffer commands);
    void measure();
    double step_us_p95() const;
    uint32_t fill_rows();
};

const float* hearth_agents::source_of(const char* name) const {
    const std::string_view wanted = name;
    struct Named {
        const char* name;
        const std::vector<float>* values;
    };
    const Named all[] = {
        {"observation", &row_observation}, {"mask", &row_mask}, {"reward", &row_reward},
        {"praise", &row_reward},           {"end", &row_end},   {"begins", &row_begins},
        {"final_observation", &row_final}};
    for (const Named& n : all)
        if (wanted == n.name) return n.values->data();
    if (wanted == "id") return reinterpret_cast<const float*>(row_id.data());
    if (wanted == "explore") return &explore;
    if (wanted == "strength") return &strength;
    for (size_t i = 0; i < manifest.settings.size(); ++i)
        if (wanted == manifest.settings[i].name) return &settings[i];
    return nullptr;
}

hearth_result hearth_agents::find_role(const hearth_program* program, const char* name,
                                       bool is_needed, Role& role, std::string& why) {
    if (hearth_program_find_entry(program, name, &role.entry) != HEARTH_OK) {
        if (!is_needed) return HEARTH_OK;
        why = "the program has no entry '" + std::string(name) + "'";
        return HEARTH_ERROR_MISMATCH;
    }
    role.exists = true;
    hearth_entry_info entry = hearth_entry_info_default();
    (void)hearth_program_get_entry(program, role.entry, &entry);
    role.dispatches = std::max(entry.dispatch_count, 1u);
    role.steps = std::max(entry.step_count, 1u);
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info b = hearth_binding_info_default();
        (void)hearth_program_get_binding(program, entry.bindings[i], &b);
        const std::string where = "entry '" + std::string(name) + "', '" + b.name + "': ";
        if (b.is_output != 0) {
            why = where + "an output; expected that results are states";
            return HEARTH_ERROR_MISMATCH;
        }
        const void* data = source_of(b.name);
        const bool is_store = std::string_view(name) == "store";
        if (is_store && std::string_view(b.name) == "observation")
            data = row_demonstrated_observation.data();
        if (is_store && std::string_view(b.name) == "mask") data = row_demonstrated_mask.data();
        if (is_store && std::string_view(b.name) == "action") data = row_demonstration.data();
        if (data == nullptr) {
            why = where + "an input that the manifest does not know";
            return HEARTH_ERROR_MISMATCH;
        }
        const auto expect_row = [&](const char* input, size_t floats) {
            if (std::string_view(b.name) != input || b.bytes_per_row == 4 * floats) return true;
            why = where + std::to_string(b.bytes_per_row / 4) + " floats in the program, " +
                  std::to_string(floats) + " in the manifest's schema";
            return false;
        };
        if (!expect_row("observation", seen) || !expect_row("final_observation", seen) ||
            !expect_row("mask", masked) || !expect_row("action", acted))
            return HEARTH_ERROR_MISMATCH;
        role.sources.push_back({entry.bindings[i], data, b.bytes_fixed, b.bytes_per_row});
    }
    return HEARTH_OK;
}

hearth_result hearth_agents::set_up(hearth_context* context, const hearth_agents_create_info& info,
                                    std::string& why) {
    const AgentSchema& schema = manifest.schema;
    capacity = manifest.agents;
    frame_seen = static_cast<size_t>(schema.frame_width());
    seen = static_cast<size_t>(schema.observation_width());
    masked = static_cast<size_t>(schema.mask_width());
    acted = static_cast<size_t>(schema.action_width());

    hearth_program_info program = hearth_program_info_default();
    if (hearth_program_get_info(info.program, &program) != HEARTH_OK) {
        why = "the program is missing";
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (program.rows_capacity < capacity) {
        why = "the program has room for " + std::to_string(program.rows_capacity) +
              " rows, the learner was made for " + std::to_string(capacity) +
              " agents: compile it with that rows_capacity";
        return HEARTH_ERROR_MISMATCH;
    }
    agents.resize(capacity);
    observations.resize(capacity * seen);
    finals.resize(capacity * seen);
    masks.assign(capacity * masked, 1.0f);
    demonstrations.resize(capacity * acted);
    is_demonstrated.resize(capacity);
    has_final.resize(capacity);
    row_id.resize(capacity);
    row_observation.resize(capacity * seen);
    row_final.resize(capacity * seen);
    row_mask.resize(std::max<size_t>(capacity * masked, 1));
    row_reward.resize(capacity);
    row_end.resize(capacity);
    row_begins.resize(capacity);
    row_demonstration.resize(capacity * acted);
    row_demonstrated_observation.resize(capacity * seen);
    row_demonstrated_mask.resize(std::max<size_t>(capacity * masked, 1));
    for (const LiveSetting& s : manifest.settings) settings.push_back(static_cast<float>(s.value));

    const bool has_window = manifest.horizon > 0;
    const bool is_clone = manifest.kind == LearnerKind::kClone;
    struct Wanted {
        const char* name;
        bool is_needed;
        Role* role;
    };
    const Wanted roles[] = {{"frame", true, &frame},
                            {"learn", true, &learn},
                            {"publish", true, &publish},
                            {"prepare", has_window, &prepare},
                            {"adapt", false, &adapt}};
    for (const Wanted& w : roles)
        if (const auto r = find_role(info.program, w.name, w.is_needed, *w.role, why);
            r != HEARTH_OK)
            return r;
    if (is_clone)
        if (const auto r = find_role(info.program, "store", true, store, why); r != HEARTH_OK)
            return r;
    if (hearth_program_find_slot(info.program, "last.action", &action_slot) != HEARTH_OK ||
        hearth_program_find_slot(info.program, "agents.status", &status_slot) != HEARTH_OK) {
        why = "the program has no states last.action and agents.status";
        return HEARTH_ERROR_MISMATCH;
    }

    uint64_t most_inline = 256;
    size_t most_sources = 1;
    for (const Role* r : {&frame, &store, &learn, &adapt}) {
        uint64_t bytes = 0;
        for (const Source& s : r->sources)
            bytes += (s.bytes_fixed + s.bytes_per_row * capacity + 255) / 256 * 256;
        most_inline = std::max(most_inline, bytes);
        most_sources = std::max(most_sources, r->sources.size());
    }
    bound.resize(most_sources);
    const uint32_t in_flight = std::max(info.frames_in_flight, 1u) + 1;
    readbacks.resize(in_flight);
    slices.resize(static_cast<size_t>(in_flight) * kMostItemsPerFrame * 2);
    actions.resize(capacity * acted);

    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = info.program;
    create.name = info.name;
    create.flags = HEARTH_SESSION_PROFILE_ENTRIES;
    create.recordings_in_flight = in_flight * kMostRecordings;
    create.inline_bytes = static_cast<uint32_t>(most_inline);
    const uint64_t snapshot = hearth_program_snapshot_bytes(info.program);
    create.upload_bytes = snapshot + (1u << 16);
    create.readback_bytes = snapshot + in_flight * (capacity * acted * 4 + 4 * kStatusWords + 1024);
    create.readback_count = 2 * in_flight + 4;
    create.profile_recordings = in_flight * kMostRecordings;
    const hearth_result result = hearth_session_create(context, &create, &session);
    if (result != HEARTH_OK) why = hearth_context_error(context);
    return result;
}

// --- Rows ---

// Whoever is alive, and whoever leaves with a decision that is not stored yet.
uint32_t hearth_agents::fill_rows() {
    uint32_t row = 0;
    for (uint32_t i = 0; i < capacity; ++i) {
        Agent& a = agents[i];
        if (!a.is_alive) continue;
        row_id[row] = i;
        std::memcpy(&row_observation[row * seen], &observations[i * seen], seen * sizeof(float));
        const bool has_own_final = has_final[i] != 0;
        std::memcpy(&row_final[row * seen],
                    has_own_final ? &finals[i * seen] : &observations[i * seen],
                    seen * sizeof(float));
        if (masked > 0)
            std::memcpy(&row_mask[row * masked], &masks[i * masked], masked * sizeof(float));
        row_reward[row] = a.reward;
        row_end[row] =
            a.is_leaving && a.end == 0 ? static_cast<float>(HEARTH_AGENTS_CUT_OFF) : a.end;
        row_begins[row] = a.has_decided ? 0.0f : 1.0f;
        ++row;
    }
    return row;
}

// --- Recording ---

hearth_result hearth_agents::run(VkCommandBuffer commands, const Role& role, uint64_t rows,
                                 hearth_cursor* at, uint32_t max_dispatches) {
    for (size_t i = 0; i < role.sources.size(); ++i) {
        const Source& s = role.sources[i];
        bound[i] = hearth_bind_bytes(s.binding, s.data, s.bytes_fixed + s.bytes_per_row * rows);
    }
    hearth_record_info record = hearth_record_info_default();
    record.command_buffer = commands;
    record.entry = role.entry;
    record.bound = bound.data();
    record.bound_count = static_cast<uint32_t>(role.sources.size());
    record.rows = std::max<uint64_t>(rows, 1);
    record.max_dispatches = max_dispatches;
    const hearth_result result = hearth_record(session, &record, at);
    if (result < 0) error.set("%s", hearth_session_error(session));
    return result;
}

hearth_result hearth_agents::record_frame(VkCommandBuffer commands) {
    const uint32_t rows = fill_rows();
    if (rows == 0) return HEARTH_OK;
    bool has_transition = false;
    for (uint32_t r = 0; r < rows; ++r) has_transition = has_transition || row_begins[r] < 0.5f;
    const hearth_result result = run(commands, frame, rows);
    if (result != HEARTH_OK) return result;

    ++frames;
    if (has_transition && manifest.horizon > 0)
        collected = std::min(collected + 1, manifest.horizon);
    for (uint32_t r = 0; r < rows; ++r) {
        const uint32_t i = row_id[r];
        Agent& a = agents[i];
        if (a.is_leaving) {
            a.is_alive = a.is_leaving = false;
            continue;
        }
        if (!a.has_decided) a.first_frame = frames;
        a.has_decided = true;
        // A stack shows what was seen; behind an end it shows the new episode alone.
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
    return HEARTH_OK;
}

hearth_result hearth_agents::record_demonstrations(VkCommandBuffer commands) {
    uint32_t row = 0;
    for (uint32_t i = 0; i < capacity; ++i) {
        if (is_demonstrated[i] == 0) continue;
        std::memcpy(&row_demonstrated_observation[row * seen], &observations[i * seen],
                    seen * sizeof(float));
        if (masked > 0)
            std::memcpy(&row_demonstrated_mask[row * masked], &masks[i * masked],
                        masked * sizeof(float));
        std::memcpy(&row_demonstration[row * acted], &demonstrations[i * acted],
                    acted * sizeof(float));
        ++row;
    }
    if (row == 0) return HEARTH_OK;
    const hearth_result result = run(commands, store, row);
    if (result == HEARTH_OK) std::fill(is_demonstrated.begin(), is_demonstrated.end(), uint8_t{0});
    return result;
}

double hearth_agents::step_us_p95() const {
    if (measured == 0) return 0;
    std::array<double, kMeasured> sorted = step_us;
    const size_t count = std::min(measured, kMeasured);
    std::sort(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(count));
    return sorted[(count - 1) * 95 / 100];
}

void hearth_agents::measure() {
    for (;;) {
        hearth_profile profile = hearth_profile_default();
        if (hearth_profile_next(session, &profile) != HEARTH_OK) return;
        if (profile.entry != learn.entry) continue;
        // Slices are measured in order; some may have been left out.
        while (slice_count > 0) {
            const Slice s = slices[slice_begin];
            slice_begin = (slice_begin + 1) % slices.size();
            --slice_count;
            if (s.first_step != profile.first_step || s.steps == 0) continue;
            step_us[measured++ % kMeasured] = profile.total_ns * 1e-3 / s.steps;
            break;
        }
    }
}

hearth_result hearth_agents::record_learning(VkCommandBuffer commands, double budget_us,
                                             bool has_decided) {
    const bool has_window = manifest.horizon > 0;
    // Between items nothing is under way.
    if (wants_adapt && cursor.next_step == 0 && adapt.exists) {
        if (const auto r = run(commands, adapt, 1); r != HEARTH_OK) return r;
        wants_adapt = false;
    }
    if (budget_us <= 0) return HEARTH_OK;
    if (!is_learning) {
        if (has_window ? collected < manifest.horizon : !has_decided) return HEARTH_OK;
        if (has_window) {
            if (const auto r = run(commands, prepare, 1); r != HEARTH_OK) return r;
            collected = 0;
            ++windows;
        }
        is_learning = true;
        items_left = manifest.items;
        cursor = {};
    }
    // A window stands still while it is learned from, so its items may be cut at any barrier.  A ring
    // changes with every frame: items from it are recorded as a whole.
    const double step_cost = step_us_p95();
    const double dispatch_cost = step_cost * learn.steps / learn.dispatches;
    const double unit = has_window ? dispatch_cost : step_cost * learn.steps;
    // Unused time is kept for a unit that is longer than a frame's budget, and for no more.
    tokens_us = std::min(tokens_us, std::max(unit - budget_us, 0.0)) + budget_us;
    for (uint32_t n = 0; n < kMostItemsPerFrame && is_learning; ++n) {
        // Before the first slice was measured nothing is known: begin with little.
        const bool is_known = step_cost > 0;
        if (is_known ? tokens_us < unit : n > 0) break;
        uint32_t limit = 0;
        if (has_window)
            limit = is_known ? static_cast<uint32_t>(std::min(tokens_us / dispatch_cost, 1e6)) : 4;
        const uint32_t before = cursor.next_step;
        const hearth_result result = run(commands, learn, 1, &cursor, limit);
        if (result != HEARTH_OK && result != HEARTH_INCOMPLETE) return result;
        const uint32_t end = result == HEARTH_INCOMPLETE ? cursor.next_step : learn.steps;
        const uint32_t steps = std::max(end, before + 1) - before;
        if (slice_count < slices.size()) {
            slices[(slice_begin + slice_count) % slices.size()] = {before, steps};
            ++slice_count;
        }
        tokens_us -= step_cost * steps;
        if (result == HEARTH_INCOMPLETE) break;
        --items_left;
        ++since_publication;
        const bool is_last = items_left == 0;
        if (is_last) is_learning = false;
        if (has_window ? is_last : since_publication >= manifest.publish_period) {
            since_publication = 0;
            if (const auto r = run(commands, publish, 1); r != HEARTH_OK) return r;
        }
    }
    return HEARTH_OK;
}

void hearth_agents::read_back(VkCommandBuffer commands) {
    if (readback_count == readbacks.size())
        return;  // the host is far ahead: later frames will tell
    Readback r;
    r.frame = frames;
    hearth_readback_info info = hearth_readback_info_default();
    info.command_buffer = commands;
    info.slot = action_slot;
    if (hearth_record_readback(session, &info, &r.actions) != HEARTH_OK) return;
    info.slot = status_slot;
    if (hearth_record_readback(session, &info, &r.status) != HEARTH_OK) r.status = 0;
    readbacks[(readback_begin + readback_count++) % readbacks.size()] = r;
}

// --- The interface ---

hearth_result hearth_agents_create(hearth_context* context, const hearth_agents_create_info* info,
                                   hearth_agents** out, hearth_report* report) {
    std::string why;
    const auto fail = [&](hearth_result result) {
        if (report != nullptr) {
            report->problem_count = 1;
            std::snprintf(report->text, sizeof report->text, "%s", why.c_str());
        }
        return result;
    };
    if (context == nullptr || info == nullptr || out == nullptr ||
        info->type != HEARTH_STRUCT_AGENTS_CREATE_INFO || info->size != sizeof *info) {
        why = "context, info or out is missing, or info was not made with its _default()";
        return fail(HEARTH_ERROR_INVALID_ARGUMENT);
    }
    auto manifest = AgentManifest::load(
        {static_cast<const std::byte*>(info->manifest), static_cast<size_t>(info->manifest_bytes)});
    if (!manifest.ok()) {
        why = manifest.status().message();
        return fail(result_of(manifest.status()));
    }
    auto* const made = new (std::nothrow) hearth_agents;
    if (made == nullptr) {
        why = "out of memory";
        return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY);
    }
    made->manifest = std::move(manifest).value();
    if (const auto result = made->set_up(context, *info, why); result != HEARTH_OK) {
        hearth_agents_destroy(made);
        return fail(result);
    }
    *out = made;
    return HEARTH_OK;
}

void hearth_agents_destroy(hearth_agents* agents) {
    if (agents == nullptr) return;
    hearth_session_destroy(agents->session);
    delete agents;
}

const char* hearth_agents_error(const hearth_agents* agents) {
    return agents == nullptr ? "agents is null" : agents->error.c_str();
}

hearth_session* hearth_agents_get_session(hearth_agents* agents) {
    return agents->session;
}

hearth_result hearth_agents_add(hearth_agents* agents, hearth_agent* out) {
    for (uint32_t i = 0; i < agents->capacity; ++i) {
        Agent& a = agents->agents[i];
        if (a.is_alive) continue;
        const uint32_t generation = a.generation + 1 == 0 ? 1 : a.generation + 1;
        a = {};
        a.generation = generation;
        a.is_alive = true;
        std::fill_n(&agents->observations[i * agents->seen], agents->seen, 0.0f);
        std::fill_n(agents->masks.begin() + static_cast<std::ptrdiff_t>(i * agents->masked),
                    agents->masked, 1.0f);
        agents->has_final[i] = agents->is_demonstrated[i] = 0;
        ++agents->alive;
        *out = {i, generation};
        return HEARTH_OK;
    }
    agents->error.set("there are %u agents, as many as the learner was made for", agents->capacity);
    return HEARTH_ERROR_OUT_OF_RANGE;
}

hearth_result hearth_agents_remove(hearth_agents* agents, hearth_agent agent) {
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    --agents->alive;
    // Without a decision there is nothing to store.
    if (a->has_decided)
        a->is_leaving = true;
    else
        a->is_alive = false;
    agents->is_demonstrated[agent.index] = 0;
    return HEARTH_OK;
}

uint32_t hearth_agents_count(const hearth_agents* agents) {
    return agents->alive;
}

hearth_result hearth_agents_find_field(hearth_agents* agents, const char* path, uint32_t* begin,
                                       uint32_t* width) {
    const auto place = agents->manifest.schema.find(path);
    if (!place.ok()) {
        agents->error.set("%s", place.status().message().c_str());
        return HEARTH_ERROR_NOT_FOUND;
    }
    *begin = static_cast<uint32_t>(place->begin);
    *width = static_cast<uint32_t>(place->width);
    return HEARTH_OK;
}

uint32_t hearth_agents_observation_width(const hearth_agents* agents) {
    return static_cast<uint32_t>(agents->frame_seen);
}

uint32_t hearth_agents_action_width(const hearth_agents* agents) {
    return static_cast<uint32_t>(agents->acted);
}

float* hearth_agents_observation(hearth_agents* agents, hearth_agent agent) {
    return agents->find(agent) == nullptr ? nullptr
                                          : &agents->observations[agent.index * agents->seen];
}

float* hearth_agents_mask(hearth_agents* agents, hearth_agent agent) {
    if (agents->masked == 0 || agents->find(agent) == nullptr) return nullptr;
    return &agents->masks[agent.index * agents->masked];
}

hearth_result hearth_agents_reward(hearth_agents* agents, hearth_agent agent, float amount) {
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    if (!std::isfinite(amount)) {
        ++agents->rewards_refused;
        agents->error.set("agent %u: a reward that is not finite", agent.index);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    a->reward += amount;
    return HEARTH_OK;
}

hearth_result hearth_agents_end(hearth_agents* agents, hearth_agent agent,
                                hearth_agents_ending ending, const float* final_observation) {
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    if (ending != HEARTH_AGENTS_OVER && ending != HEARTH_AGENTS_CUT_OFF) {
        agents->error.set("ending is %d, expected OVER or CUT_OFF", static_cast<int>(ending));
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    a->end = static_cast<float>(ending);
    const size_t seen = agents->seen, frame = agents->frame_seen, at = agent.index * seen;
    // The stack behind what was seen last is that of the episode that ends.
    std::memcpy(&agents->finals[at], &agents->observations[at], seen * sizeof(float));
    if (final_observation != nullptr)
        std::memcpy(&agents->finals[at], final_observation, frame * sizeof(float));
    agents->has_final[agent.index] = 1;
    return HEARTH_OK;
}

hearth_result hearth_agents_demonstrate(hearth_agents* agents, hearth_agent agent,
                                        const float* action) {
    if (!agents->store.exists) {
        agents->error.set("only cloning learns from demonstrations");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (agents->find(agent) == nullptr) return agents->stale(agent);
    std::memcpy(&agents->demonstrations[agent.index * agents->acted], action,
                agents->acted * sizeof(float));
    agents->is_demonstrated[agent.index] = 1;
    return HEARTH_OK;
}

void hearth_agents_poll(hearth_agents* agents) {
    agents->measure();
    while (agents->readback_count > 0) {
        hearth_agents::Readback& r = agents->readbacks[agents->readback_begin];
        const void* data = nullptr;
        uint64_t bytes = 0, serial = 0;
        const hearth_result result =
            hearth_readback_poll(agents->session, r.actions, &data, &bytes, &serial);
        if (result == HEARTH_NOT_READY) return;
        if (result == HEARTH_OK) {
            std::memcpy(agents->actions.data(), data,
                        std::min<uint64_t>(bytes, agents->actions.size() * sizeof(float)));
            agents->actions_frame = r.frame;
        }
        hearth_readback_release(agents->session, r.actions);
        if (r.status != 0 &&
            hearth_readback_poll(agents->session, r.status, &data, &bytes, &serial) == HEARTH_OK) {
            std::memcpy(agents->status.data(), data,
                        std::min<uint64_t>(bytes, sizeof agents->status));
            agents->status_serial = serial;
        }
        hearth_readback_release(agents->session, r.status);
        agents->readback_begin = (agents->readback_begin + 1) % agents->readbacks.size();
        --agents->readback_count;
    }
}

const float* hearth_agents_action(const hearth_agents* agents, hearth_agent agent) {
    const Agent* const a = agents->find(agent);
    if (a == nullptr || !a->has_decided || agents->actions_frame < a->first_frame) return nullptr;
    return &agents->actions[agent.index * agents->acted];
}

hearth_result hearth_agents_record(hearth_agents* agents, const hearth_agents_record_info* info) {
    if (info == nullptr || info->type != HEARTH_STRUCT_AGENTS_RECORD_INFO ||
        info->size != sizeof *info || !std::isfinite(info->explore) ||
        !(info->learn_us >= 0 && info->learn_us <= 1e9)) {
        agents->error.set(
            "info is missing or was not made with its _default(), explore is not finite, or "
            "learn_us is not within 0 and 1e9");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    hearth_session_status session = hearth_session_status_default();
    (void)hearth_session_get_status(agents->session, &session);
    if (session.pipelines != HEARTH_OK) {
        agents->error.set("pipelines are not built: hearth_session_build on the agents' session");
        return session.pipelines;
    }
    hearth_agents_poll(agents);
    if (session.setup_recorded == 0) {
        const auto r = hearth_record_setup(agents->session, info->command_buffer);
        if (r != HEARTH_OK) {
            agents->error.set("%s", hearth_session_error(agents->session));
            return r;
        }
    }
    agents->explore = info->explore;
    const uint64_t frames = agents->frames;
    if (info->decide != 0) {
        if (const auto r = agents->record_frame(info->command_buffer); r != HEARTH_OK) return r;
    }
    bool has_samples = agents->frames != frames && agents->manifest.kind != LearnerKind::kClone;
    if (agents->store.exists) {
        if (const auto r = agents->record_demonstrations(info->command_buffer); r != HEARTH_OK)
            return r;
        has_samples = true;  // the ring goes on being learned from while nobody demonstrates
    }
    if (const auto r = agents->record_learning(info->command_buffer, info->learn_us, has_samples);
        r != HEARTH_OK)
        return r;
    if (agents->frames != frames) agents->read_back(info->command_buffer);
    return HEARTH_OK;
}

hearth_result hearth_agents_set(hearth_agents* agents, const char* setting, double value) {
    const std::vector<LiveSetting>& known = agents->manifest.settings;
    for (size_t i = 0; i < known.size(); ++i) {
        if (known[i].name != setting) continue;
        if (!std::isfinite(value)) {
            agents->error.set("'%s': a value that is not finite", setting);
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
        agents->settings[i] = static_cast<float>(value);
        return HEARTH_OK;
    }
    agents->error.set("no live setting '%s'; there %s", setting, known.empty() ? "is none" : "are");
    for (size_t i = 0; i < known.size(); ++i)
        agents->error.append("%s '%s'", i == 0 ? "" : ",", known[i].name.c_str());
    return HEARTH_ERROR_NOT_FOUND;
}

hearth_result hearth_agents_adapt(hearth_agents* agents, double strength) {
    if (!agents->adapt.exists || !(strength >= 0 && strength <= 1)) {
        agents->error.set(agents->adapt.exists ? "strength is not within 0 and 1"
                                               : "the program has no entry 'adapt'");
        return agents->adapt.exists ? HEARTH_ERROR_INVALID_ARGUMENT : HEARTH_ERROR_UNSUPPORTED;
    }
    agents->strength = static_cast<float>(strength);
    agents->wants_adapt = true;
    return HEARTH_OK;
}

hearth_result hearth_agents_get_status(const hearth_agents* agents, hearth_agents_status* out) {
    if (out == nullptr || out->type != HEARTH_STRUCT_AGENTS_STATUS || out->size != sizeof *out) {
        agents->error.set("out is missing or was not made with its _default()");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    out->phase = agents->is_learning ? HEARTH_AGENTS_LEARNING : HEARTH_AGENTS_COLLECTING;
    out->agents = agents->alive;
    out->items = agents->manifest.items;
    out->items_done = agents->is_learning ? agents->manifest.items - agents->items_left : 0;
    out->learn_us_p95 = agents->step_us_p95() * agents->learn.steps;
    out->frames = agents->frames;
    out->windows = agents->windows;
    out->rewards_refused = agents->rewards_refused;
    out->serial = agents->status_serial;
    const StatusView view(agents->status);
    for (size_t i = 0; i < kDiagnosticCount; ++i)
        out->diagnostics[i] = view[static_cast<Diagnostic>(i)];
    for (size_t i = 0; i < kCounterCount; ++i) out->counters[i] = view[static_cast<Counter>(i)];
    return HEARTH_OK;
}

const char* hearth_agents_diagnostic_name(uint32_t index) {
    return index < kDiagnosticCount ? kDiagnosticNames[index].data() : nullptr;
}

const char* hearth_agents_counter_name(uint32_t index) {
    return index < kCounterCount ? kCounterNames[index].data() : nullptr;
}
