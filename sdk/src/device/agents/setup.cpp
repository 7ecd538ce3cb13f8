// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Creates agents: finds the manifest's entries in the program, checks them and allocates.

#include "device/agents/agents.hpp"
#include "program/legacy_names.hpp"

#include <algorithm>
#include <utility>

using namespace hearth;
using namespace hearth::agents;

namespace {

/// Initial costs: nothing is measured yet, so all commands of an entry count alike.
void set_up_cost(const hearth_program* program, Role& role) {
    role.step_costs.resize(role.steps);
    for (uint32_t i = 0; i < role.steps; ++i) {
        hearth_command_info step = hearth_command_info_default();
        if (hearth_program_get_command(program, role.entry, i, &step) != HEARTH_OK) continue;
        role.step_costs[i].is_barrier = step.kind == HEARTH_COMMAND_BARRIER;
        role.step_costs[i].part_count = step.sub_dispatch_count;
        role.step_costs[i].workgroups = step.workgroups;
    }
    role.cost.set_up(role.step_costs);
}

}  // namespace

const float* hearth_agents::source_of(std::string_view wanted) const {
    struct Named {
        const char* name;
        const std::vector<float>* values;
    };
    const Named all[] = {{"observation", &row_observation}, {"mask", &row_mask},
                         {"reward", &row_reward},           {"praise", &row_reward},
                         {"done_kind", &row_end},           {"episode_start", &row_begins},
                         {"final_observation", &row_final}};
    for (const Named& n : all)
        if (wanted == n.name) return n.values->data();
    if (wanted == "id") return reinterpret_cast<const float*>(row_id.data());
    if (wanted == "exploration") return &explore;
    if (wanted == "strength") return &strength;
    for (size_t i = 0; i < manifest.hyperparameters.size(); ++i)
        if (wanted == manifest.hyperparameters[i].name) return &item_hyperparameters[i];
    return nullptr;
}

hearth_result hearth_agents::find_role(const char* name, bool is_needed, Role& role,
                                       std::string& why) {
    if (hearth_program_find_entry(program, name, &role.entry) != HEARTH_OK) {
        if (!is_needed) return HEARTH_OK;
        why = "the program has no entry '" + std::string(name) + "'";
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    role.exists = true;
    hearth_entry_info entry = hearth_entry_info_default();
    (void)hearth_program_get_entry(program, role.entry, &entry);
    role.dispatches = std::max(entry.dispatch_count, 1u);
    role.steps = std::max(entry.command_count, 1u);
    for (uint32_t i = 0; i < entry.binding_count; ++i) {
        hearth_binding_info b = hearth_binding_info_default();
        (void)hearth_program_get_binding(program, entry.bindings[i], &b);
        const std::string where = "entry '" + std::string(name) + "', '" + b.name + "': ";
        if (b.is_output != 0) {
            why = where +
                  "an output; results of agents must be states; make the entries by "
                  "build_agent_graphs";
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        const void* data = source_of(b.name);
        if (data == nullptr) data = source_of(alias_of_binding(name, b.name));
        const bool is_store = &role == &store;
        if (is_store && std::string_view(b.name) == "observation")
            data = row_demonstrated_observation.data();
        if (is_store && std::string_view(b.name) == "mask") data = row_demonstrated_mask.data();
        if (is_store && std::string_view(b.name) == "action") data = row_demonstration.data();
        if (is_store && (std::string_view(b.name) == "demonstrator" ||
                         alias_of_binding(name, b.name) == "demonstrator")) {
            data = row_source.data();
            has_sources = true;
        }
        if (data == nullptr) {
            why = where +
                  "an input that the manifest does not name; cook the package with the manifest of "
                  "these entries";
            return HEARTH_ERROR_INCOMPATIBLE;
        }
        const auto expect_row = [&](const char* input, size_t floats) {
            if (std::string_view(b.name) != input || b.bytes_per_item == 4 * floats) return true;
            why = where + std::to_string(b.bytes_per_item / 4) + " floats in the program, " +
                  std::to_string(floats) + " in the manifest's schema";
            return false;
        };
        if (!expect_row("observation", seen) || !expect_row("final_observation", seen) ||
            !expect_row("mask", masked) || !expect_row("action", acted))
            return HEARTH_ERROR_INCOMPATIBLE;
        role.sources.push_back({entry.bindings[i], data, b.bytes_fixed, b.bytes_per_item, b.name});
    }
    return HEARTH_OK;
}

hearth_result hearth_agents::set_up(hearth_context* used_context,
                                    const hearth_agents_create_info& info, std::string& why) {
    const AgentSpec& schema = manifest.schema;
    context = used_context;
    program = info.program;
    schema_hash = schema.hash();
    if (info.schema != nullptr) {
        const auto expected = AgentSpec::load(
            {static_cast<const std::byte*>(info.schema), static_cast<size_t>(info.schema_bytes)});
        if (!expected.ok()) {
            why = expected.status().message();
            return result_of(expected.status());
        }
        if (std::string text = expected->diff(schema); !text.empty()) {
            why =
                "the specification in the create info (here) differs from that of the package "
                "(there); use the package's, or cook it again: " +
                text;
            return HEARTH_ERROR_INCOMPATIBLE;
        }
    }
    capacity = manifest.n_agents;
    frame_seen = static_cast<size_t>(schema.frame_size());
    seen = static_cast<size_t>(schema.observation_size());
    masked = static_cast<size_t>(schema.mask_size());
    acted = static_cast<size_t>(schema.action_size());

    hearth_program_info about = hearth_program_info_default();
    if (hearth_program_get_info(program, &about) != HEARTH_OK) {
        why = "program is null; load the package of the agents first";
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (about.max_batch_size < capacity) {
        why = "the program has room for " + std::to_string(about.max_batch_size) +
              " agents, the learner was made for " + std::to_string(capacity) +
              "; compile it with that max_batch_size";
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    agents.resize(capacity);
    observations.resize(capacity * seen);
    finals.resize(capacity * seen);
    masks.assign(capacity * masked, 1.0f);
    demonstrations.resize(capacity * acted);
    demonstrated_by.resize(capacity);
    row_source.resize(capacity);
    demonstrated_observations.resize(capacity * seen);
    demonstrated_masks.resize(capacity * masked);
    shown.resize(capacity);
    has_final.resize(capacity);
    row_id.resize(capacity);
    row_generation.resize(capacity);
    row_is_leaving.resize(capacity);
    row_observation.resize(capacity * seen);
    row_final.resize(capacity * seen);
    row_mask.resize(std::max<size_t>(capacity * masked, 1));
    row_reward.resize(capacity);
    row_end.resize(capacity);
    row_begins.resize(capacity);
    row_demonstration.resize(capacity * acted);
    row_demonstrated_observation.resize(capacity * seen);
    row_demonstrated_mask.resize(std::max<size_t>(capacity * masked, 1));
    for (const RuntimeHyperparameter& s : manifest.hyperparameters)
        hyperparameters.push_back(static_cast<float>(s.value));
    item_hyperparameters = hyperparameters;
    uint32_t memory_variable = 0;
    const auto has_state = [&](const char* name) {
        return hearth_program_find_variable(program, name, &memory_variable) == HEARTH_OK;
    };
    has_memory =
        has_state("recurrent_state") || has_state(alias_of_variable("recurrent_state").c_str());
    progress = ProgressMonitor(info.progress_window);

    const bool has_window = manifest.n_steps > 0;
    const bool is_clone = manifest.algorithm == Algorithm::kBehaviorCloning;
    struct Wanted {
        const char* name;
        bool is_needed;
        Role* role;
    };
    const EntryNames& names = manifest.names;
    const Wanted roles[] = {{names.frame.c_str(), true, &frame},
                            {names.learn.c_str(), true, &learn},
                            {names.publish.c_str(), true, &publish},
                            {names.compute_advantages.c_str(), has_window, &prepare},
                            {names.shrink_and_perturb.c_str(), false, &adapt}};
    for (const Wanted& w : roles)
        if (const auto r = find_role(w.name, w.is_needed, *w.role, why); r != HEARTH_OK) return r;
    const std::string& stores = is_clone ? names.store : names.add_demonstrations;
    if (const auto r = find_role(stores.c_str(), is_clone, store, why); r != HEARTH_OK) return r;
    for (const auto& [name, variable] : {std::pair(&names.last_action, &action_variable),
                                         std::pair(&names.status, &status_variable)})
        if (hearth_program_find_variable(program, name->c_str(), variable) != HEARTH_OK) {
            why = "the program has no state '" + *name + "'";
            return HEARTH_ERROR_INCOMPATIBLE;
        }

    // The inputs of all agents go inline if they are small, else through the upload ring.
    constexpr uint64_t kMostInline = 1u << 16;  // hearth_session_create_info::max_inline_bytes
    uint64_t most_inline = 256, most_fixed = 256, staged_a_frame = 0;
    size_t most_sources = 1;
    for (const Role* r : {&frame, &store, &learn, &adapt}) {
        uint64_t bytes = 0, fixed = 0;
        for (const Source& s : r->sources) {
            const uint64_t all = (s.bytes_fixed + s.bytes_per_row * capacity + 255) / 256 * 256;
            bytes += all;
            if (s.bytes_per_row == 0) fixed += all;
        }
        most_inline = std::max(most_inline, bytes);
        most_fixed = std::max(most_fixed, fixed);
        staged_a_frame += bytes;
        most_sources = std::max(most_sources, r->sources.size());
    }
    const bool is_staged = most_inline > kMostInline;
    bound.resize(most_sources);
    const uint32_t in_flight = std::max(info.frames_in_flight, 1u) + 1;
    readbacks.resize(in_flight);
    for (Role* const role : {&frame, &prepare, &learn})
        if (role->exists) set_up_cost(program, *role);
    frame_inputs.resize(frame.sources.size());
    actions.resize(capacity * acted);

    hearth_session_create_info create = hearth_session_create_info_default();
    create.program = program;
    create.name = info.name;
    create.flags = HEARTH_SESSION_TIMESTAMP_RUNS | HEARTH_SESSION_SPLIT_DISPATCHES;
    create.recordings_in_flight = in_flight * kMostRecordings;
    create.max_inline_bytes = static_cast<uint32_t>(is_staged ? most_fixed : most_inline);
    const uint64_t snapshot_bytes = hearth_program_get_brain_size(program);
    create.upload_bytes = snapshot_bytes + (1u << 16);
    if (is_staged) {
        create.flags |= HEARTH_SESSION_ALLOW_STAGING_COPIES;
        // Wherever the inputs in flight lie in the ring, a brain fits on one side of them.
        create.upload_bytes += snapshot_bytes + in_flight * staged_a_frame;
        create.upload_count += 2 * in_flight;
    }
    // Wherever the actions in flight lie in the ring, a snapshot fits on one side of them and the
    // actions after it fit behind it.
    const uint64_t frame_bytes = capacity * acted * 4 + 4 * kStatusWords + 1024;
    create.readback_bytes = 2 * snapshot_bytes + 3 * in_flight * frame_bytes;
    create.readback_count = 2 * in_flight + 4;
    create.max_pending_timings = in_flight * kMostRecordings;
    if (const auto r = hearth_session_create(used_context, &create, &session); r != HEARTH_OK) {
        why = hearth_context_error(used_context);
        return r;
    }
    if (const auto r = set_up_apart(info, create, why); r != HEARTH_OK) return r;
    return allocate_snapshots(info, why);
}
