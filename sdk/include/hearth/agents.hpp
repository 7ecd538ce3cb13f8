// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// C++20 interface over hearth_agents.h: a move-only handle, spans and Results.  Header-only; adds
// nothing to the ABI.  The thread, ordering and lifetime rules of hearth_agents.h apply.
//
//     HEARTH_ASSIGN(Agents agents, Agents::create(context, program, manifest));
//     HEARTH_ASSIGN(const AgentId fox, agents.add());
//     for each frame:
//         agents.poll();
//         if (const auto action = agents.action(fox); !action.empty()) move(action);
//         agents.observation(fox)[0] = ...;
//         agents.add_reward(fox, 0.3f);
//         agents.record(commands, {.learning_budget_us = 500});

#pragma once

#include <hearth/agents/status.hpp>
#include <hearth/core/cpp20.hpp>
#include <hearth/hearth_agents.h>
#include <hearth/hearth_runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::agents {

using AgentId = hearth_agent;

/// Reason for the end of an episode; see hearth_agents_episode_end.
enum class EpisodeEnd {
    kTerminated = HEARTH_AGENTS_TERMINATED,
    kTruncated = HEARTH_AGENTS_TRUNCATED
};

/// Options of Agents::record(); see hearth_agents_record_info.
struct RecordOptions {
    double learning_budget_us = 500;  ///< GPU microseconds for learning; 0: none
    hearth_agents_priority priority = HEARTH_AGENTS_PRIORITY_BALANCED;
    float exploration = 1;  ///< PPO, SAC, cloning: above 0.5 samples, else mode; others: epsilon
    bool request_decision = true;  ///< false: agents only learn in this frame
    /// Maximum frames that a decision may be spread over; HEARTH_AGENTS_BEST_EFFORT: best effort.
    uint32_t max_decision_frames = 1;
    /// The game's own buffers; see Agents::find_input.
    std::span<const hearth_tensor_binding> inputs = {};
    /// Lets the GPU determine how many agents decide.
    const hearth_tensor_binding* indirect_agent_count_buffer = nullptr;
    /// Required by AgentsOptions::use_separate_learning_queue.
    VkCommandBuffer learning_command_buffer = nullptr;
};

/// Status as of the last poll.
struct AgentsStatus : hearth_agents_status {
    float operator[](AgentMetric d) const { return metrics[static_cast<size_t>(d)]; }
    uint64_t operator[](Counter c) const { return counters[static_cast<size_t>(c)]; }
};

/// Options of Agents::create(); see hearth_agents_create_info.
struct AgentsOptions {
    std::span<const std::byte> manifest = {};  ///< AgentManifest::save(); empty: the package's
    /// AgentSpec::save() of the schema that the game was built for; a different one is an error.
    std::span<const std::byte> schema = {};
    const char* name = nullptr;  ///< for debug labels and messages
    uint32_t frames_in_flight = 3;
    uint32_t max_snapshots = 3;         ///< newest snapshots to keep, besides the initial weights
    uint32_t snapshot_interval = 3600;  ///< records between automatic snapshots; 0: none
    /// Decisions per window of `is_plateaued` and `reward_shift_detected`; 0: not computed.
    uint32_t progress_window = 225;
    /// Learning has its own command buffers, for a second queue.
    bool use_separate_learning_queue = false;
    uint32_t learning_queue_family = HEARTH_QUEUE_FAMILY_SAME;
    uint64_t max_host_bytes = 0;  ///< CPU memory; 0: a limit that grows with the program's weights
    bool enable_saved_games = false;  ///< save_game() works
    /// Parameters of episodes and their lessons as JSON (docs/reference/curriculum.md).
    std::string_view curriculum = {};
};

/// Names of metrics and counters, such as "kl" and "samples_rejected"; "" if out of range.
inline std::string_view metric_name(uint32_t index) {
    const char* const name = hearth_agents_metric_name(index);
    return name == nullptr ? std::string_view() : name;
}
inline std::string_view counter_name(uint32_t index) {
    const char* const name = hearth_agents_counter_name(index);
    return name == nullptr ? std::string_view() : name;
}

struct Finding;

/// Owns a hearth_agents.  Move-only; destroying it is allowed at any time, as with Session.
class Agents {
  public:
    /// Errors: those of hearth_agents_create; for a different schema the error names the field.
    static Result<Agents> create(const Context& context, const LoadedProgram& program,
                                 const AgentsOptions& options = {}) {
        hearth_agents_create_info info = hearth_agents_create_info_default();
        info.program = program.handle();
        if (!options.manifest.empty()) info.manifest = options.manifest.data();
        info.manifest_bytes = options.manifest.size();
        if (!options.schema.empty()) info.schema = options.schema.data();
        info.schema_bytes = options.schema.size();
        info.name = options.name;
        info.frames_in_flight = options.frames_in_flight;
        info.max_snapshots = options.max_snapshots;
        info.snapshot_interval = options.snapshot_interval;
        info.progress_window = options.progress_window;
        info.curriculum = options.curriculum.data();
        info.curriculum_bytes = options.curriculum.size();
        info.use_separate_learning_queue = options.use_separate_learning_queue ? 1u : 0u;
        info.learning_queue_family = options.learning_queue_family;
        info.max_host_bytes = options.max_host_bytes;
        info.enable_saved_games = options.enable_saved_games ? 1u : 0u;
        hearth_agents* agents = nullptr;
        hearth_messages messages{};
        const hearth_result result =
            hearth_agents_create(context.handle(), &info, &agents, &messages);
        if (result != HEARTH_OK) return to_status(result, messages.text);
        return Agents(agents);
    }
    /// manifest: AgentManifest::save().
    static Result<Agents> create(const Context& context, const LoadedProgram& program,
                                 std::span<const std::byte> manifest,
                                 uint32_t frames_in_flight = 3) {
        return create(context, program,
                      AgentsOptions{.manifest = manifest, .frames_in_flight = frames_in_flight});
    }
    Agents() = default;
    Agents(Agents&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Agents& operator=(Agents&& other) noexcept {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Agents() { hearth_agents_destroy(handle_); }

    hearth_agents* handle() const { return handle_; }
    /// The session, for pipelines, brains and variables.
    hearth_session* session() const { return hearth_agents_get_session(handle_); }
    /// Creates all pipelines on the calling thread, which can take seconds.
    Status create_pipelines() {
        const hearth_result result = hearth_session_create_pipelines(session(), 0);
        return result >= 0 ? Status() : to_status(result, hearth_session_error(session()));
    }

    Result<AgentId> add() {
        AgentId id{};
        HEARTH_TRY(check(hearth_agents_add(handle_, &id)));
        return id;
    }
    Status remove(AgentId id) { return check(hearth_agents_remove(handle_, id)); }
    uint32_t count() const { return hearth_agents_count(handle_); }
    /// Maximum number of agents.
    uint32_t capacity() const { return hearth_agents_capacity(handle_); }

    /// Offset and size, in floats, of a field in an observation.
    struct FieldRange {
        uint32_t offset = 0, size = 0;
    };
    /// Floats of an observation and of an action.
    uint32_t observation_size() const { return hearth_agents_observation_size(handle_); }
    uint32_t action_size() const { return hearth_agents_action_size(handle_); }
    uint32_t action_mask_size() const { return hearth_agents_action_mask_size(handle_); }
    /// Shares of the samples in which float `index` of the observation was at a limit; see
    /// hearth_agents_observation_limits.
    struct ObservationLimits {
        float clamped = 0, unresolved = 0;
    };
    ObservationLimits observation_limits(uint32_t index) const {
        ObservationLimits limits;
        (void)hearth_agents_observation_limits(handle_, index, &limits.clamped, &limits.unresolved);
        return limits;
    }
    /// Values of float `index` of the observations that agents decided by; see
    /// hearth_agents_observation_range.
    struct ObservationRange {
        float low = std::numeric_limits<float>::infinity();
        float high = -std::numeric_limits<float>::infinity();
        uint64_t non_finite_count = 0;
        bool is_constant() const { return low == high; }
    };
    ObservationRange observation_range(uint32_t index) const {
        ObservationRange range;
        (void)hearth_agents_observation_range(handle_, index, &range.low, &range.high,
                                              &range.non_finite_count);
        return range;
    }
    /// Name of a float of an observation or action, such as "enemies[2]/place.x"; "" if the
    /// index is out of range.  Valid until the next call of either.
    std::string_view observation_name(uint32_t index) const {
        return hearth_agents_observation_name(handle_, index);
    }
    std::string_view action_name(uint32_t index) const {
        return hearth_agents_action_name(handle_, index);
    }
    /// Hash of the spec: equal for equal specs on every platform.
    uint64_t schema_hash() const { return hearth_agents_schema_hash(handle_); }
    /// Finds a field by path, such as "enemies/place".
    Result<FieldRange> find_observation(const char* path) {
        FieldRange f;
        HEARTH_TRY(check(hearth_agents_find_observation(handle_, path, &f.offset, &f.size)));
        return f;
    }
    /// Finds an action by name.
    Result<FieldRange> find_action(const char* name) {
        FieldRange f;
        HEARTH_TRY(check(hearth_agents_find_action(handle_, name, &f.offset, &f.size)));
        return f;
    }
    /// The observation buffer of an agent, to be filled before record(); empty for a stale id.
    std::span<float> observation(AgentId id) {
        float* const values = hearth_agents_observation(handle_, id);
        return {values, values == nullptr ? 0 : hearth_agents_observation_size(handle_)};
    }
    /// The action mask of an agent; null for a stale id or if no action is maskable.
    float* action_mask(AgentId id) { return hearth_agents_action_mask(handle_, id); }
    /// Adds to the reward of the agent's last decision.
    Status add_reward(AgentId id, float amount) {
        return check(hearth_agents_add_reward(handle_, id, amount));
    }
    /// Ends the agent's episode.
    /// final_observation  the last observation of the episode; empty: the observation as it is now
    /// final_action_mask  the action mask that belongs to it; empty: the mask as it is now
    Status end_episode(AgentId id, EpisodeEnd episode_end,
                       std::span<const float> final_observation = {},
                       std::span<const float> final_action_mask = {}) {
        return check(hearth_agents_end_episode(
            handle_, id, static_cast<hearth_agents_episode_end>(episode_end),
            final_observation.empty() ? nullptr : final_observation.data(),
            final_action_mask.empty() ? nullptr : final_action_mask.data()));
    }
    /// Adds to the score that `is_plateaued` and `reward_shift_detected` monitor; until it is
    /// called they use rewards.
    Status report_score(float amount) { return check(hearth_agents_report_score(handle_, amount)); }
    /// Adds a demonstration by the game itself.
    Status add_demonstration(AgentId id, std::span<const float> action) {
        return check(hearth_agents_add_demonstration(handle_, id, action.data()));
    }
    /// Adds a demonstration by one of several people.
    /// demonstrator  numbered from 1; 0: the game itself
    Status add_demonstration(AgentId id, std::span<const float> action, uint32_t demonstrator) {
        return check(
            hearth_agents_add_demonstration_from(handle_, id, action.data(), demonstrator));
    }

    /// Takes over the newest actions and status.  Call it after Context::begin_frame().
    void poll() { hearth_agents_poll(handle_); }
    /// The newest action; empty if none has arrived yet, and for a stale id.
    std::span<const float> action(AgentId id) const {
        const float* const values = hearth_agents_action(handle_, id);
        return {values, values == nullptr ? 0 : hearth_agents_action_size(handle_)};
    }

    /// Records one frame.  Returns false if pipelines are still being built; nothing was recorded
    /// then.
    Result<bool> record(VkCommandBuffer commands, const RecordOptions& frame = {}) {
        hearth_agents_record_info info = hearth_agents_record_info_default();
        info.command_buffer = commands;
        info.learning_budget_us = frame.learning_budget_us;
        info.priority = frame.priority;
        info.exploration = frame.exploration;
        info.request_decision = frame.request_decision ? 1u : 0u;
        info.max_decision_frames = frame.max_decision_frames;
        info.inputs = frame.inputs.data();
        info.input_count = static_cast<uint32_t>(frame.inputs.size());
        info.indirect_agent_count_buffer = frame.indirect_agent_count_buffer;
        info.learning_command_buffer = frame.learning_command_buffer;
        const hearth_result result = hearth_agents_record(handle_, &info);
        if (result == HEARTH_NOT_READY) return false;
        HEARTH_TRY(check(result));
        return true;
    }
    /// Sets a tunable hyperparameter of the learner.
    Status set_hyperparameter(const char* name, double value) {
        return check(hearth_agents_set_hyperparameter(handle_, name, value));
    }
    /// Shrinks and perturbs the weights; see hearth_agents_shrink_and_perturb.
    Status shrink_and_perturb(double strength) {
        return check(hearth_agents_shrink_and_perturb(handle_, strength));
    }
    /// Finishes the update in progress regardless of the budget, for loading screens.
    void finish_update() { hearth_agents_finish_update(handle_); }
    /// Returns the binding of an input of the entry frame, for RecordOptions::inputs.
    Result<uint32_t> find_input(const char* name) {
        uint32_t binding = 0;
        HEARTH_TRY(check(hearth_agents_find_input(handle_, name, &binding)));
        return binding;
    }

    // Snapshots.  Index 0 is the newest; HEARTH_AGENTS_INITIAL_WEIGHTS: the initial values.
    /// Requests a snapshot.
    Status take_snapshot() { return check(hearth_agents_take_snapshot(handle_)); }
    uint32_t snapshot_count() const { return hearth_agents_snapshot_count(handle_); }
    /// Restores a snapshot of these agents with the next record.
    Status restore_snapshot(uint32_t snapshot = 0) {
        return check(hearth_agents_restore_snapshot(handle_, snapshot));
    }
    /// Loads a snapshot of other agents of the same program with the next record, e.g. for
    /// opponents.
    Status load_snapshot(const Agents& from, uint32_t snapshot) {
        return check(hearth_agents_load_snapshot(handle_, from.handle_, snapshot));
    }
    /// Resets the brain to its initial values and erases all snapshots.
    void reset_brain() { hearth_agents_reset_brain(handle_); }
    /// Stops learning until called with false; agents keep acting.
    void freeze(bool frozen) { hearth_agents_freeze(handle_, frozen ? 1u : 0u); }
    /// Copies a snapshot's bytes, for saving to a file.  Works from the first frame on; see
    /// hearth_agents_save.
    Result<std::vector<std::byte>> save(uint32_t snapshot = 0) const {
        return copy([&](void* out, uint64_t* bytes) {
            return hearth_agents_save(handle_, snapshot, out, bytes);
        });
    }
    /// As save(), but only the acting weights and the statistics of observations and rewards.
    Result<std::vector<std::byte>> save_weights(uint32_t snapshot = 0) const {
        return copy([&](void* out, uint64_t* bytes) {
            return hearth_agents_save_weights(handle_, snapshot, out, bytes);
        });
    }
    /// Requests a saved game, with replay buffers and agents; see hearth_agents_save_game.
    Status save_game() { return check(hearth_agents_save_game(handle_)); }
    /// The saved game, for load(); empty: it has not arrived yet.
    Result<std::vector<std::byte>> saved_game() const {
        return copy([&](void* out, uint64_t* bytes) {
            return hearth_agents_get_saved_game(handle_, out, bytes);
        });
    }
    /// Validates a brain, which the next record loads.  For another schema the error names the
    /// field.
    Status load(std::span<const std::byte> brain) {
        return check(hearth_agents_load(handle_, brain.data(), brain.size(), nullptr));
    }

    /// Status as of the last poll().
    AgentsStatus status() const {
        AgentsStatus status{hearth_agents_status_default()};
        (void)hearth_agents_get_status(handle_, &status);
        return status;
    }
    /// Adds a value to a metric of the game's own, such as "catches": run logs hold the mean of each
    /// period as "game/catches".  See hearth_agents_log.
    Status log(const char* name, double value) {
        return check(hearth_agents_log(handle_, name, value));
    }
    /// The game's own metrics since restart_custom_metrics().
    std::vector<hearth_agents_custom_metric> custom_metrics() const {
        std::vector<hearth_agents_custom_metric> all(hearth_agents_custom_metric_count(handle_));
        for (uint32_t i = 0; i < all.size(); ++i)
            (void)hearth_agents_get_custom_metric(handle_, i, &all[i]);
        return all;
    }
    /// Begins the next period; run_log_sample() does.
    void restart_custom_metrics() { hearth_agents_restart_custom_metrics(handle_); }
    /// The value of a parameter of the curriculum for an episode that begins.  See
    /// hearth_agents_get_parameter.
    Result<double> parameter(const char* name) {
        double value = 0;
        HEARTH_TRY(check(hearth_agents_get_parameter(handle_, name, &value)));
        return value;
    }
    /// What agents see and choose, for drawing.
    std::vector<hearth_agents_field> fields() const {
        std::vector<hearth_agents_field> all(hearth_agents_field_count(handle_));
        for (uint32_t i = 0; i < all.size(); ++i)
            (void)hearth_agents_get_field(handle_, i, &all[i]);
        return all;
    }
    /// The critic's value behind the agent's newest action.  Errors: hearth_agents_get_value.
    Result<float> value(AgentId agent) const {
        float value = 0;
        const hearth_result result = hearth_agents_get_value(handle_, agent, &value);
        if (result != HEARTH_OK) return to_status(result, hearth_agents_error(handle_));
        return value;
    }
    /// Where each parameter of the curriculum is.
    std::vector<hearth_agents_lesson> lessons() const {
        std::vector<hearth_agents_lesson> all(hearth_agents_parameter_count(handle_));
        for (uint32_t i = 0; i < all.size(); ++i)
            (void)hearth_agents_get_lesson(handle_, i, &all[i]);
        return all;
    }
    /// What keeps these agents from learning, as of the last poll; `hearth doctor` also knows the
    /// curves of a run.  Include <hearth/agents/diagnose.hpp>.
    std::vector<Finding> diagnose() const;

  private:
    explicit Agents(hearth_agents* handle) : handle_(handle) {}
    Status check(hearth_result result) const {
        return result >= 0 ? Status() : to_status(result, hearth_agents_error(handle_));
    }
    template <class CopyTo>
    Result<std::vector<std::byte>> copy(CopyTo copy_to) const {
        uint64_t bytes = 0;
        const hearth_result result = copy_to(nullptr, &bytes);
        if (result == HEARTH_NOT_READY) return std::vector<std::byte>();
        HEARTH_TRY(check(result));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(check(copy_to(out.data(), &bytes)));
        out.resize(bytes);
        return out;
    }
    hearth_agents* handle_ = nullptr;
};

}  // namespace hearth::agents
