// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// hearth_agents.h for C++20: a move-only handle, spans and Results.  Header-only; adds nothing to the
// ABI.  What hearth_agents.h says of threads, order and lifetime holds here.
//
//     HEARTH_ASSIGN(Agents agents, Agents::create(context, program, manifest));
//     HEARTH_ASSIGN(const AgentId fox, agents.add());
//     for each frame:
//         agents.poll();
//         if (const auto action = agents.action(fox); !action.empty()) move(action);
//         agents.observe(fox)[0] = ...;
//         agents.reward(fox, 0.3f);
//         agents.record(commands, {.learn_us = 500});

#pragma once

#include <hearth/agents/status.hpp>
#include <hearth/hearth_agents.h>
#include <hearth/hearth_runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hearth::agents {

using AgentId = hearth_agent;

enum class Ending { kOver = HEARTH_AGENTS_OVER, kCutOff = HEARTH_AGENTS_CUT_OFF };

/// How a frame is recorded.
struct AgentsFrame {
    double learn_us = 500;  ///< GPU time for learning; 0: none
    hearth_agents_preference preference = HEARTH_AGENTS_BALANCED;
    float explore = 1;   ///< 1 samples, 0 takes the likeliest; DQN, praise: the part of random ones
    bool decide = true;  ///< false: agents only learn
    /// Frames that a decision may be spread over; HEARTH_AGENTS_WHENEVER: as learn_us leaves time.
    uint32_t decide_within = 1;
    std::span<const hearth_bound> inputs;      ///< the game's own buffers; see Agents::find_input
    const hearth_bound* row_count = nullptr;   ///< the GPU decides how many decide
    VkCommandBuffer learn_commands = nullptr;  ///< with AgentsOptions::learns_apart
};

/// How agents are doing, as of the last poll.
struct AgentsStatus : hearth_agents_status {
    float operator[](Diagnostic d) const { return diagnostics[static_cast<size_t>(d)]; }
    uint64_t operator[](Counter c) const { return counters[static_cast<size_t>(c)]; }
};

/// How agents are made.
struct AgentsOptions {
    std::span<const std::byte> manifest;  ///< AgentManifest::save(); empty: that of the package
    /// AgentSchema::save() of what the game was written for; another is refused.
    std::span<const std::byte> schema;
    const char* name = nullptr;  ///< for debug labels and messages
    uint32_t frames_in_flight = 3;
    uint32_t snapshot_count = 3;  ///< newest ones that are kept, besides the factory's
    uint32_t snapshot_period =
        3600;  ///< records between those that are taken by themselves; 0: none
    uint32_t watched_decisions = 225;  ///< that "stuck" and "rules changed" average; 0: no watch
    bool learns_apart = false;  ///< learning has command buffers of its own, for another queue
    uint32_t learn_queue_family = HEARTH_QUEUE_FAMILY_SAME;
};

class Agents {
  public:
    /// Errors: those of hearth_agents_create; a schema that differs is named by field.
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
        info.snapshot_count = options.snapshot_count;
        info.snapshot_period = options.snapshot_period;
        info.watched_decisions = options.watched_decisions;
        info.learns_apart = options.learns_apart ? 1u : 0u;
        info.learn_queue_family = options.learn_queue_family;
        hearth_agents* agents = nullptr;
        hearth_report report{};
        const hearth_result result =
            hearth_agents_create(context.handle(), &info, &agents, &report);
        if (result != HEARTH_OK) return to_status(result, report.text);
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
    /// For pipelines, brains and slots.
    hearth_session* session() const { return hearth_agents_get_session(handle_); }
    /// Builds all pipelines here and now.
    Status build() {
        const hearth_result result = hearth_session_build(session(), 0);
        return result >= 0 ? Status() : to_status(result, hearth_session_error(session()));
    }

    Result<AgentId> add() {
        AgentId id{};
        HEARTH_TRY(check(hearth_agents_add(handle_, &id)));
        return id;
    }
    Status remove(AgentId id) { return check(hearth_agents_remove(handle_, id)); }
    uint32_t count() const { return hearth_agents_count(handle_); }

    /// Where a field is in an observation: "enemies/place".
    struct Field {
        uint32_t begin = 0, width = 0;
    };
    Result<Field> find(const char* path) {
        Field f;
        HEARTH_TRY(check(hearth_agents_find_field(handle_, path, &f.begin, &f.width)));
        return f;
    }
    /// Empty for a stale id.
    std::span<float> observe(AgentId id) {
        float* const values = hearth_agents_observation(handle_, id);
        return {values, values == nullptr ? 0 : hearth_agents_observation_width(handle_)};
    }
    float* mask(AgentId id) { return hearth_agents_mask(handle_, id); }
    Status reward(AgentId id, float amount) {
        return check(hearth_agents_reward(handle_, id, amount));
    }
    /// final_observation: what was seen last; empty: the observation as it is now.
    Status end(AgentId id, Ending ending, std::span<const float> final_observation = {}) {
        return check(
            hearth_agents_end(handle_, id, static_cast<hearth_agents_ending>(ending),
                              final_observation.empty() ? nullptr : final_observation.data()));
    }
    /// What is watched for "stuck" and "rules changed", once it was called; otherwise rewards are.
    Status score(float amount) { return check(hearth_agents_score(handle_, amount)); }
    /// source: which of several people it was, from 1; 0: the game itself.
    Status demonstrate(AgentId id, std::span<const float> action, uint32_t source = 0) {
        return check(hearth_agents_demonstrate_as(handle_, id, action.data(), source));
    }

    void poll() { hearth_agents_poll(handle_); }
    /// Empty while none has arrived, and for a stale id.
    std::span<const float> action(AgentId id) const {
        const float* const values = hearth_agents_action(handle_, id);
        return {values, values == nullptr ? 0 : hearth_agents_action_width(handle_)};
    }

    /// False: pipelines are still being built, and nothing was recorded.
    Result<bool> record(VkCommandBuffer commands, const AgentsFrame& frame = {}) {
        hearth_agents_record_info info = hearth_agents_record_info_default();
        info.command_buffer = commands;
        info.learn_us = frame.learn_us;
        info.preference = frame.preference;
        info.explore = frame.explore;
        info.decide = frame.decide ? 1u : 0u;
        info.decide_within = frame.decide_within;
        info.inputs = frame.inputs.data();
        info.input_count = static_cast<uint32_t>(frame.inputs.size());
        info.row_count = frame.row_count;
        info.learn_command_buffer = frame.learn_commands;
        const hearth_result result = hearth_agents_record(handle_, &info);
        if (result == HEARTH_NOT_READY) return false;
        HEARTH_TRY(check(result));
        return true;
    }
    Status set(const char* setting, double value) {
        return check(hearth_agents_set(handle_, setting, value));
    }
    Status adapt(double strength) { return check(hearth_agents_adapt(handle_, strength)); }
    void flush() { hearth_agents_flush(handle_); }
    /// The binding of an input of the entry frame, for AgentsFrame::inputs.
    Result<uint32_t> find_input(const char* name) {
        uint32_t binding = 0;
        HEARTH_TRY(check(hearth_agents_find_input(handle_, name, &binding)));
        return binding;
    }

    // What was learned.  Snapshot 0 is the newest; HEARTH_AGENTS_FACTORY the program's first contents.
    Status keep() { return check(hearth_agents_keep(handle_)); }
    uint32_t snapshot_count() const { return hearth_agents_snapshot_count(handle_); }
    Status rewind(uint32_t snapshot = 0) { return check(hearth_agents_rewind(handle_, snapshot)); }
    /// The next record loads a snapshot of other agents, of the same program: opponents, say.
    Status load_snapshot(const Agents& from, uint32_t snapshot) {
        return check(hearth_agents_load_snapshot(handle_, from.handle_, snapshot));
    }
    void forget() { hearth_agents_forget(handle_); }
    void freeze(bool frozen) { hearth_agents_freeze(handle_, frozen ? 1u : 0u); }
    /// A snapshot's bytes, for a file.
    Result<std::vector<std::byte>> save(uint32_t snapshot = 0) const {
        uint64_t bytes = 0;
        HEARTH_TRY(check(hearth_agents_save(handle_, snapshot, nullptr, &bytes)));
        std::vector<std::byte> out(bytes);
        HEARTH_TRY(check(hearth_agents_save(handle_, snapshot, out.data(), &bytes)));
        return out;
    }
    /// Of another schema: an error that names the field.
    Status load(std::span<const std::byte> brain) {
        return check(hearth_agents_load(handle_, brain.data(), brain.size(), nullptr));
    }

    AgentsStatus status() const {
        AgentsStatus status{hearth_agents_status_default()};
        (void)hearth_agents_get_status(handle_, &status);
        return status;
    }

  private:
    explicit Agents(hearth_agents* handle) : handle_(handle) {}
    Status check(hearth_result result) const {
        return result >= 0 ? Status() : to_status(result, hearth_agents_error(handle_));
    }
    hearth_agents* handle_ = nullptr;
};

}  // namespace hearth::agents
