// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implementation of hearth_agents.h on top of hearth.h: packs the living agents into a dense batch
// and schedules what each frame records. Inputs are passed by value and results are read back from
// state variables, so it owns no buffers.
//
//   setup.cpp    finds the program's entries and allocates
//   record.cpp   what a frame records, in which order, within which budget
//   apart.cpp    learning on a queue of its own: a second session, and which queue uses it
//   weights.cpp  snapshots and rollback to them
//   agents.cpp   the C interface

#pragma once

#include "core/cost_meter.hpp"
#include "core/fixed_text.hpp"
#include "core/handle_tag.hpp"
#include "device/agents/progress.hpp"

#include <hearth/agents/manifest.hpp>
#include <hearth/agents/status.hpp>
#include <hearth/hearth_agents.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace hearth::agents {

inline constexpr uint32_t kMostSources = 1u << 24;  ///< exact integers of an f32
inline constexpr uint32_t kMostItemsPerFrame = 8;
inline constexpr uint32_t kMostRecordings = kMostItemsPerFrame + 5;  ///< recordings per frame

hearth_result result_of(const Status& status);

/// Time budget per frame of all learning slices: half of learn_us, all of it, or twice as much.
inline double budget_us(double learn_us, hearth_agents_priority preference) {
    return preference == HEARTH_AGENTS_PRIORITY_GRAPHICS   ? learn_us / 2
           : preference == HEARTH_AGENTS_PRIORITY_LEARNING ? learn_us * 2
                                                           : learn_us;
}

/// hearth_record_info::occupancy_priority for learning: the low and high values of
/// VK_NV_compute_occupancy_priority, or 0 to keep the priority that the application has set.
inline float occupancy_priority(hearth_agents_priority preference) {
    return preference == HEARTH_AGENTS_PRIORITY_GRAPHICS   ? 0.25f
           : preference == HEARTH_AGENTS_PRIORITY_LEARNING ? 0.75f
                                                           : 0.0f;
}

/// An input of an entry and the location of its values.
struct Source {
    uint32_t binding = 0;
    const void* data = nullptr;
    uint64_t bytes_fixed = 0, bytes_per_row = 0;
    std::string name;
};

/// An entry with all its inputs.
struct Role {
    bool exists = false;
    bool is_learners = false;  ///< recorded on the learner's session
    uint32_t entry = 0;
    uint32_t dispatches = 1, steps = 1;
    std::vector<Source> sources;
    std::vector<CostMeter::Command> step_costs;  ///< input of `cost`
    CostMeter cost;
};

struct Agent {
    uint32_t generation = 0;
    bool is_alive = false;
    bool is_leaving = false;
    bool has_decided = false;  ///< has a decision for the next transition to complete
    /// A person has controlled the agent since its last decision (PPO): the policy's action was not
    /// executed, so the transition is no sample.
    bool is_possessed = false;
    float reward = 0;
    float end = 0;
    uint64_t first_frame = 0;  ///< frame of its first decision
};

/// A serialized brain in a buffer allocated once, when the agents are created.
struct Brain {
    std::vector<std::byte> bytes;
    uint64_t size = 0;
};

}  // namespace hearth::agents

/// HandleTag must be the first base: hearth_agents_* use it to reject pointers that are no handle.
struct hearth_agents : hearth::HandleTag<0x48414754> {
    using AgentManifest = hearth::agents::AgentManifest;
    using Agent = hearth::agents::Agent;
    using Brain = hearth::agents::Brain;
    using Role = hearth::agents::Role;

    AgentManifest manifest;
    uint64_t schema_hash = 0;
    std::vector<std::byte> host_data;  ///< application data inside brains: see weights.cpp
    const hearth_program* program = nullptr;
    hearth_session* session = nullptr;
    uint32_t capacity = 0;

    // Session for learning: the acting session, or one of its own (apart.cpp).
    enum class Turn : uint8_t { kActing, kToLearning, kLearning, kToActing };
    hearth_session* learner = nullptr;
    hearth_context* context = nullptr;
    uint32_t learn_queue_family = 0;
    Turn turn = Turn::kActing;                 ///< owner of the learner's session, or the next
    uint64_t turn_frame_number = 0;            ///< frame number of the hand-over
    VkCommandBuffer learn_commands = nullptr;  ///< learning queue's, for this frame
    std::vector<uint32_t> sampled_variables, learned_variables;
    std::vector<std::string> taken_variables;  ///< sampled ones that learning writes, too
    bool is_apart() const { return learner != session; }
    size_t seen = 0, frame_seen = 0, masked = 0, acted = 0;  ///< floats per agent
    bool has_memory = false;

    std::vector<Agent> agents;
    std::vector<float> observations, masks, finals;  ///< per agent; frame stack included
    /// State of each agent's newest demonstration that is not recorded yet. kSeen: its observation
    /// and mask are captured, too.
    enum class Shown : uint8_t { kNothing, kGiven, kSeen };
    std::vector<float> demonstrations, demonstrated_by, demonstrated_observations,
        demonstrated_masks;
    std::vector<Shown> shown;
    bool has_sources = false;  ///< `store` has an input for the demonstrator
    std::vector<uint8_t> has_final;
    uint32_t alive = 0;

    // Inputs of the decision being recorded, packed by batch index.
    std::vector<uint32_t> row_id, row_generation;
    std::vector<uint8_t> row_is_leaving;
    std::vector<float> row_observation, row_mask, row_reward, row_end, row_begins, row_final;
    std::vector<float> row_demonstration, row_demonstrated_observation, row_demonstrated_mask;
    std::vector<float> row_source;
    float explore = 1, strength = 0;

    Role frame, prepare, learn, publish, adapt;
    Role store;  ///< for demonstrations
    std::vector<hearth_tensor_binding> bound;
    uint32_t action_variable = 0, status_variable = 0;

    // The decision in progress: one that is not completely recorded yet.
    bool is_deciding = false;
    hearth_run_cursor frame_cursor{};
    uint32_t frame_rows = 0;
    std::vector<hearth_tensor_binding> frame_inputs;  ///< bound by the application
    uint32_t frame_input_count = 0;
    hearth_tensor_binding frame_row_count{};
    bool has_row_count = false;
    uint32_t frames_left = 1;     ///< remaining, of the latency that the application allows
    bool has_transition = false;  ///< it stores a transition

    // Learning.
    bool is_learning = false, wants_adapt = false, wants_flush = false;
    uint32_t collected = 0, items_left = 0, since_publication = 0;
    bool needs_prepare =
        false;  ///< is_learning, but advantages (`prepare`) are not completely recorded yet
    hearth_run_cursor cursor{}, prepare_cursor{};
    std::vector<float> hyperparameters;       ///< as set by the application
    std::vector<float> item_hyperparameters;  ///< of the minibatch being recorded
    double tokens_us = 0;
    double publish_us = 0;       ///< cost of the last publication
    double frame_budget_us = 0;  ///< of the last frame
    hearth_agents_priority preference =
        HEARTH_AGENTS_PRIORITY_BALANCED;  ///< of the last frame, too
    double caution = 1;                   ///< divisor applied to the budget when planning
    uint64_t learn_frame_number = 0;      ///< newest frame number with measured times
    double learn_frame_number_us = 0;     ///< learning time in that frame
    uint64_t learn_frames = 0, learn_frames_over = 0;

    // Snapshots and loading.
    bool is_frozen = false, is_closing = false;  ///< closing: last samples pending
    std::vector<Brain> snapshots;  ///< ring buffer, newest first from snapshot_begin on
    uint32_t snapshot_begin = 0, snapshot_count = 0, snapshot_period = 0;
    uint64_t records_since_snapshot = 0;
    bool wants_snapshot = false, is_snapshot_due = false;
    uint64_t snapshots_taken = 0;
    hearth_readback snapshot = 0;  ///< readback in flight
    uint32_t snapshot_collected = 0;
    Brain pending;  ///< to be loaded by the next record()
    bool wants_load = false, wants_factory = false;
    uint32_t waits = 0;               ///< frames spent waiting for upload space
    uint64_t first_sound_frame = 0;   ///< first frame whose status belongs to the current weights
    bool knows_publications = false;  ///< refused_publications is valid for the current weights
    uint64_t refused_publications = 0, rollbacks = 0, snapshots_refused = 0;

    // Readbacks.
    struct Readback {
        hearth_readback actions = 0, status = 0;
        uint64_t frame = 0;
    };
    std::vector<Readback> readbacks;
    size_t readback_begin = 0, readback_count = 0;
    std::vector<float> actions;
    uint64_t actions_frame = 0;
    std::array<uint32_t, hearth::agents::kStatusWords> status{};
    uint64_t status_frame_number = 0;
    uint64_t frames = 0, windows = 0, rewards_refused = 0;

    hearth::agents::ProgressMonitor progress;
    double score = 0;
    bool has_scores = false;

    mutable hearth::FixedText<512> error;
    mutable std::string shown_name;

    Agent* find(hearth_agent a) {
        if (a.index >= agents.size()) return nullptr;
        Agent& agent = agents[a.index];
        return agent.is_alive && !agent.is_leaving && agent.generation == a.generation ? &agent
                                                                                       : nullptr;
    }
    /// False for a frozen brain without recurrent state: every decision then looks like an agent's
    /// first.
    bool stores() const { return !is_frozen || is_closing || has_memory; }
    const Agent* find(hearth_agent a) const { return const_cast<hearth_agents*>(this)->find(a); }
    hearth_result stale(hearth_agent a) const {
        error.set("agent %u of generation %u does not exist", a.index, a.generation);
        return HEARTH_ERROR_NOT_FOUND;
    }

    // setup.cpp
    hearth_result set_up(hearth_context* context, const hearth_agents_create_info& info,
                         std::string& why);
    hearth_result find_role(const char* name, bool is_needed, Role& role, std::string& why);
    const float* source_of(std::string_view name) const;

    // record.cpp
    hearth_result record(const hearth_agents_record_info& info);
    hearth_result run(VkCommandBuffer commands, const Role& role, uint64_t rows,
                      hearth_run_cursor* at = nullptr, hearth::Limits limits = {});
    hearth_result begin_frame(const hearth_agents_record_info& info);
    hearth_result record_frame(VkCommandBuffer commands);
    void take_over();
    void end_frame();
    hearth_result record_demonstrations(VkCommandBuffer commands);
    hearth_result record_learning(VkCommandBuffer commands, bool may_learn, bool has_samples);
    hearth_result record_prepare(VkCommandBuffer commands, bool is_whole);
    hearth_result record_items(VkCommandBuffer commands);
    void count_learning(uint64_t frame_number, double us);
    static hearth::Limits slice_limits(const hearth::CostMeter& cost, const hearth_run_cursor& at,
                                       double us);
    bool is_publication_next() const;
    void be_cautious(bool was_over);
    double unit_us() const;
    void read_back(VkCommandBuffer commands);
    void poll();
    void measure();
    uint32_t fill_rows();

    // apart.cpp
    hearth_result set_up_apart(const hearth_agents_create_info& info,
                               const hearth_session_create_info& create, std::string& why);
    std::vector<uint32_t> variables_written_by(std::initializer_list<const Role*> roles) const;
    hearth_result record_turn(VkCommandBuffer commands);
    hearth_result transfer(VkCommandBuffer commands, bool to_learning);
    hearth_result hand_over(VkCommandBuffer commands, Turn to);
    hearth_result hand_samples_over(VkCommandBuffer commands);
    hearth_result publish_to_acting(VkCommandBuffer commands);
    hearth_result call_back_learner();
    bool has_arrived() const;

    // weights.cpp
    hearth_result allocate_snapshots(const hearth_agents_create_info& info, std::string& why);
    hearth_result record_wishes(VkCommandBuffer commands);
    hearth_result record_snapshot(VkCommandBuffer commands);
    void poll_snapshot();
    void look_at_publications(uint64_t frame_of_status);
    hearth_result load(const void* bytes, uint64_t byte_count, hearth_messages* report);
    hearth_result load_snapshot(const hearth_agents& from, uint32_t index);
    void begin_anew(uint32_t samples);
    const Brain* snapshot_at(uint32_t index) const {
        if (index >= snapshot_count) return nullptr;
        return &snapshots[(snapshot_begin + index) % snapshots.size()];
    }
};
