// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Implementation of hearth_agents.h on top of hearth.h.  Inputs are passed by value and results are
// read back from state variables, so it owns no buffers.  What happens is decided by six classes
// that know no device:
//
//   roster.hpp     which agents live
//   rollout.hpp    what the game says of them, and the batch of a decision (demonstrations.hpp)
//   updates.hpp    when to learn (learning_budget.hpp: for how long)
//   snapshots.hpp  the newest snapshots of the brain
//   exchange.hpp   weights to be loaded
//   readbacks.hpp  actions and status on their way
//   curriculum.hpp parameters of episodes
//
// and recorded by the driver:
//
//   create.cpp        compares the program with the manifest, then allocates
//   driver.cpp        what a frame records, in order; decisions and demonstrations
//   learning.cpp      updates, within the budget
//   brains.cpp        loads, snapshots, rollback, saved games
//   second_queue.cpp  learning on a queue of its own
//   c_agents.cpp      the C interface

#pragma once

#include "core/alloc.hpp"
#include "core/fixed_text.hpp"
#include "core/handle_tag.hpp"
#include "device/agents/call_guard.hpp"
#include "device/agents/curriculum.hpp"
#include "device/agents/custom_metrics.hpp"
#include "device/agents/demonstrations.hpp"
#include "device/agents/entries.hpp"
#include "device/agents/exchange.hpp"
#include "device/agents/frozen_returns.hpp"
#include "device/agents/learning_budget.hpp"
#include "device/agents/progress.hpp"
#include "device/agents/readbacks.hpp"
#include "device/agents/rollout.hpp"
#include "device/agents/roster.hpp"
#include "device/agents/saved_game.hpp"
#include "device/agents/second_queue.hpp"
#include "device/agents/snapshots.hpp"
#include "device/agents/updates.hpp"
#include "program/agent_manifest_view.hpp"

#include <hearth/hearth_agents.h>

#include <cstdint>
#include <span>

namespace hearth::agents {

inline constexpr uint32_t kMaxMinibatchesPerFrame = 8;
/// Minibatches and additions of samples per frame.
inline constexpr uint32_t kMaxLearningRecordings = 2 * kMaxMinibatchesPerFrame;
inline constexpr uint32_t kMaxRecordings = 2 * kMaxLearningRecordings + 5;  ///< per frame

hearth_result result_of(StatusCode code);

/// The manifest, owned, and what it says of the program.
struct Description {
    Array<std::byte> bytes;
    AgentManifestView manifest;
    uint64_t schema_hash = 0;
    Sizes sizes;
    bool has_memory = false;         ///< recurrent state
    bool has_limits = false;         ///< the program counts observations at their limits
    bool has_recent = false;         ///< counters in agents.recent
    bool has_values = false;         ///< the critic's values in last.value
    bool has_demonstrators = false;  ///< demonstrations name their demonstrator
    uint32_t action_variable = 0, status_variable = 0, recent_variable = 0, limits_variable = 0,
             value_variable = 0;
    Array<std::byte> application_data;  ///< inside brains: see brains.cpp
    mutable SpecText shown_name;

    const AgentSpecView& spec() const { return manifest.spec(); }
};

struct Entries {
    Entry frame, advantages, add_samples, learn, publish, shrink_and_perturb;
    Entry store;  ///< for demonstrations
    Array<hearth_tensor_binding> bound;
};

/// What the application passed for the decision that is wanted or in progress.
struct DecisionOptions {
    bool is_wanted = false;               ///< requested; nothing of it is recorded yet
    Array<hearth_tensor_binding> inputs;  ///< the game's own buffers
    uint32_t input_count = 0;
    hearth_tensor_binding agent_count{};
    bool has_agent_count = false;
    uint32_t frames_left = 1;  ///< remaining, of the latency that the application allows
    float exploration = 1;
    uint64_t count = 0;  ///< of decisions, completely recorded

    bool is_best_effort() const { return frames_left == HEARTH_AGENTS_BEST_EFFORT; }
};

/// The newest frame that was recorded, for the case that it is discarded.
struct LastFrame {
    uint64_t number = 0;
    uint32_t discarded_frames = 0;  ///< of the session, before it
    bool has_decided = false, has_shrunk = false;
    LoadState loaded = LoadState::kNone;
};

/// Requests and modes.
struct Settings {
    Array<float> hyperparameters, recorded;  ///< `recorded`: of the minibatch being recorded
    bool is_frozen = false;
    bool is_closing = false;  ///< frozen; the last outcomes are not stored yet
    bool wants_shrink_and_perturb = false;
    bool wants_publication = false;  ///< due, and not recorded because that failed
    float strength = 0;
};

/// The game's score and its progress, and counts of rewards and ends that are not used.
struct Scores {
    ProgressMonitor progress;
    double sum = 0;
    bool are_reported = false;
    uint64_t rewards_rejected = 0, rewards_after_end = 0, repeated_ends = 0;
};

/// Watches the published weights.
struct Safety {
    /// Steps not taken, in a row, after which the learner rolls back.
    static constexpr uint64_t kMaxSkippedInARow = 32;
    /// Decisions by a brain of the application in which each action must be finite.
    static constexpr uint64_t kProbes = 4;

    uint64_t first_sound_decision = 0;  ///< first one whose status belongs to the current weights
    bool knows_rejections = false;      ///< `rejected` is valid for the current weights
    uint64_t rejected = 0, rollbacks = 0, brains_rejected = 0;
    bool is_of_application = false;  ///< the brain to be loaded, or the last one
    uint64_t last_probe = 0;         ///< number of the last decision that is a probe; 0: none
    uint32_t next_snapshot = 0;      ///< to roll back to: older ones, while none is good
};

}  // namespace hearth::agents

/// HandleTag must be the first base: hearth_agents_* use it to reject pointers that are no handle.
struct hearth_agents : hearth::HandleTag<0x48414754> {
    explicit hearth_agents(hearth::HostAllocator& host_allocator) : allocator(&host_allocator) {}

    hearth::HostAllocator* allocator;
    hearth_context* context = nullptr;
    const hearth_program* program = nullptr;
    hearth_session* session = nullptr;

    hearth::agents::Description description;
    hearth::agents::Entries entries;
    hearth::agents::Roster roster;
    hearth::agents::Rollout rollout;
    hearth::agents::Demonstrations demonstrations;
    hearth::agents::DecisionOptions decision;
    hearth::agents::Updates updates;
    hearth::agents::LearningBudget budget;
    hearth::agents::Snapshots snapshots;
    hearth::agents::SavedGame saved_game;
    hearth::agents::Exchange exchange;
    hearth::agents::Readbacks readbacks;
    hearth::agents::SecondQueue second_queue;
    hearth::agents::Settings settings;
    hearth::agents::Scores scores;
    hearth::agents::CustomMetrics custom_metrics;
    hearth::agents::Curriculum curriculum;
    hearth::agents::FrozenReturns frozen_returns;
    hearth::agents::Safety safety;
    hearth::agents::LastFrame last_frame;
    mutable hearth::agents::SpecText error;
    mutable hearth::agents::CallState call;

    /// The session that learns.
    hearth_session* learner() const {
        return second_queue.learner != nullptr ? second_queue.learner : session;
    }

    // create.cpp
    /// Sets `error` if it fails.
    hearth_result create(hearth_context* context, const hearth_agents_create_info& info);

    // driver.cpp
    hearth_result record(const hearth_agents_record_info& info);
    void poll();

    // brains.cpp
    hearth_result load(std::span<const std::byte> brain);
    hearth_result load_snapshot(const hearth_agents& from, uint32_t index);
    /// A snapshot or, until the first has arrived, the brain that was loaded or the initial weights.
    /// made: the memory of the latter
    hearth_result find_brain(uint32_t index, hearth::Array<std::byte>& made,
                             std::span<const std::byte>& brain) const;
    void reset_brain();

  private:
    // create.cpp
    hearth_result read_manifest(const hearth_agents_create_info& info);
    hearth_result check_schema(const hearth_agents_create_info& info) const;
    hearth_result check_program();
    hearth_result check_initial_values() const;
    hearth_result check_memory(const hearth_agents_create_info& info) const;
    hearth_result allocate(const hearth_agents_create_info& info);
    hearth_result read_curriculum(const hearth_agents_create_info& info);
    hearth_result find_entries();
    hearth_result create_sessions(const hearth_agents_create_info& info);
    hearth_result allocate_snapshots(const hearth_agents_create_info& info);

    // driver.cpp
    hearth_result fail(hearth_result result, const hearth_session* failed) const;
    hearth_result begin_record(const hearth_agents_record_info& info);
    void repeat_discarded(uint64_t frame_number);
    hearth_result run(VkCommandBuffer commands, hearth::agents::Entry& entry, uint64_t rows,
                      hearth::Limits limits = {});
    /// Outcomes are stored.  False for a frozen brain without recurrent state, and while collection
    /// is paused: every decision then looks like an agent's first.
    bool stores() const;
    hearth_result check_inputs(const hearth_agents_record_info& info) const;
    bool is_given(const char* input) const;
    void request_decision(const hearth_agents_record_info& info);
    hearth_result record_decision(VkCommandBuffer commands, bool has_budget);
    void start_decision();
    void finish_decision();
    hearth_result record_demonstrations(VkCommandBuffer commands);
    void read_back(VkCommandBuffer commands);
    void measure();

    // learning.cpp
    double smallest_slice_us() const;
    hearth_result record_learning(VkCommandBuffer commands, bool may_learn);
    hearth_result record_shrink_and_perturb(VkCommandBuffer commands);
    hearth_result begin_update(VkCommandBuffer commands);
    hearth_result record_advantages(VkCommandBuffer commands, bool is_whole);
    hearth_result record_updates(VkCommandBuffer commands);
    hearth_result record_samples(VkCommandBuffer commands, bool& is_recorded);
    hearth_result publish(VkCommandBuffer commands);
    hearth::Limits minibatch_limits(uint32_t minibatch, uint32_t slices_due, bool& is_recorded);

    // brains.cpp
    hearth_result record_load(VkCommandBuffer commands, bool& has_resumed);
    hearth_result record_snapshot(VkCommandBuffer commands);
    hearth_result record_saved_game(VkCommandBuffer commands);
    void poll_snapshot();
    void poll_saved_game();
    hearth_result allocate_saved_game();
    /// Saves or restores the driver's own state.
    void archive(hearth::agents::Archive& archive);
    void watch_weights(uint64_t decision);
    void roll_back();
    void restart(uint32_t collected);

    // second_queue.cpp
    hearth_result record_turn(VkCommandBuffer commands);
    hearth_result transfer(VkCommandBuffer commands, bool to_learning);
    hearth_result hand_over(VkCommandBuffer commands, hearth::agents::Turn to);
    hearth_result hand_samples_over(VkCommandBuffer commands);
    hearth_result copy_learned(VkCommandBuffer commands);
    hearth_result call_learner_back();
    bool has_arrived() const;
};
