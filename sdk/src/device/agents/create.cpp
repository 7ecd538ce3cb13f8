// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates agents.  The manifest and the program come from a file that may be hostile: both are
// read and compared, and the memory that they ask for is compared with the application's limit,
// before anything is allocated by them.

#include "core/checked.hpp"
#include "device/agents/driver.hpp"
#include "program/initial_values.hpp"
#include "program/legacy_names.hpp"

#include <algorithm>

using namespace hearth;
using namespace hearth::agents;

namespace {

constexpr uint64_t kLeastMemory = 64u << 20, kMemoryPerWeightByte = 16;
constexpr uint64_t kMaxMemory = uint64_t{1} << 62;

constexpr uint32_t kMaxFramesInFlight = 64;

/// Frames whose recordings exist at once: those in flight and the one being recorded.
uint32_t recorded_frames(const hearth_agents_create_info& info) {
    return std::max(info.frames_in_flight, 1u) + 1;
}

unsigned long long wide(uint64_t value) {
    return value;
}

hearth_result find_variable(const hearth_program* program, std::string_view name,
                            uint32_t* variable) {
    FixedText<256> text;
    text.set("%.*s", static_cast<int>(name.size()), name.data());
    return hearth_program_find_variable(program, text.c_str(), variable);
}

std::span<const std::byte> span_of(const void* bytes, uint64_t count) {
    return {static_cast<const std::byte*>(bytes), bytes == nullptr ? 0 : count};
}

}  // namespace

hearth_result hearth_agents::create(hearth_context* used_context,
                                    const hearth_agents_create_info& info) {
    context = used_context;
    program = info.program;
    if (info.frames_in_flight > kMaxFramesInFlight || info.max_snapshots > Snapshots::kMost) {
        error.set("frames_in_flight is %u and max_snapshots is %u, expected at most %u and %u",
                  info.frames_in_flight, info.max_snapshots, kMaxFramesInFlight, Snapshots::kMost);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (const auto r = read_manifest(info); r != HEARTH_OK) return r;
    if (const auto r = allocate(info); r != HEARTH_OK) return r;
    if (const auto r = read_curriculum(info); r != HEARTH_OK) return r;
    if (const auto r = find_entries(); r != HEARTH_OK) return r;
    if (const auto r = create_sessions(info); r != HEARTH_OK) return r;
    if (const auto r = allocate_snapshots(info); r != HEARTH_OK) return r;
    return info.enable_saved_games != 0 ? allocate_saved_game() : HEARTH_OK;
}

/// Reads the manifest and compares it with the program and with what the application expects.
hearth_result hearth_agents::read_manifest(const hearth_agents_create_info& info) {
    const void* bytes = info.manifest;
    uint64_t count = info.manifest_bytes;
    if (program == nullptr) {
        error.set("program is null; load the package of the agents first");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (bytes == nullptr)
        if (const auto r = hearth_program_get_agent_manifest(program, &bytes, &count);
            r != HEARTH_OK) {
            error.set("%s", hearth_program_error(program));
            return r;
        }
    AgentManifestView& manifest = description.manifest;
    if (const auto code = manifest.open(span_of(bytes, count), error); code != StatusCode::kOk)
        return result_of(code);
    if (!description.bytes.resize(*allocator, to_size(count))) {
        error.set("out of memory for a manifest of %llu bytes", wide(count));
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    std::ranges::copy(span_of(bytes, count), description.bytes.begin());
    (void)manifest.open(description.bytes, error);

    const AgentSpecView& spec = manifest.spec();
    description.schema_hash = spec.hash();
    description.sizes = {manifest.n_agents(), static_cast<size_t>(spec.frame_size()),
                         static_cast<size_t>(spec.observation_size()),
                         static_cast<size_t>(spec.mask_size()),
                         static_cast<size_t>(spec.action_size())};
    if (const auto r = check_schema(info); r != HEARTH_OK) return r;
    if (const auto r = check_program(); r != HEARTH_OK) return r;
    if (const auto r = check_initial_values(); r != HEARTH_OK) return r;
    return check_memory(info);
}

hearth_result hearth_agents::check_schema(const hearth_agents_create_info& info) const {
    if (info.schema == nullptr) return HEARTH_OK;
    AgentSpecView expected;
    if (const auto code = expected.open(span_of(info.schema, info.schema_bytes), error);
        code != StatusCode::kOk)
        return result_of(code);
    SpecText difference;
    expected.diff(description.spec(), difference);
    if (difference.empty()) return HEARTH_OK;
    error.set(
        "the specification in the create info (here) differs from that of the package (there); use "
        "the package's, or cook it again: %s",
        difference.c_str());
    return HEARTH_ERROR_INCOMPATIBLE;
}

/// Compares the program's limits and variables with the manifest.
hearth_result hearth_agents::check_program() {
    const AgentManifestView& manifest = description.manifest;
    const Sizes& sizes = description.sizes;
    hearth_program_info about = hearth_program_info_default();
    if (hearth_program_get_info(program, &about) != HEARTH_OK) {
        error.set("program is not a handle of a program; load the package of the agents first");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (about.max_batch_size < sizes.agents) {
        error.set(
            "the program has room for %llu agents, the learner was made for %u; compile it with "
            "that max_batch_size",
            wide(about.max_batch_size), sizes.agents);
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    uint32_t unused = 0;
    description.has_memory =
        find_variable(program, "recurrent_state", &unused) == HEARTH_OK ||
        find_variable(program, alias_of_variable("recurrent_state").view(), &unused) == HEARTH_OK;
    hearth_variable_info action = hearth_variable_info_default(),
                         status = hearth_variable_info_default();
    const struct {
        std::string_view name;
        uint32_t* index;
        hearth_variable_info* info;
    } variables[] = {
        {manifest.name(ManifestName::kLastAction), &description.action_variable, &action},
        {manifest.name(ManifestName::kStatus), &description.status_variable, &status}};
    for (const auto& v : variables) {
        if (find_variable(program, v.name, v.index) != HEARTH_OK) {
            error.set("the program has no state '%.*s'; cook the package again",
                      static_cast<int>(v.name.size()), v.name.data());
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        (void)hearth_program_get_variable(program, *v.index, v.info);
    }
    const uint64_t action_bytes = uint64_t{4} * sizes.agents * sizes.action;
    if (action.bytes != action_bytes || action.device_dtype != HEARTH_F32) {
        error.set(
            "state '%s' has %llu bytes, expected %llu: %zu floats for each of %u agents; cook the "
            "package again",
            action.name, wide(action.bytes), wide(action_bytes), sizes.action, sizes.agents);
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    if (status.bytes % 4 != 0 || !Readbacks::is_status_size(status.bytes / 4)) {
        error.set(
            "state '%s' has %llu bytes, expected %zu for %zu metrics and up to %zu counters; cook "
            "the package again",
            status.name, wide(status.bytes), 4 * kSavedStatusWords, kMetricCount,
            kSavedCounterCount);
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    hearth_variable_info limits = hearth_variable_info_default();
    description.has_limits =
        find_variable(program, "agents.observation_limits", &description.limits_variable) ==
            HEARTH_OK &&
        hearth_program_get_variable(program, description.limits_variable, &limits) == HEARTH_OK &&
        limits.bytes ==
            4 * static_cast<uint64_t>(observation_limit_words(static_cast<int64_t>(sizes.frame)));
    hearth_variable_info values = hearth_variable_info_default();
    description.has_values =
        find_variable(program, "last.value", &description.value_variable) == HEARTH_OK &&
        hearth_program_get_variable(program, description.value_variable, &values) == HEARTH_OK &&
        values.bytes == uint64_t{4} * sizes.agents && values.device_dtype == HEARTH_F32;
    hearth_variable_info recent = hearth_variable_info_default();
    description.has_recent =
        find_variable(program, "agents.recent", &description.recent_variable) == HEARTH_OK &&
        hearth_program_get_variable(program, description.recent_variable, &recent) == HEARTH_OK;
    if (recent.bytes % 4 != 0 || !Readbacks::is_recent_size(recent.bytes / 4)) {
        error.set("state '%s' has %llu bytes, expected at most %zu; cook the package again",
                  recent.name, wide(recent.bytes), 4 * Readbacks::kRecentWords);
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    if (manifest.n_steps() > 0) return HEARTH_OK;
    hearth_variable_info waiting = hearth_variable_info_default();
    const uint64_t waiting_bytes = uint64_t{4} * sizes.agents * manifest.waiting_decisions();
    uint32_t index = 0;
    if (find_variable(program, "waiting.id", &index) == HEARTH_OK)
        (void)hearth_program_get_variable(program, index, &waiting);
    if (waiting.bytes == waiting_bytes) return HEARTH_OK;
    error.set(
        "state 'waiting.id' has %llu bytes, expected %llu for %u waiting decisions of %u agents; "
        "make the manifest with the learner of these entries",
        wide(waiting.bytes), wide(waiting_bytes), manifest.waiting_decisions(), sizes.agents);
    return HEARTH_ERROR_INCOMPATIBLE;
}

/// A program may bring weights of its own, which must satisfy what hearth_agents_load asks of brains.
hearth_result hearth_agents::check_initial_values() const {
    const UnsoundValue found = runtime::find_unsound_value(program);
    if (found.element < 0) return HEARTH_OK;
    error.set("'%.*s': element %lld of the initial value %s; cook the package with other weights",
              static_cast<int>(std::min<size_t>(found.name.size(), 200)), found.name.data(),
              static_cast<long long>(found.element),
              found.is_finite ? "has a magnitude of 2^60 or more, which no training reaches"
                              : "is NaN or infinite");
    return HEARTH_ERROR_NON_FINITE;
}

/// Compares the memory that the agents need with the limit, by default one that grows with the
/// program's weights.
hearth_result hearth_agents::check_memory(const hearth_agents_create_info& info) const {
    const Sizes& sizes = description.sizes;
    hearth_program_info about = hearth_program_info_default();
    (void)hearth_program_get_info(program, &about);
    const uint64_t brain = std::min(hearth_program_get_brain_size(program), kMaxMemory / 128);
    // At most 2^24 agents of 2^20 bytes each.
    const uint64_t per_agent = Roster::kBytesPerAgent + Rollout::bytes_per_agent(sizes) +
                               Demonstrations::bytes_per_agent(sizes) +
                               sizes.action * sizeof(float);
    const uint64_t kept = info.max_snapshots;
    const uint64_t game =
        info.enable_saved_games == 0
            ? 0
            : std::min(hearth_program_get_saved_game_size(program), kMaxMemory / 128);
    const uint64_t needed = per_agent * sizes.agents + Rollout::shared_bytes(sizes) +
                            (kept == 0 ? 0 : (kept + 1) * brain) + game;
    const uint64_t limit =
        info.max_host_bytes != 0
            ? info.max_host_bytes
            : kLeastMemory + kMemoryPerWeightByte * std::min(about.weights_bytes, kMaxMemory / 32);
    if (needed <= limit) return HEARTH_OK;
    error.set(
        "%u agents of %llu bytes and %llu snapshots of a brain of %llu bytes need %llu bytes of "
        "CPU memory, more than the limit of %llu; raise hearth_agents_create_info::max_host_bytes "
        "if the package is to be trusted",
        sizes.agents, wide(per_agent), wide(kept), wide(brain), wide(needed), wide(limit));
    return HEARTH_ERROR_BUDGET_EXCEEDED;
}

hearth_result hearth_agents::allocate(const hearth_agents_create_info& info) {
    const AgentManifestView& manifest = description.manifest;
    const Sizes& sizes = description.sizes;
    hearth_variable_info status = hearth_variable_info_default(),
                         recent = hearth_variable_info_default();
    (void)hearth_program_get_variable(program, description.status_variable, &status);
    if (description.has_recent)
        (void)hearth_program_get_variable(program, description.recent_variable, &recent);
    const uint32_t in_flight = recorded_frames(info);
    Schedule schedule;
    schedule.n_steps = manifest.n_steps();
    schedule.updates_per_rollout = manifest.updates_per_rollout();
    schedule.sync_interval = manifest.sync_interval();
    schedule.train_freq = schedule.has_rollouts() ? 0 : manifest.train_freq();
    schedule.gradient_steps = manifest.gradient_steps();
    schedule.learning_starts = manifest.learning_starts();
    schedule.waiting_decisions = schedule.is_paced() ? manifest.waiting_decisions() : 0;
    schedule.learns_without_samples = manifest.algorithm() == Algorithm::kBehaviorCloning;
    const bool is_made =
        updates.allocate(*allocator, schedule) && roster.allocate(*allocator, sizes.agents) &&
        rollout.allocate(*allocator, sizes) && demonstrations.allocate(*allocator, sizes) &&
        readbacks.allocate(*allocator, in_flight, size_t{sizes.agents} * sizes.action,
                           to_size(status.bytes / sizeof(uint32_t)),
                           to_size(recent.bytes / sizeof(uint32_t)),
                           description.has_limits ? 2 * sizes.frame + 1 : 0,
                           description.has_values ? sizes.agents : 0) &&
        frozen_returns.allocate(*allocator, sizes.agents) &&
        settings.hyperparameters.resize(*allocator, manifest.hyperparameter_count()) &&
        settings.recorded.resize(*allocator, manifest.hyperparameter_count());
    if (!is_made) {
        error.set("out of memory for %u agents", sizes.agents);
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < manifest.hyperparameter_count(); ++i)
        settings.hyperparameters[i] = static_cast<float>(manifest.hyperparameter(i).value);
    std::ranges::copy(settings.hyperparameters, settings.recorded.begin());
    scores.progress = ProgressMonitor(info.progress_window);
    return HEARTH_OK;
}

hearth_result hearth_agents::read_curriculum(const hearth_agents_create_info& info) {
    const std::string_view text(info.curriculum == nullptr ? "" : info.curriculum,
                                info.curriculum == nullptr ? 0 : to_size(info.curriculum_bytes));
    return curriculum.read(*allocator, text, description.sizes.agents, error);
}

hearth_result hearth_agents::find_entries() {
    const AgentManifestView& manifest = description.manifest;
    const Sizes& sizes = description.sizes;
    const Rows& rows = rollout.rows();
    const Demonstrations::Rows& shown = demonstrations.rows();
    const uint64_t observation = 4 * sizes.observation, mask = 4 * sizes.mask,
                   action = 4 * sizes.action;
    const HostInput frame_inputs[] = {
        {"observation", rows.observation.data(), 0, observation},
        {"mask", rows.mask.data(), 0, mask},
        {"reward", rows.reward.data(), 0, 4},
        {"praise", rows.reward.data(), 0, 4},
        {"done_kind", rows.done_kind.data(), 0, 4},
        {"episode_start", rows.episode_start.data(), 0, 4},
        {"final_observation", rows.final_observation.data(), 0, observation},
        {"final_mask", rows.final_mask.data(), 0, mask},
        {"id", rows.id.data(), 0, 4, HEARTH_U32},
        {"exploration", &decision.exploration, 4, 0}};
    const HostInput sample_inputs[] = {{"row", rows.index.data(), 0, 4, HEARTH_U32}};
    const HostInput store_inputs[] = {{"observation", shown.observation.data(), 0, observation},
                                      {"mask", shown.mask.data(), 0, mask},
                                      {"action", shown.action.data(), 0, action},
                                      {"demonstrator", shown.demonstrator.data(), 0, 4}};
    const HostInput strength[] = {{"strength", &settings.strength, 4, 0}};
    Array<HostInput> learn_inputs;
    if (!learn_inputs.resize(*allocator, manifest.hyperparameter_count())) {
        error.set("out of memory for %u hyperparameters", manifest.hyperparameter_count());
        return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < manifest.hyperparameter_count(); ++i)
        learn_inputs[i] = {manifest.hyperparameter(i).name, &settings.recorded[i], 4, 0};

    const bool is_clone = manifest.algorithm() == Algorithm::kBehaviorCloning;
    const struct {
        ManifestName name;
        bool is_needed;
        Entry* entry;
        std::span<const HostInput> inputs;
    } wanted[] = {{ManifestName::kFrame, true, &entries.frame, frame_inputs},
                  {ManifestName::kLearn, true, &entries.learn, learn_inputs},
                  {ManifestName::kPublish, true, &entries.publish, {}},
                  {ManifestName::kComputeAdvantages, manifest.n_steps() > 0, &entries.advantages,
                   learn_inputs},
                  {ManifestName::kShrinkAndPerturb, false, &entries.shrink_and_perturb, strength},
                  {ManifestName::kAddSamples, updates.schedule().is_paced(), &entries.add_samples,
                   sample_inputs},
                  {is_clone ? ManifestName::kStore : ManifestName::kAddDemonstrations, is_clone,
                   &entries.store, store_inputs}};
    size_t most_sources = 1;
    for (const auto& w : wanted) {
        const auto r = w.entry->find(program, manifest.name(w.name), w.inputs, *allocator, error);
        if (r == HEARTH_ERROR_NOT_FOUND && !w.is_needed) continue;
        if (r != HEARTH_OK) return r == HEARTH_ERROR_NOT_FOUND ? HEARTH_ERROR_INCOMPATIBLE : r;
        most_sources = std::max(most_sources, w.entry->sources.size());
    }
    error.clear();
    description.has_demonstrators =
        entries.store.find("demonstrator") != nullptr || entries.store.find("source") != nullptr;
    bool is_made = entries.bound.resize(*allocator, most_sources) &&
                   decision.inputs.resize(*allocator, entries.frame.sources.size());
    for (Entry* const entry :
         {&entries.frame, &entries.advantages, &entries.add_samples, &entries.learn})
        is_made = is_made && (!entry->exists || entry->measure_cost(program, *allocator));
    if (is_made) return HEARTH_OK;
    error.set("out of memory for the program's entries");
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}

hearth_result hearth_agents::create_sessions(const hearth_agents_create_info& info) {
    const Sizes& sizes = description.sizes;
    // The inputs of all agents go inline if they are small, else through the upload ring.
    constexpr uint64_t kMostInline = 1u << 16;  // hearth_session_create_info::max_inline_bytes
    uint64_t most_inline = 256, most_fixed = 256, staged_a_frame = 0;
    for (const Entry* entry : {&entries.frame, &entries.store, &entries.add_samples, &entries.learn,
                               &entries.shrink_and_perturb}) {
        uint64_t bytes = 0, fixed = 0;
        for (const Source& s : entry->sources) {
            const uint64_t all = (s.bytes(sizes.agents) + 255) / 256 * 256;
            bytes += all;
            if (s.row_bytes == 0) fixed += all;
        }
        most_inline = std::max(most_inline, bytes);
        most_fixed = std::max(most_fixed, fixed);
        staged_a_frame += bytes;
    }
    const bool is_staged = most_inline > kMostInline;
    const uint32_t in_flight = recorded_frames(info);

    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    create.name = info.name;
    create.flags = HEARTH_SESSION_TIMESTAMP_RUNS | HEARTH_SESSION_SPLIT_DISPATCHES;
    create.recordings_in_flight = in_flight * kMaxRecordings;
    create.max_inline_bytes = static_cast<uint32_t>(is_staged ? most_fixed : most_inline);
    const uint64_t brain = hearth_program_get_brain_size(program);
    create.upload_bytes = brain + (1u << 16);
    if (is_staged) {
        create.flags |= HEARTH_SESSION_ALLOW_STAGING_COPIES;
        // Wherever the inputs in flight lie in the ring, a brain fits on one side of them.
        create.upload_bytes += brain + in_flight * staged_a_frame;
        create.upload_count += 2 * in_flight;
    }
    // Wherever the actions in flight lie in the ring, a snapshot fits on one side of them and the
    // actions after it fit behind it.
    const uint64_t frame_bytes =
        uint64_t{4} * sizes.agents * (sizes.action + (description.has_values ? 1 : 0)) +
        4 * kStatusWords + 8 * sizes.frame + 1024;
    const uint64_t game =
        info.enable_saved_games != 0 ? hearth_program_get_saved_game_size(program) : 0;
    create.readback_bytes = 2 * brain + 2 * game + 3 * in_flight * frame_bytes;
    create.upload_bytes += game;
    create.readback_count = 5 * in_flight + 5;
    create.max_pending_timings = in_flight * kMaxRecordings;
    if (const auto r = hearth_session_create(context, &create, &session); r != HEARTH_OK) {
        error.set("%s", hearth_context_error(context));
        return r;
    }
    if (info.use_separate_learning_queue == 0) return HEARTH_OK;
    if (info.enable_saved_games != 0) {
        error.set("saved games need one queue; leave out use_separate_learning_queue");
        return HEARTH_ERROR_UNSUPPORTED;
    }

    if (!updates.schedule().has_rollouts()) {
        const std::string_view name = name_of(description.manifest.algorithm());
        error.set(
            "use_separate_learning_queue: %.*s learns from the samples of each frame; expected a "
            "learner with rollouts, such as Ppo",
            static_cast<int>(name.size()), name.data());
        return HEARTH_ERROR_UNSUPPORTED;
    }
    create.readback_bytes = 0;
    create.upload_bytes = brain + (1u << 16);
    if (const auto r = hearth_session_create(context, &create, &second_queue.learner);
        r != HEARTH_OK) {
        error.set("%s", hearth_context_error(context));
        return r;
    }
    second_queue.is_used = true;
    second_queue.family = info.learning_queue_family;
    for (Entry* const entry :
         {&entries.advantages, &entries.learn, &entries.publish, &entries.shrink_and_perturb})
        entry->is_learners = true;
    if (second_queue.find_variables(
            program, *allocator, {&entries.frame, &entries.store},
            {&entries.advantages, &entries.learn, &entries.publish, &entries.shrink_and_perturb}))
        return HEARTH_OK;
    error.set("out of memory for the program's variables");
    return HEARTH_ERROR_OUT_OF_HOST_MEMORY;
}
