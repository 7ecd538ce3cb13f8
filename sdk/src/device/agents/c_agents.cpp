// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implements the C interface of hearth_agents.h.

#include "core/checked.hpp"
#include "core/host_allocator.hpp"
#include "device/agents/driver.hpp"
#include "program/demo_file.hpp"
#include "program/legacy_names.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

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

namespace {

bool is_handle(const hearth_agents* agents) {
    return agents != nullptr && agents->is_intact();
}

/// Reports to the thread that is alone that another one was refused.
bool has_overlap(const hearth_agents& agents, const CallGuard<>& guard) {
    if (!guard.takes_overlap()) return false;
    agents.error.set(
        "another thread called a function of these agents at the same time and was refused; "
        "synchronize the calls");
    return true;
}

}  // namespace

// In debug builds, a call that overlaps with another thread's does nothing; so does the next call
// whose result can report it.
#define HEARTH_CHECK_AGENTS(agents)                               \
    if (!is_handle(agents)) return HEARTH_ERROR_INVALID_ARGUMENT; \
    const CallGuard<> guard((agents)->call);                      \
    if (!guard.is_alone() || has_overlap(*(agents), guard)) return HEARTH_ERROR_INVALID_STATE
// For functions whose result is no hearth_result; value: what they return without a handle.
#define HEARTH_CHECK_AGENTS_OR(value, agents) \
    if (!is_handle(agents)) return value;     \
    const CallGuard<> guard((agents)->call);  \
    if (!guard.is_alone()) return value
#define HEARTH_CHECK_POINTER(argument)                            \
    if ((argument) == nullptr) {                                  \
        agents->error.set("%s: %s is null", __func__, #argument); \
        return HEARTH_ERROR_INVALID_ARGUMENT;                     \
    }
#define HEARTH_CHECK_AGENT(agents, agent)                                              \
    if (!(agents)->roster.has(agent)) {                                                \
        (agents)->error.set("agent %u of generation %u does not exist", (agent).index, \
                            (agent).generation);                                       \
        return HEARTH_ERROR_NOT_FOUND;                                                 \
    }

hearth_result hearth_agents_create(hearth_context* context, const hearth_agents_create_info* info,
                                   hearth_agents** out, hearth_messages* messages) {
    const auto fail = [&](hearth_result result, const char* why) {
        if (messages != nullptr) {
            FixedText<sizeof messages->text> text;
            text.set("%s", why);
            messages->message_count = 1;
            std::memcpy(messages->text, text.c_str(), std::strlen(text.c_str()) + 1);
        }
        return result;
    };
    HostAllocator* const allocator = runtime::host_allocator(context);
    if (allocator == nullptr || info == nullptr || out == nullptr ||
        info->type != HEARTH_STRUCT_AGENTS_CREATE_INFO || info->size != sizeof *info)
        return fail(HEARTH_ERROR_INVALID_ARGUMENT,
                    "context, info or out is null, or info was not made with "
                    "hearth_agents_create_info_default()");
    auto* const made = allocator->make<hearth_agents>(*allocator);
    if (made == nullptr) return fail(HEARTH_ERROR_OUT_OF_HOST_MEMORY, "out of memory");
    if (const auto result = made->create(context, *info); result != HEARTH_OK) {
        (void)fail(result, made->error.c_str());
        hearth_agents_destroy(made);
        return result;
    }
    *out = made;
    return HEARTH_OK;
}

void hearth_agents_destroy(hearth_agents* agents) {
    if (!is_handle(agents)) return;
    hearth_session_destroy(agents->second_queue.learner);
    hearth_session_destroy(agents->session);
    agents->allocator->destroy(agents);
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
    const bool is_deciding = agents->rollout.state() != DecisionState::kNone;
    const Roster::Added added =
        agents->roster.add(agents->decision.count + (is_deciding ? 2 : 1), *out);
    if (added == Roster::Added::kNo) {
        agents->error.set(
            "all %u agents exist; remove one, or make the learner with a larger n_agents",
            agents->roster.capacity());
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    if (added == Roster::Added::kAtFreeIndex)
        agents->rollout.join(out->index);
    else
        agents->rollout.replace(out->index);
    agents->demonstrations.clear(out->index);
    agents->curriculum.begin_episode(out->index);
    agents->frozen_returns.begin_episode(out->index);
    return HEARTH_OK;
}

hearth_result hearth_agents_remove(hearth_agents* agents, hearth_agent agent) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_AGENT(agents, agent);
    agents->roster.remove(agent);
    agents->demonstrations.clear(agent.index);
    return HEARTH_OK;
}

uint32_t hearth_agents_count(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->roster.alive();
}

uint32_t hearth_agents_capacity(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->roster.capacity();
}

namespace {

template <class Find>
hearth_result find_range(hearth_agents& agents, uint32_t* offset, uint32_t* size, Find find) {
    AgentSpec::FieldRange range;
    if (!find(range, agents.error)) return HEARTH_ERROR_NOT_FOUND;
    *offset = static_cast<uint32_t>(range.offset);
    *size = static_cast<uint32_t>(range.size);
    return HEARTH_OK;
}

}  // namespace

hearth_result hearth_agents_find_observation(hearth_agents* agents, const char* path,
                                             uint32_t* offset, uint32_t* size) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(path);
    HEARTH_CHECK_POINTER(offset);
    HEARTH_CHECK_POINTER(size);
    return find_range(*agents, offset, size, [&](auto& range, auto& error) {
        return agents->description.spec().find(path, range, error);
    });
}

hearth_result hearth_agents_find_action(hearth_agents* agents, const char* name, uint32_t* offset,
                                        uint32_t* size) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    HEARTH_CHECK_POINTER(offset);
    HEARTH_CHECK_POINTER(size);
    return find_range(*agents, offset, size, [&](auto& range, auto& error) {
        return agents->description.spec().find_action(name, range, error);
    });
}

const char* hearth_agents_observation_name(const hearth_agents* agents, uint32_t index) {
    HEARTH_CHECK_AGENTS_OR("", agents);
    agents->description.shown_name.clear();
    if (index < agents->description.sizes.frame)
        agents->description.spec().append_observation_name(index, agents->description.shown_name);
    return agents->description.shown_name.c_str();
}

const char* hearth_agents_action_name(const hearth_agents* agents, uint32_t index) {
    HEARTH_CHECK_AGENTS_OR("", agents);
    agents->description.shown_name.clear();
    if (index < agents->description.sizes.action)
        agents->description.spec().append_action_name(index, agents->description.shown_name);
    return agents->description.shown_name.c_str();
}

uint64_t hearth_agents_schema_hash(const hearth_agents* agents) {
    return is_handle(agents) ? agents->description.schema_hash : 0;
}

uint32_t hearth_agents_observation_size(const hearth_agents* agents) {
    return is_handle(agents) ? static_cast<uint32_t>(agents->description.sizes.frame) : 0;
}

uint32_t hearth_agents_action_size(const hearth_agents* agents) {
    return is_handle(agents) ? static_cast<uint32_t>(agents->description.sizes.action) : 0;
}

uint32_t hearth_agents_action_mask_size(const hearth_agents* agents) {
    return is_handle(agents) ? static_cast<uint32_t>(agents->description.sizes.mask) : 0;
}

namespace {

hearth_result no_observation(const hearth_agents& agents, uint32_t index) {
    agents.error.set("index is %u, expected less than %zu", index, agents.description.sizes.frame);
    return HEARTH_ERROR_OUT_OF_RANGE;
}

}  // namespace

namespace {

hearth_agents_field_kind kind_of(const AgentSpecView::Leaf& leaf) {
    if (leaf.is_action)
        return leaf.is_discrete_action ? HEARTH_AGENTS_FIELD_DISCRETE_ACTION
                                       : HEARTH_AGENTS_FIELD_CONTINUOUS_ACTION;
    switch (leaf.kind) {
        case FieldKind::kDiscrete:
            return HEARTH_AGENTS_FIELD_DISCRETE;
        case FieldKind::kPosition:
            return HEARTH_AGENTS_FIELD_POSITION;
        case FieldKind::kUnitVector:
            return HEARTH_AGENTS_FIELD_UNIT_VECTOR;
        case FieldKind::kAngle:
            return HEARTH_AGENTS_FIELD_ANGLE;
        case FieldKind::kQuaternion:
            return HEARTH_AGENTS_FIELD_QUATERNION;
        default:
            return HEARTH_AGENTS_FIELD_BOX;
    }
}

uint32_t float_or_none(int64_t offset) {
    return offset < 0 ? HEARTH_AGENTS_NO_FLOAT : static_cast<uint32_t>(offset);
}

}  // namespace

uint32_t hearth_agents_field_count(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->description.spec().leaf_count();
}

hearth_result hearth_agents_get_field(const hearth_agents* agents, uint32_t index,
                                      hearth_agents_field* out) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(out);
    AgentSpecView::Leaf leaf;
    if (!agents->description.spec().leaf(index, leaf)) {
        agents->error.set("index is %u, expected less than %u", index,
                          agents->description.spec().leaf_count());
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    *out = {};
    const std::string_view name(leaf.name.c_str());
    std::copy_n(name.data(), std::min(name.size(), sizeof out->name - 1), out->name);
    out->kind = kind_of(leaf);
    out->offset = static_cast<uint32_t>(leaf.offset);
    out->size = static_cast<uint32_t>(leaf.size);
    out->options = static_cast<uint32_t>(leaf.options);
    out->copies = static_cast<uint32_t>(leaf.copies);
    out->stride = static_cast<uint32_t>(leaf.stride);
    out->count_offset = float_or_none(leaf.count_offset);
    out->mask_offset = float_or_none(leaf.mask_offset);
    out->low = static_cast<float>(leaf.range.low);
    out->high = static_cast<float>(leaf.range.high);
    return HEARTH_OK;
}

hearth_result hearth_agents_observation_limits(const hearth_agents* agents, uint32_t index,
                                               float* clamped, float* unresolved) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(clamped);
    HEARTH_CHECK_POINTER(unresolved);
    if (index >= agents->description.sizes.frame) return no_observation(*agents, index);
    *clamped = agents->readbacks.limit_share(index, ObservationLimit::kClamped);
    *unresolved = agents->readbacks.limit_share(index, ObservationLimit::kUnresolved);
    return HEARTH_OK;
}

hearth_result hearth_agents_observation_range(const hearth_agents* agents, uint32_t index,
                                              float* low, float* high, uint64_t* non_finite_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(low);
    HEARTH_CHECK_POINTER(high);
    HEARTH_CHECK_POINTER(non_finite_count);
    if (index >= agents->description.sizes.frame) return no_observation(*agents, index);
    const ObservedRange& range = agents->rollout.range(index);
    *low = range.low;
    *high = range.high;
    *non_finite_count = range.non_finite;
    return HEARTH_OK;
}

float* hearth_agents_observation(hearth_agents* agents, hearth_agent agent) {
    HEARTH_CHECK_AGENTS_OR(nullptr, agents);
    return agents->roster.has(agent) ? agents->rollout.observation(agent.index) : nullptr;
}

float* hearth_agents_action_mask(hearth_agents* agents, hearth_agent agent) {
    HEARTH_CHECK_AGENTS_OR(nullptr, agents);
    return agents->roster.has(agent) ? agents->rollout.mask(agent.index) : nullptr;
}

hearth_result hearth_agents_add_reward(hearth_agents* agents, hearth_agent agent, float amount) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_AGENT(agents, agent);
    if (!std::isfinite(amount) || !agents->rollout.can_add_reward(agent.index, amount)) {
        ++agents->scores.rewards_rejected;
        agents->error.set(
            "agent %u: the reward is NaN or infinite, or makes the sum of rewards infinite, "
            "expected finite numbers; check what computes it",
            agent.index);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (agents->rollout.has_ended(agent.index)) {
        ++agents->scores.rewards_after_end;
    } else {
        agents->rollout.add_reward(agent.index, amount);
        agents->curriculum.add_reward(agent.index, amount);
        agents->frozen_returns.add_reward(agent.index, amount);
    }
    return HEARTH_OK;
}

hearth_result hearth_agents_end_episode(hearth_agents* agents, hearth_agent agent,
                                        hearth_agents_episode_end episode_end,
                                        const float* final_observation,
                                        const float* final_action_mask) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_AGENT(agents, agent);
    if (episode_end != HEARTH_AGENTS_TERMINATED && episode_end != HEARTH_AGENTS_TRUNCATED) {
        agents->error.set(
            "episode_end is %d, expected HEARTH_AGENTS_TERMINATED or HEARTH_AGENTS_TRUNCATED",
            static_cast<int>(episode_end));
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (final_action_mask != nullptr && agents->description.sizes.mask == 0) {
        agents->error.set("final_action_mask is given, but no action is maskable; pass null");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (agents->rollout.has_ended(agent.index)) {
        ++agents->scores.repeated_ends;
    } else {
        agents->rollout.end(agent.index, episode_end, final_observation, final_action_mask);
        agents->frozen_returns.end_episode(agent.index, agents->settings.is_frozen);
        if (agents->settings.is_frozen)
            agents->curriculum.begin_episode(agent.index);
        else
            agents->curriculum.end_episode(agent.index);
    }
    return HEARTH_OK;
}

namespace {

/// Checks whether the learner accepts demonstrations of this demonstrator.
hearth_result check_demonstrator(const hearth_agents& agents, uint32_t demonstrator) {
    if (!agents.entries.store.exists) {
        agents.error.set(
            "this learner accepts no demonstrations; make it with BehaviorCloning, or with "
            "Ppo::demo_capacity");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (demonstrator != 0 && !agents.description.has_demonstrators) {
        agents.error.set(
            "demonstrator is %u, expected 0 because the learner was made with a "
            "max_demonstrator_fraction of 1",
            demonstrator);
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (demonstrator <= kMaxDemonstrators) return HEARTH_OK;
    agents.error.set("demonstrator is %u, expected at most %u", demonstrator, kMaxDemonstrators);
    return HEARTH_ERROR_OUT_OF_RANGE;
}

}  // namespace

hearth_result hearth_agents_add_demonstration(hearth_agents* agents, hearth_agent agent,
                                              const float* action) {
    return hearth_agents_add_demonstration_from(agents, agent, action, 0);
}

hearth_result hearth_agents_add_demonstration_from(hearth_agents* agents, hearth_agent agent,
                                                   const float* action, uint32_t demonstrator) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(action);
    if (const auto r = check_demonstrator(*agents, demonstrator); r != HEARTH_OK) return r;
    HEARTH_CHECK_AGENT(agents, agent);
    agents->demonstrations.add(agent.index, action, demonstrator);
    return HEARTH_OK;
}

void hearth_agents_poll(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(, agents);
    agents->poll();
}

const float* hearth_agents_action(const hearth_agents* agents, hearth_agent agent) {
    HEARTH_CHECK_AGENTS_OR(nullptr, agents);
    if (!agents->roster.has(agent) ||
        agents->readbacks.actions_decision() < agents->roster.first_decision(agent.index))
        return nullptr;
    return agents->readbacks.actions() + agent.index * agents->description.sizes.action;
}

hearth_result hearth_agents_get_value(const hearth_agents* agents, hearth_agent agent,
                                      float* value) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_AGENT(agents, agent);
    HEARTH_CHECK_POINTER(value);
    const std::span<const float> values = agents->readbacks.values();
    if (values.empty()) {
        agents->error.set(
            "the learner computes no values for the game; make it with Ppo::report_values");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    if (agents->readbacks.actions_decision() < agents->roster.first_decision(agent.index)) {
        agents->error.set("no action of agent %u has arrived yet; ask again in a later frame",
                          agent.index);
        return HEARTH_ERROR_NOT_FOUND;
    }
    *value = values[agent.index];
    return HEARTH_OK;
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
        info->input_count > agents->entries.frame.sources.size()) {
        agents->error.set("%u inputs given, the entry frame has at most %zu", info->input_count,
                          agents->entries.frame.sources.size());
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (info->learning_command_buffer != nullptr && !agents->second_queue.is_used) {
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
    const Entry& frame = agents->entries.frame;
    for (const std::string_view wanted : {std::string_view(name), alias_of_binding("frame", name)})
        if (const Source* const source = frame.find(wanted)) {
            *binding = source->binding;
            return HEARTH_OK;
        }
    agents->error.set("no input '%s'; there are", name);
    for (const Source& s : frame.sources)
        agents->error.append("%s '%s'", &s == frame.sources.begin() ? "" : ",", s.name);
    return HEARTH_ERROR_NOT_FOUND;
}

hearth_result hearth_agents_set_hyperparameter(hearth_agents* agents, const char* name,
                                               double value) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    const AgentManifestView& manifest = agents->description.manifest;
    const uint32_t count = manifest.hyperparameter_count();
    const std::string_view alias = alias_of_hyperparameter(name);
    for (uint32_t i = 0; i < count; ++i) {
        const HyperparameterView known = manifest.hyperparameter(i);
        if (known.name != name && known.name != alias) continue;
        if (!(value >= known.low && value <= known.high)) {
            agents->error.set("hyperparameter '%s' is %g, expected a number in [%g, %g]", name,
                              value, known.low, known.high);
            return HEARTH_ERROR_INVALID_ARGUMENT;
        }
        agents->settings.hyperparameters[i] = static_cast<float>(value);
        return HEARTH_OK;
    }
    agents->error.set("no runtime hyperparameter '%s'; there %s", name,
                      count == 0 ? "is none" : "are");
    for (uint32_t i = 0; i < count; ++i) {
        const std::string_view known = manifest.hyperparameter(i).name;
        agents->error.append("%s '%.*s'", i == 0 ? "" : ",", static_cast<int>(known.size()),
                             known.data());
    }
    return HEARTH_ERROR_NOT_FOUND;
}

hearth_result hearth_agents_shrink_and_perturb(hearth_agents* agents, double strength) {
    HEARTH_CHECK_AGENTS(agents);
    if (!agents->entries.shrink_and_perturb.exists || !(strength >= 0 && strength <= 1)) {
        agents->error.set(agents->entries.shrink_and_perturb.exists
                              ? "shrink_and_perturb: strength is outside [0, 1]"
                              : "the program has no entry 'shrink_and_perturb'; "
                                "make the agents with a learner that has one");
        return agents->entries.shrink_and_perturb.exists ? HEARTH_ERROR_INVALID_ARGUMENT
                                                         : HEARTH_ERROR_UNSUPPORTED;
    }
    agents->settings.strength = static_cast<float>(strength);
    agents->settings.wants_shrink_and_perturb = true;
    agents->scores.progress.reset();
    return HEARTH_OK;
}

void hearth_agents_finish_update(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(, agents);
    agents->updates.flush();
}

hearth_result hearth_agents_report_score(hearth_agents* agents, float amount) {
    HEARTH_CHECK_AGENTS(agents);
    if (!std::isfinite(amount)) {
        agents->error.set(
            "report_score: the score is NaN or infinite, expected a finite number; check what "
            "computes it");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    agents->scores.are_reported = true;
    agents->scores.sum += static_cast<double>(amount);
    return HEARTH_OK;
}

// --- Metrics of the game's own ---

hearth_result hearth_agents_log(hearth_agents* agents, const char* name, double value) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    const size_t bytes = std::strlen(name);
    if (bytes == 0 || bytes > CustomMetrics::kMaxNameBytes || !std::isfinite(value)) {
        agents->error.set(
            "log: '%.63s' of %zu bytes is %g; expected a name of 1 to %zu bytes and a "
            "finite value",
            name, bytes, value, CustomMetrics::kMaxNameBytes);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    const CustomMetrics::Added added = agents->custom_metrics.add(name, value);
    if (added == CustomMetrics::Added::kYes) {
        if (!agents->settings.is_frozen) agents->curriculum.add_metric(name, value);
        return HEARTH_OK;
    }
    if (added == CustomMetrics::Added::kInfiniteSum) {
        agents->error.set("log: %g makes the sum of '%s' infinite; log smaller values", value,
                          name);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    agents->error.set("log: no room for '%s' beside %u other metrics; use fewer names", name,
                      CustomMetrics::kMost);
    return HEARTH_ERROR_OUT_OF_RANGE;
}

uint32_t hearth_agents_custom_metric_count(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->custom_metrics.size();
}

hearth_result hearth_agents_get_custom_metric(const hearth_agents* agents, uint32_t index,
                                              hearth_agents_custom_metric* out) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(out);
    if (index >= agents->custom_metrics.size()) {
        agents->error.set("index is %u, expected less than %u", index,
                          agents->custom_metrics.size());
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    *out = agents->custom_metrics.at(index);
    return HEARTH_OK;
}

void hearth_agents_restart_custom_metrics(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(, agents);
    agents->custom_metrics.restart();
}

// --- Parameters of episodes ---

hearth_result hearth_agents_get_parameter(hearth_agents* agents, const char* name, double* value) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(name);
    HEARTH_CHECK_POINTER(value);
    Curriculum& curriculum = agents->curriculum;
    const uint32_t parameter = curriculum.find(name);
    if (parameter != UINT32_MAX) {
        *value = curriculum.draw(parameter);
        return HEARTH_OK;
    }
    agents->error.set("no parameter '%s'; there %s", name,
                      curriculum.size() == 0 ? "is none" : "are");
    for (uint32_t i = 0; i < curriculum.size(); ++i)
        agents->error.append("%s '%s'", i == 0 ? "" : ",", curriculum.name(i));
    return HEARTH_ERROR_NOT_FOUND;
}

uint32_t hearth_agents_parameter_count(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->curriculum.size();
}

hearth_result hearth_agents_get_lesson(const hearth_agents* agents, uint32_t index,
                                       hearth_agents_lesson* out) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(out);
    if (index >= agents->curriculum.size()) {
        agents->error.set("index is %u, expected less than %u", index, agents->curriculum.size());
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    *out = agents->curriculum.lesson(index);
    return HEARTH_OK;
}

// --- Snapshots and brains ---

hearth_result hearth_agents_take_snapshot(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS(agents);
    if (!agents->snapshots.are_kept()) {
        agents->error.set(
            "the agents keep no snapshots; create them with "
            "hearth_agents_create_info::max_snapshots above 0");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    agents->snapshots.request();
    return HEARTH_OK;
}

uint32_t hearth_agents_snapshot_count(const hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(0, agents);
    return agents->snapshots.count();
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
    CallState own;
    const CallGuard<> other(from == agents ? own : from->call);
    if (!other.is_alone()) return HEARTH_ERROR_INVALID_STATE;
    return agents->load_snapshot(*from, snapshot);
}

void hearth_agents_reset_brain(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS_OR(, agents);
    agents->reset_brain();
}

void hearth_agents_freeze(hearth_agents* agents, uint32_t frozen) {
    HEARTH_CHECK_AGENTS_OR(, agents);
    if ((frozen != 0) == agents->settings.is_frozen) return;
    agents->settings.is_frozen = frozen != 0;
    agents->frozen_returns.restart();
    agents->settings.is_closing = agents->settings.is_frozen && !agents->description.has_memory;
}

namespace {

/// Copies bytes to the application: the convention of hearth_agents_save.
hearth_result copy_out(const hearth_agents& agents, std::span<const std::byte> bytes, void* out,
                       uint64_t* byte_count) {
    if (out != nullptr && *byte_count < bytes.size()) {
        agents.error.set("%llu bytes given, %zu needed",
                         static_cast<unsigned long long>(*byte_count), bytes.size());
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    if (out != nullptr) std::memcpy(out, bytes.data(), bytes.size());
    *byte_count = bytes.size();
    return HEARTH_OK;
}

}  // namespace

hearth_result hearth_agents_save(const hearth_agents* agents, uint32_t snapshot, void* out,
                                 uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(byte_count);
    Array<std::byte> made;
    std::span<const std::byte> brain;
    if (const auto r = agents->find_brain(snapshot, made, brain); r != HEARTH_OK) return r;
    return copy_out(*agents, brain, out, byte_count);
}

hearth_result hearth_agents_save_weights(const hearth_agents* agents, uint32_t snapshot, void* out,
                                         uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(byte_count);
    Array<std::byte> made;
    std::span<const std::byte> brain;
    if (const auto r = agents->find_brain(snapshot, made, brain); r != HEARTH_OK) return r;
    hearth_messages messages{};
    const auto result =
        hearth_brain_extract_weights(brain.data(), brain.size(), out, byte_count, &messages);
    if (result == HEARTH_ERROR_OUT_OF_RANGE)
        agents->error.set("%llu bytes given, %zu needed",
                          static_cast<unsigned long long>(*byte_count), brain.size());
    else if (result != HEARTH_OK)
        agents->error.set("%s", messages.text);
    return result;
}

hearth_result hearth_agents_save_game(hearth_agents* agents) {
    HEARTH_CHECK_AGENTS(agents);
    if (!agents->saved_game.is_enabled()) {
        agents->error.set(
            "the agents save no games; create them with "
            "hearth_agents_create_info::enable_saved_games");
        return HEARTH_ERROR_UNSUPPORTED;
    }
    agents->saved_game.request();
    return HEARTH_OK;
}

hearth_result hearth_agents_get_saved_game(const hearth_agents* agents, void* out,
                                           uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(byte_count);
    switch (agents->saved_game.state()) {
        case SavedGameState::kReady:
            return copy_out(*agents, agents->saved_game.bytes(), out, byte_count);
        case SavedGameState::kNone:
            agents->error.set("no game was saved; call hearth_agents_save_game first");
            return HEARTH_ERROR_NOT_FOUND;
        default:
            return HEARTH_NOT_READY;
    }
}

hearth_result hearth_agents_load(hearth_agents* agents, const void* bytes, uint64_t byte_count,
                                 hearth_messages* messages) {
    HEARTH_CHECK_AGENTS(agents);
    const auto result = agents->load({static_cast<const std::byte*>(bytes), to_size(byte_count)});
    if (result != HEARTH_OK && messages != nullptr) {
        messages->message_count = 1;
        std::memcpy(messages->text, agents->error.c_str(), std::strlen(agents->error.c_str()) + 1);
    }
    return result;
}

// --- Demonstration files ---

namespace {

/// Reports an error by messages.
hearth_result report(StatusCode code, const SpecText& error, hearth_messages* messages) {
    if (messages != nullptr) {
        messages->message_count = 1;
        std::memcpy(messages->text, error.c_str(), std::strlen(error.c_str()) + 1);
    }
    return result_of(code);
}

StatusCode open_demo(const void* bytes, uint64_t byte_count, DemoFileView& file, SpecText& error) {
    if (bytes != nullptr)
        return file.open(std::span(static_cast<const std::byte*>(bytes), byte_count), error);
    error.set("demonstration file: bytes is null");
    return StatusCode::kInvalidArgument;
}

/// Opens the file and reads one of its steps.
StatusCode read_demo(const void* bytes, uint64_t byte_count, uint64_t index, DemoFileView& file,
                     DemoStep& step, SpecText& error) {
    if (const auto code = open_demo(bytes, byte_count, file, error); code != StatusCode::kOk)
        return code;
    if (index < file.step_count()) return file.read(index, step, error);
    error.set("demonstration file: step %llu of %llu", static_cast<unsigned long long>(index),
              static_cast<unsigned long long>(file.step_count()));
    return StatusCode::kNotFound;
}

/// Sets *byte_count to `needed`.  Returns false and sets an error if `out` has less room.
bool has_room(const hearth_agents& agents, const void* out, uint64_t* byte_count, uint64_t needed) {
    const uint64_t given = *byte_count;
    *byte_count = needed;
    if (out == nullptr || given >= needed) return true;
    agents.error.set("%llu bytes given, %llu needed", static_cast<unsigned long long>(given),
                     static_cast<unsigned long long>(needed));
    return false;
}

}  // namespace

hearth_result hearth_demo_begin(const hearth_agents* agents, void* out, uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(byte_count);
    const AgentSpecView& spec = agents->description.spec();
    if (!has_room(*agents, out, byte_count, demo_header_bytes(spec)))
        return HEARTH_ERROR_OUT_OF_RANGE;
    if (out != nullptr) write_demo_header(spec, static_cast<std::byte*>(out));
    return HEARTH_OK;
}

hearth_result hearth_demo_add(hearth_agents* agents, hearth_agent agent, const float* action,
                              float reward, uint32_t episode_end, uint32_t demonstrator, void* out,
                              uint64_t* byte_count) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_POINTER(action);
    HEARTH_CHECK_POINTER(byte_count);
    HEARTH_CHECK_AGENT(agents, agent);
    if (episode_end > HEARTH_AGENTS_TRUNCATED || demonstrator > kMaxDemonstrators) {
        agents->error.set(
            "episode_end is %u, expected 0, 1 or 2; demonstrator is %u, expected at "
            "most %u",
            episode_end, demonstrator, kMaxDemonstrators);
        return HEARTH_ERROR_OUT_OF_RANGE;
    }
    const AgentSpecView& spec = agents->description.spec();
    const DemoStep step{
        .header = {.episode_end = episode_end, .demonstrator = demonstrator, .reward = reward},
        .observation = agents->rollout.observation(agent.index),
        .action_mask = agents->rollout.mask(agent.index),
        .action = action};
    if (const char* const value = first_not_finite(spec, step)) {
        agents->error.set("%s is not finite; such a step cannot be learned from", value);
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    if (!has_room(*agents, out, byte_count, demo_step_bytes(spec)))
        return HEARTH_ERROR_OUT_OF_RANGE;
    if (out != nullptr) write_demo_step(spec, step, static_cast<std::byte*>(out));
    return HEARTH_OK;
}

hearth_result hearth_demo_open(const void* bytes, uint64_t byte_count, hearth_demo_info* out,
                               hearth_messages* messages) {
    DemoFileView file;
    SpecText error;
    StatusCode code = open_demo(bytes, byte_count, file, error);
    DemoStep step;
    for (uint64_t i = 0; code == StatusCode::kOk && i < file.step_count(); ++i)
        code = file.read(i, step, error);
    if (code != StatusCode::kOk) return report(code, error, messages);
    const AgentSpecView& spec = file.spec();
    if (out != nullptr)
        *out = {.schema_hash = spec.hash(),
                .step_count = file.step_count(),
                .schema = spec.bytes().data(),
                .schema_bytes = spec.bytes().size(),
                .observation_size = static_cast<uint32_t>(spec.frame_size()),
                .action_mask_size = static_cast<uint32_t>(spec.mask_size()),
                .action_size = static_cast<uint32_t>(spec.action_size())};
    return HEARTH_OK;
}

hearth_result hearth_demo_get_step(const void* bytes, uint64_t byte_count, uint64_t index,
                                   hearth_demo_step* out, hearth_messages* messages) {
    DemoFileView file;
    DemoStep step;
    SpecText error;
    const StatusCode code = read_demo(bytes, byte_count, index, file, step, error);
    if (code != StatusCode::kOk) return report(code, error, messages);
    if (out != nullptr)
        *out = {.observation = step.observation,
                .action_mask = step.action_mask,
                .action = step.action,
                .reward = step.header.reward,
                .episode_end = step.header.episode_end,
                .demonstrator = step.header.demonstrator};
    return HEARTH_OK;
}

hearth_result hearth_demo_replay(hearth_agents* agents, hearth_agent agent, const void* bytes,
                                 uint64_t byte_count, uint64_t index) {
    HEARTH_CHECK_AGENTS(agents);
    HEARTH_CHECK_AGENT(agents, agent);
    DemoFileView file;
    DemoStep step;
    const StatusCode code = read_demo(bytes, byte_count, index, file, step, agents->error);
    if (code != StatusCode::kOk) return result_of(code);
    const AgentSpecView& spec = agents->description.spec();
    if (SpecText difference; file.spec().hash() != spec.hash()) {
        file.spec().diff(spec, difference);
        agents->error.set("the demonstration file (here) is of other agents than these (there): %s",
                          difference.c_str());
        return HEARTH_ERROR_INCOMPATIBLE;
    }
    const uint32_t demonstrator =
        agents->description.has_demonstrators ? step.header.demonstrator : 0;
    if (const auto r = check_demonstrator(*agents, demonstrator); r != HEARTH_OK) return r;
    std::copy_n(step.observation, spec.frame_size(), agents->rollout.observation(agent.index));
    if (step.action_mask != nullptr)
        std::copy_n(step.action_mask, spec.mask_size(), agents->rollout.mask(agent.index));
    agents->demonstrations.add(agent.index, step.action, demonstrator);
    return HEARTH_OK;
}

namespace {

/// Metrics that a learner computes, as bits; learners.md has what they mean.
uint32_t metrics_of(Algorithm algorithm, StatusView status) {
    constexpr auto bits = [](std::initializer_list<AgentMetric> metrics) {
        uint32_t all = 0;
        for (const AgentMetric metric : metrics) all |= 1u << static_cast<uint32_t>(metric);
        return all;
    };
    using M = AgentMetric;
    const uint32_t shared = bits({M::kLoss, M::kGradientNorm, M::kUpdateToWeightRatio});
    const uint32_t episodes = bits({M::kEpisodeReturn, M::kEpisodeLength});
    switch (algorithm) {
        case Algorithm::kPpo:
            return shared | episodes |
                   bits({M::kPolicyLoss, M::kValueLoss, M::kEntropy, M::kKl, M::kClipFraction,
                         M::kExplainedVariance}) |
                   (status[M::kReferenceKl] != 0 ? bits({M::kReferenceKl}) : 0);
        case Algorithm::kDqn:
            return shared | episodes | bits({M::kValueLoss});
        case Algorithm::kSac:
            return shared | episodes |
                   bits({M::kPolicyLoss, M::kValueLoss, M::kEntropy, M::kEntCoef});
        case Algorithm::kBehaviorCloning:
            return shared | bits({M::kPolicyLoss, M::kEntropy});
        case Algorithm::kTamer:
            return shared;
    }
    return 0;
}

}  // namespace

hearth_result hearth_agents_get_status(const hearth_agents* agents, hearth_agents_status* out) {
    HEARTH_CHECK_AGENTS(agents);
    if (out == nullptr || out->type != HEARTH_STRUCT_AGENTS_STATUS || out->size != sizeof *out) {
        agents->error.set("out is null or was not made with hearth_agents_status_default()");
        return HEARTH_ERROR_INVALID_ARGUMENT;
    }
    const Updates& updates = agents->updates;
    const Entry& learn = agents->entries.learn;
    const uint32_t minibatches = updates.schedule().updates_per_rollout;
    const uint64_t left = std::min<uint64_t>(updates.minibatches_left(), minibatches);
    out->phase = updates.is_learning() ? HEARTH_AGENTS_UPDATE : HEARTH_AGENTS_ROLLOUT;
    out->agents = agents->roster.alive();
    out->minibatches = minibatches;
    out->minibatches_done = updates.is_learning() ? minibatches - static_cast<uint32_t>(left) : 0;
    out->minibatch_us_p95 = learn.cost.us();
    out->decision_us_p95 = agents->entries.frame.cost.us();
    out->update_frames = agents->budget.frames();
    out->update_frames_over_budget = agents->budget.frames_over();
    out->frozen = agents->settings.is_frozen ? 1 : 0;
    out->snapshots = agents->snapshots.count();
    out->is_plateaued = agents->scores.progress.is_stuck() ? 1 : 0;
    out->reward_shift_detected = agents->scores.progress.has_changed() ? 1 : 0;
    out->score = agents->scores.progress.score();
    out->initial_score = agents->scores.progress.first_score();
    out->rollbacks = agents->safety.rollbacks;
    out->brains_rejected = agents->safety.brains_rejected;
    out->snapshots_rejected = agents->snapshots.rejected();
    out->snapshots_taken = agents->snapshots.taken();
    out->snapshot_phase = agents->snapshots.is_requested()   ? HEARTH_AGENTS_SNAPSHOT_PENDING
                          : agents->snapshots.is_in_flight() ? HEARTH_AGENTS_SNAPSHOT_IN_FLIGHT
                                                             : HEARTH_AGENTS_SNAPSHOT_NONE;
    out->decisions = agents->decision.count;
    out->rollouts = updates.rollouts();
    out->rewards_rejected = agents->scores.rewards_rejected;
    out->frame_number = agents->readbacks.status_frame_number();
    out->frames_without_update = updates.frames_without_update();
    out->update_us_left = learn.cost.us(learn.position(), learn.cost.end());
    out->owed_gradient_steps = static_cast<double>(updates.owed_steps());
    out->samples_paused = updates.samples_paused();
    out->rewards_after_end = agents->scores.rewards_after_end;
    out->repeated_ends = agents->scores.repeated_ends;
    const StatusView view = agents->readbacks.status();
    for (size_t i = 0; i < kMetricCount; ++i) out->metrics[i] = view[static_cast<AgentMetric>(i)];
    for (size_t i = 0; i < kCounterCount; ++i) out->counters[i] = view[static_cast<Counter>(i)];
    out->metrics_available = metrics_of(agents->description.manifest.algorithm(), view);
    if (agents->settings.is_frozen && agents->frozen_returns.has_episodes()) {
        const FrozenReturns& frozen = agents->frozen_returns;
        out->metrics[HEARTH_AGENTS_EPISODE_RETURN] = static_cast<float>(frozen.mean_return());
        out->metrics[HEARTH_AGENTS_EPISODE_LENGTH] = static_cast<float>(frozen.mean_length());
        out->metrics_available |=
            1u << HEARTH_AGENTS_EPISODE_RETURN | 1u << HEARTH_AGENTS_EPISODE_LENGTH;
    }
    return HEARTH_OK;
}

const char* hearth_agents_metric_name(uint32_t index) {
    return index < kMetricCount ? kMetricNames[index].data() : nullptr;
}

const char* hearth_agents_counter_name(uint32_t index) {
    return index < kCounterCount ? kCounterNames[index].data() : nullptr;
}
