// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// What the game says of each agent between two decisions, and the batch that a decision reads.

#pragma once

#include "core/alloc.hpp"
#include "device/agents/roster.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace hearth::agents {

/// Numbers of floats per agent; `observation` includes the frame stack.
struct Sizes {
    uint32_t agents = 0;
    size_t frame = 0, observation = 0, mask = 0, action = 0;
};

/// The decision in progress.
enum class DecisionState : uint8_t {
    kNone,
    kPacked,   ///< its inputs are packed; nothing of it is recorded
    kStarted,  ///< its first part is recorded
};

/// Inputs of a decision, by batch index.  They stay as they are until it is completely recorded.
struct Rows {
    Array<uint32_t> index, id, generation;  ///< index: 0, 1, 2, ...
    Array<float> observation, mask, reward, done_kind, episode_start, final_observation, final_mask;
};

/// Values of one float of the observations that agents decided by.
struct ObservedRange {
    float low = std::numeric_limits<float>::infinity();
    float high = -std::numeric_limits<float>::infinity();
    uint64_t non_finite = 0;  ///< not counted in `low` and `high`
};

/// Observations, rewards and ends of episodes of all agents.
///
///                 pack                start       finish    abandon    restart
///     kNone       kPacked or kNone    -           -         -          kNone
///     kPacked     -                   kStarted    -         kNone      kNone
///     kStarted    -                   -           kNone     -          kNone
class Rollout {
  public:
    static uint64_t bytes_per_agent(const Sizes& sizes);
    /// Memory that all agents share.
    static uint64_t shared_bytes(const Sizes& sizes) {
        return uint64_t{sizes.frame} * sizeof(ObservedRange);
    }
    [[nodiscard]] bool allocate(HostAllocator& allocator, const Sizes& sizes);

    // --- By agent ---
    void join(uint32_t agent);
    /// Ends the episode of an agent whose index another one takes over.
    void replace(uint32_t agent);
    float* observation(uint32_t agent) { return &observations_[agent * sizes_.observation]; }
    /// Null if no action is maskable.
    float* mask(uint32_t agent) {
        return sizes_.mask == 0 ? nullptr : &masks_[agent * sizes_.mask];
    }
    bool has_ended(uint32_t agent) const { return done_kinds_[agent] != 0; }
    /// False if the sum would not be finite.
    bool can_add_reward(uint32_t agent, float amount) const;
    void add_reward(uint32_t agent, float amount) { rewards_[agent] += amount; }
    /// The episode must not have ended.  final_observation, final_mask: null: those of now.
    void end(uint32_t agent, hearth_agents_episode_end kind, const float* final_observation,
             const float* final_mask);
    /// The agent's last action was not executed, because a person acted instead.
    void possess(uint32_t agent) { is_possessed_[agent] = 1; }

    // --- By decision ---
    struct PackOptions {
        bool stores = true;   ///< outcomes are stored
        bool closes = false;  ///< these are the last outcomes to be stored for now
    };
    struct Packed {
        uint32_t rows = 0, transitions = 0;
        double reward = 0;  ///< sum over the transitions
    };
    /// Packs the live agents, and leaving ones whose last outcome is not stored yet; stays kNone if
    /// there are none.
    Packed pack(const Roster& roster, PackOptions options);
    /// The first part is recorded: observations and rewards are consumed, and the next outcome
    /// begins.
    void start();
    /// Nothing was recorded: the next pack() packs the same.
    void abandon();
    void finish();
    /// Without the decision in progress.  Values that no rollout has become sound ones.
    void archive(Archive& archive);
    /// Forgets outcomes and the decision in progress.
    void restart();

    DecisionState state() const { return state_; }
    const Rows& rows() const { return rows_; }
    /// index: below Sizes::frame
    const ObservedRange& range(size_t index) const { return ranges_[index]; }
    const Packed& packed() const { return packed_; }
    /// PackOptions::stores of the decision in progress.
    bool has_outcomes() const { return has_outcomes_; }

  private:
    void repeat_frame(uint32_t agent);
    void observe(uint32_t agent);
    void copy(const Array<float>& from, uint32_t agent, Array<float>& to, uint32_t row,
              size_t floats);

    Sizes sizes_;
    Array<float> observations_, masks_, final_observations_, final_masks_, rewards_, done_kinds_;
    Array<uint8_t> has_final_, is_possessed_;
    Array<ObservedRange> ranges_;
    Rows rows_;
    Packed packed_;
    bool has_outcomes_ = false;
    DecisionState state_ = DecisionState::kNone;
};

}  // namespace hearth::agents
