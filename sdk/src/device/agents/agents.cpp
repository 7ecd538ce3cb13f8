// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implements the C interface of hearth_agents.h.

#include "device/agents/agents.hpp"

#include "program/legacy_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <new>

using namespace hearth;
using namespace hearth::agents;

static_assert(HEARTH_AGENTS_METRICS == kMetricCount);
static_assert(HEARTH_AGENTS_COUNTERS == kCounterCount);
static_assert(HEARTH_AGENTS_REFERENCE_KL == static_cast<int>(AgentMetric::kReferenceKl) &&
              HEARTH_AGENTS_EPISODE_LENGTH == static_cast<int>(AgentMetric::kEpisodeLength) &&
              HEARTH_AGENTS_PUBLICATIONS_REJECTED ==
                  static_cast<int>(Counter::kPublicationsRejected) &&
              HEARTH_AGENTS_PUBLICATIONS_FAR == static_cast<int>(Counter::kPublicationsFar) &&
              HEARTH_AGENTS_GRADIENT_STEPS == static_cast<int>(Counter::kGradientSteps));

namespace hearth::agents {

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

}  // namespace hearth::agents

namespace {

bool is_handle(const hearth_agents* agents) {
    return agents != nullptr && agents->is_intact();
}

}  // namespace

#define HEARTH_CHECK_AGENTS(agents) \
    if (!is_handle(agents)) return HEARTH_ERROR_INVALID_ARGUMENT
#define HEARTH_CHECK_POINTER(argument)                            \
    if ((argument) == nullptr) {                                  \
        agents->error.set("%s: %s is null", __func__, #argument); \
        return HEARTH_ERROR_INVALID_ARGUMENT;                     \
    }

hearth_result hearth_agents_create(hearth_context* context, const hearth_agents_create_info* info,
                                   hearth_agents** out, hearth_messages* messages) {
    std::string why;
    const auto fail = [&](hearth_result result) {
        if (messages != nullptr) {
            messages->message_count = 1;
            std::snprintf(messages->text, sizeof messages->text, "%s", why.c_str());
        }
        return result;
    };
    if (context == nullptr || info == nullptr || out == nullptr ||
        info->type != HEARTH_STRUCT_AGENTS_CREATE_INFO || info->size != sizeof *info) {
        why =
            "context, info or out is null, or info was not made with "
            "hearth_agents_create_info_default()";
        return fail(HEARTH_ERROR_INVALID_ARGUMENT);
    }
    const void* bytes = info->manifest;
    uint64_t byte_count = info->manifest_bytes;
    if (bytes == nullptr) {
        const auto result = hearth_program_get_agent_manifest(info->program, &bytes, &byte_count);
        if (result != HEARTH_OK) {
            why = info->program == nullptr ? "program is null; load the package of the agents first"
                                           : hearth_program_error(info->program);
            return fail(result);
        }
    }
    auto manifest =
        AgentManifest::load(std::span(static_cast<const std::byte*>(bytes), byte_count));
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
    if (!is_handle(agents)) return;
    if (agents->is_apart()) hearth_session_destroy(agents->learner);
    hearth_session_destroy(agents->session);
    delete agents;
}

const char* hearth_agents_error(const hearth_agents* agents) {
    return is_handle(agents) ? agents->error.c_str() : "";
}

hearth_session* hearth_agents_get_session(hearth_agents* agents) {
    if (!is_handle(agents)) return nullptr;
    return agents->session;
}

hearth_result hearth_agents_add(hearth_agents* agents, hearth_agent* out) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(out);
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
        agents->has_final[i] = 0;
        agents->shown[i] = hearth_agents::Shown::kNothing;
        ++agents->alive;
        *out = {i, generation};
        return HEARTH_OK;
    }
    agents->error.set("all %u agents exist; remove one, or make the learner with a larger n_agents",
                      agents->capacity);
    return HEARTH_ERROR_OUT_OF_RANGE;
}

hearth_result hearth_agents_remove(hearth_agents* agents, hearth_agent agent) {
    HEARTH_CHECK_AGENTS(agents);
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    --agents->alive;
    // An agent that has not decided yet has no transition to store.
    if (a->has_decided)
        a->is_leaving = true;
    else
        a->is_alive = false;
    agents->shown[agent.index] = hearth_agents::Shown::kNothing;
    return HEARTH_OK;
}

uint32_t hearth_agents_count(const hearth_agents* agents) {
    if (!is_handle(agents)) return 0;
    return agents->alive;
}

hearth_result hearth_agents_find_observation(hearth_agents* agents, const char* path,
                                             uint32_t* offset, uint32_t* size) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(path);
    HEARTH_CHECK_POINTER(offset);
    HEARTH_CHECK_POINTER(size);
    const auto place = agents->manifest.schema.find(path);
    if (!place.ok()) {
        agents->error.set("%s", place.status().message().c_str());
        return HEARTH_ERROR_NOT_FOUND;
    }
    *offset = static_cast<uint32_t>(place->offset);
    *size = static_cast<uint32_t>(place->size);
    return HEARTH_OK;
}

hearth_result hearth_agents_find_action(hearth_agents* agents, const char* name, uint32_t* offset,
                                        uint32_t* size) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    HEARTH_CHECK_POINTER(offset);
    HEARTH_CHECK_POINTER(size);
    const std::vector<Action>& actions = agents->manifest.schema.actions();
    uint32_t at = 0;
    for (const Action& a : actions) {
        const auto floats = a.is_discrete ? 1u : static_cast<uint32_t>(a.count);
        if (a.name == name) {
            *offset = at;
            *size = floats;
            return HEARTH_OK;
        }
        at += floats;
    }
    agents->error.set("no action '%s'; there are", name);
    for (const Action& a : actions)
        agents->error.append("%s '%s'", &a == &actions[0] ? "" : ",", a.name.c_str());
    return HEARTH_ERROR_NOT_FOUND;
}

const char* hearth_agents_observation_name(const hearth_agents* agents, uint32_t index) {
    if (!is_handle(agents)) return "";
    agents->shown_name =
        index < agents->frame_seen ? agents->manifest.schema.observation_name(index) : "";
    return agents->shown_name.c_str();
}

const char* hearth_agents_action_name(const hearth_agents* agents, uint32_t index) {
    if (!is_handle(agents)) return "";
    agents->shown_name = index < agents->acted ? agents->manifest.schema.action_name(index) : "";
    return agents->shown_name.c_str();
}

uint64_t hearth_agents_schema_hash(const hearth_agents* agents) {
    if (!is_handle(agents)) return 0;
    return agents->manifest.schema.hash();
}

uint32_t hearth_agents_observation_size(const hearth_agents* agents) {
    if (!is_handle(agents)) return 0;
    return static_cast<uint32_t>(agents->frame_seen);
}

uint32_t hearth_agents_action_size(const hearth_agents* agents) {
    if (!is_handle(agents)) return 0;
    return static_cast<uint32_t>(agents->acted);
}

float* hearth_agents_observation(hearth_agents* agents, hearth_agent agent) {
    if (!is_handle(agents)) return nullptr;
    return agents->find(agent) == nullptr ? nullptr
                                          : &agents->observations[agent.index * agents->seen];
}

float* hearth_agents_action_mask(hearth_agents* agents, hearth_agent agent) {
    if (!is_handle(agents)) return nullptr;
    if (agents->masked == 0 || agents->find(agent) == nullptr) return nullptr;
    return &agents->masks[agent.index * agents->masked];
}

hearth_result hearth_agents_add_reward(hearth_agents* agents, hearth_agent agent, float amount) {
    HEARTH_CHECK_AGENTS(agents);
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    if (!std::isfinite(amount)) {
        ++agents->rewards_refused;
        agents->error.set(
            "agent %u: the reward is NaN or infinite, expected a finite number; check what "
            "computes it",
            agent.index);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    a->reward += amount;
    return HEARTH_OK;
}

hearth_result hearth_agents_end_episode(hearth_agents* agents, hearth_agent agent,
                                        hearth_agents_episode_end episode_end,
                                        const float* final_observation) {
    HEARTH_CHECK_AGENTS(agents);
    Agent* const a = agents->find(agent);
    if (a == nullptr) return agents->stale(agent);
    if (episode_end != HEARTH_AGENTS_TERMINATED && episode_end != HEARTH_AGENTS_TRUNCATED) {
        agents->error.set(
            "episode_end is %d, expected HEARTH_AGENTS_TERMINATED or HEARTH_AGENTS_TRUNCATED",
            static_cast<int>(episode_end));
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    a->end = static_cast<float>(episode_end);
    const size_t seen = agents->seen, frame = agents->frame_seen, at = agent.index * seen;
    // The frame stack of the final observation is that of the ending episode.
    std::memcpy(&agents->finals[at], &agents->observations[at], seen * sizeof(float));
    if (final_observation != nullptr)
        std::memcpy(&agents->finals[at], final_observation, frame * sizeof(float));
    agents->has_final[agent.index] = 1;
    return HEARTH_OK;
}

hearth_result hearth_agents_add_demonstration(hearth_agents* agents, hearth_agent agent,
                                              const float* action) {
    return hearth_agents_add_demonstration_from(agents, agent, action, 0);
}

hearth_result hearth_agents_add_demonstration_from(hearth_agents* agents, hearth_agent agent,
                                                   const float* action, uint32_t demonstrator) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(action);
    if (!agents->store.exists) {
        agents->error.set(
            "this learner accepts no demonstrations; make it with BehaviorCloning, or with "
            "Ppo::demo_capacity");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (demonstrator != 0 && !agents->has_sources) {
        agents->error.set(
            "demonstrator is %u, expected 0 because the learner was made with a "
            "max_demonstrator_fraction of 1",
            demonstrator);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (demonstrator > kMostSources) {
        agents->error.set("demonstrator is %u, expected at most %u", demonstrator, kMostSources);
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    if (agents->find(agent) == nullptr) return agents->stale(agent);
    agents->demonstrated_by[agent.index] = static_cast<float>(demonstrator);
    std::memcpy(&agents->demonstrations[agent.index * agents->acted], action,
                agents->acted * sizeof(float));
    agents->shown[agent.index] = hearth_agents::Shown::kGiven;
    return HEARTH_OK;
}

void hearth_agents_poll(hearth_agents* agents) {
    if (!is_handle(agents)) return;
    agents->poll();
}

const float* hearth_agents_action(const hearth_agents* agents, hearth_agent agent) {
    if (!is_handle(agents)) return nullptr;
    const Agent* const a = agents->find(agent);
    if (a == nullptr || !a->has_decided || agents->actions_frame < a->first_frame) return nullptr;
    return &agents->actions[agent.index * agents->acted];
}

hearth_result hearth_agents_record(hearth_agents* agents, const hearth_agents_record_info* info) {
    HEARTH_CHECK_AGENTS(agents);
    if (info == nullptr || info->type != HEARTH_STRUCT_AGENTS_RECORD_INFO ||
        info->size != sizeof *info || !std::isfinite(info->exploration) ||
        !(info->learning_budget_us >= 0 && info->learning_budget_us <= 1e9)) {
        agents->error.set(
            "info is null or was not made with hearth_agents_record_info_default(), exploration is "
            "not finite, or learning_budget_us is not in [0, 1e9]");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (static_cast<uint32_t>(info->priority) > HEARTH_AGENTS_PRIORITY_LEARNING) {
        agents->error.set("priority is %u, expected 0 to 2", static_cast<unsigned>(info->priority));
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if ((info->input_count > 0 && info->inputs == nullptr) ||
        info->input_count > agents->frame.sources.size()) {
        agents->error.set("%u inputs given, the entry frame has at most %zu", info->input_count,
                          agents->frame.sources.size());
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (info->learning_command_buffer != nullptr && !agents->is_apart()) {
        agents->error.set(
            "learning_command_buffer is given, which needs agents made with "
            "hearth_agents_create_info::use_separate_learning_queue");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    hearth_session_status session = hearth_session_status_default();
    (void)hearth_session_get_status(agents->session, &session);
    if (session.pipelines != HEARTH_OK) {
        agents->error.set(
            "the pipelines are not ready; call hearth_session_create_pipelines on the agents' "
            "session");
        return session.pipelines;
    }
    return agents->record(*info);
}

hearth_result hearth_agents_find_input(hearth_agents* agents, const char* name, uint32_t* binding) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    HEARTH_CHECK_POINTER(binding);
    const std::string_view alias = alias_of_binding("frame", name);
    for (const Source& s : agents->frame.sources)
        if (s.name == name || s.name == alias) {
            *binding = s.binding;
            return HEARTH_OK;
        }
    agents->error.set("no input '%s'; there are", name);
    for (const Source& s : agents->frame.sources)
        agents->error.append("%s '%s'", &s == &agents->frame.sources[0] ? "" : ",", s.name.c_str());
    return HEARTH_ERROR_NOT_FOUND;
}

hearth_result hearth_agents_set_hyperparameter(hearth_agents* agents, const char* name,
                                               double value) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    const std::vector<RuntimeHyperparameter>& known = agents->manifest.hyperparameters;
    const std::string_view alias = alias_of_hyperparameter(name);
    for (size_t i = 0; i < known.size(); ++i) {
        if (known[i].name != name && known[i].name != alias) continue;
        if (!std::isfinite(value)) {
            agents->error.set(
                "hyperparameter '%s': the value is NaN or infinite, expected a finite number",
                name);
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
        agents->hyperparameters[i] = static_cast<float>(value);
        return HEARTH_OK;
    }
    agents->error.set("no runtime hyperparameter '%s'; there %s", name,
                      known.empty() ? "is none" : "are");
    for (size_t i = 0; i < known.size(); ++i)
        agents->error.append("%s '%s'", i == 0 ? "" : ",", known[i].name.c_str());
    return HEARTH_ERROR_NOT_FOUND;
}

hearth_result hearth_agents_shrink_and_perturb(hearth_agents* agents, double strength) {
    HEARTH_CHECK_AGENTS(agents);
    if (!agents->adapt.exists || !(strength >= 0 && strength <= 1)) {
        agents->error.set(agents->adapt.exists ? "shrink_and_perturb: strength is outside [0, 1]"
                                               : "the program has no entry 'shrink_and_perturb'; "
                                                 "make the agents with a learner that has one");
        return agents->adapt.exists ? HEARTH_ERROR_INVALID_ARGUMENT : HEARTH_ERROR_UNSUPPORTED;
    }
    agents->strength = static_cast<float>(strength);
    agents->wants_adapt = true;
    agents->progress.reset();
    return HEARTH_OK;
}

void hearth_agents_finish_update(hearth_agents* agents) {
    if (!is_handle(agents)) return;
    agents->wants_flush = agents->is_learning;
}

hearth_result hearth_agents_report_score(hearth_agents* agents, float amount) {
    HEARTH_CHECK_AGENTS(agents);
    if (!std::isfinite(amount)) {
        agents->error.set(
            "report_score: the score is NaN or infinite, expected a finite number; check what "
            "computes it");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    agents->has_scores = true;
    agents->score += static_cast<double>(amount);
    return HEARTH_OK;
}

// --- Snapshots and brains ---

hearth_result hearth_agents_take_snapshot(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS(agents);
    if (agents->snapshots.empty()) {
        agents->error.set(
            "the agents keep no snapshots; create them with "
            "hearth_agents_create_info::max_snapshots above 0");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    agents->wants_snapshot = true;
    return HEARTH_OK;
}

uint32_t hearth_agents_snapshot_count(const hearth_agents* agents) {
    if (!is_handle(agents)) return 0;
    return agents->snapshot_count;
}

hearth_result hearth_agents_restore_snapshot(hearth_agents* agents, uint32_t snapshot) {
    HEARTH_CHECK_AGENTS(agents);
    return agents->load_snapshot(*agents, snapshot);
}

hearth_result hearth_agents_load_snapshot(hearth_agents* agents, const hearth_agents* from,
                                          uint32_t snapshot) {
    HEARTH_CHECK_AGENTS(agents);
    if (!is_handle(from)) {
        agents->error.set("%s: `from` is not a handle of agents", __func__);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    return agents->load_snapshot(*from, snapshot);
}

void hearth_agents_reset_brain(hearth_agents* agents) {
    if (!is_handle(agents)) return;
    for (Brain& b : agents->snapshots) {
        std::fill(b.bytes.begin(), b.bytes.end(), std::byte{0});
        b.size = 0;
    }
    std::fill(agents->pending.bytes.begin(), agents->pending.bytes.end(), std::byte{0});
    agents->snapshot_count = 0;
    hearth_readback_release(agents->session, agents->snapshot);
    agents->snapshot = 0;
    agents->wants_snapshot = agents->is_snapshot_due = agents->wants_load = false;
    agents->wants_factory = true;
}

void hearth_agents_freeze(hearth_agents* agents, uint32_t frozen) {
    if (!is_handle(agents)) return;
    const bool is_frozen = frozen != 0;
    if (is_frozen == agents->is_frozen) return;
    agents->is_frozen = is_frozen;
    agents->is_closing = is_frozen && !agents->has_memory;
}

hearth_result hearth_agents_save(const hearth_agents* agents, uint32_t snapshot, void* out,
                                 uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(byte_count);
    const Brain* const brain = agents->snapshot_at(snapshot);
    if (brain == nullptr) {
        agents->error.set("no snapshot %u; expected an index below %u", snapshot,
                          agents->snapshot_count);
        return HEARTH_ERROR_NOT_FOUND;
    }
    if (out == nullptr) {
        *byte_count = brain->size;
        return HEARTH_OK;
    }
    if (*byte_count < brain->size) {
        agents->error.set("%llu bytes given, %llu needed",
                          static_cast<unsigned long long>(*byte_count),
                          static_cast<unsigned long long>(brain->size));
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    std::memcpy(out, brain->bytes.data(), brain->size);
    *byte_count = brain->size;
    return HEARTH_OK;
}

hearth_result hearth_agents_load(hearth_agents* agents, const void* bytes, uint64_t byte_count,
                                 hearth_messages* messages) {
    HEARTH_CHECK_AGENTS(agents);
    return agents->load(bytes, byte_count, messages);
}

hearth_result hearth_agents_get_status(const hearth_agents* agents, hearth_agents_status* out) {
    HEARTH_CHECK_AGENTS(agents);
    if (out == nullptr || out->type != HEARTH_STRUCT_AGENTS_STATUS || out->size != sizeof *out) {
        agents->error.set("out is null or was not made with hearth_agents_status_default()");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    out->phase = agents->is_learning ? HEARTH_AGENTS_UPDATE : HEARTH_AGENTS_ROLLOUT;
    out->agents = agents->alive;
    out->minibatches = agents->manifest.updates_per_rollout;
    out->minibatches_done =
        agents->is_learning ? agents->manifest.updates_per_rollout - agents->items_left : 0;
    out->minibatch_us_p95 = agents->learn.cost.us();
    out->decision_us_p95 = agents->frame.cost.us();
    out->update_frames = agents->learn_frames;
    out->update_frames_over_budget = agents->learn_frames_over;
    out->frozen = agents->is_frozen ? 1 : 0;
    out->snapshots = agents->snapshot_count;
    out->is_plateaued = agents->progress.is_stuck() ? 1 : 0;
    out->reward_shift_detected = agents->progress.has_changed() ? 1 : 0;
    out->score = agents->progress.score();
    out->initial_score = agents->progress.first_score();
    out->rollbacks = agents->rollbacks;
    out->snapshots_rejected = agents->snapshots_refused;
    out->snapshots_taken = agents->snapshots_taken;
    out->snapshot_phase = agents->wants_snapshot  ? HEARTH_AGENTS_SNAPSHOT_PENDING
                          : agents->snapshot != 0 ? HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT
                                                  : HEARTH_AGENTS_SNAPSHOT_NONE;
    out->decisions = agents->frames;
    out->rollouts = agents->windows;
    out->rewards_rejected = agents->rewards_refused;
    out->frame_number = agents->status_frame_number;
    const StatusView view(agents->status);
    for (size_t i = 0; i < kMetricCount; ++i) out->metrics[i] = view[static_cast<AgentMetric>(i)];
    for (size_t i = 0; i < kCounterCount; ++i) out->counters[i] = view[static_cast<Counter>(i)];
    return HEARTH_OK;
}

const char* hearth_agents_metric_name(uint32_t index) {
    return index < kMetricCount ? kMetricNames[index].data() : nullptr;
}

const char* hearth_agents_counter_name(uint32_t index) {
    return index < kCounterCount ? kCounterNames[index].data() : nullptr;
}
